"""Explanations: why did a call compile, and what would help?

- `explanation`: what is said of a call that hit or missed?
- `comparison`: which version is nearest to a call, and in what do they differ?
- `tokens`: on what do two tokens disagree?
- `containers`: where do two trees hold containers of different kinds?
- `granularity`: what would jitting outside, inside or both cost?
"""
