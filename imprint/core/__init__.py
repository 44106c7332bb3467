"""Avals, primitives, traces, tracers and jaxprs: the language of the transforms."""
