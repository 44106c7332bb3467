"""The interpreters of programs, one per file: staging, jvp, linearize, transpose,
batch, dead code elimination, lowering.
"""
