"""The language of the transforms: avals, primitives, traces, tracers, jaxprs.

`primitive` says what an operation is, `trace` who gives it its meaning at the moment,
`jaxpr` how a program is written down. The interpreters are in `transforms`.
"""
