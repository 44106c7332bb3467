"""Explanations: why did a call compile, and what would help?

- `explanation`: what is said of a call that hit or missed?
- `comparison`: which version is nearest to a call, and in what do they differ?
- `fingerprint_diff`: on what do two tokens disagree?
- `arrays`: in what does an array differ from the one that a version takes?
- `containers`: where do the trees of two calls differ?
- `jaxpr_diff`: where does one program part from another?
- `replay`: what does each equation of a call compute, and where does it go wrong?
- `steps`: how is a program run equation by equation?
- `granularity`: what would jitting outside, inside or both cost?
- `unrolled_loops`: which blocks of equations did a Python loop write one after the other?
- `loops`: which loop was that?
"""
