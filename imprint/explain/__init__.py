"""Explanations: why did a call compile, and what would help?

- `explanation`: in what does a call differ from the nearest version?
- `tokens`: on what do two tokens disagree?
- `containers`: where do two trees hold containers of different kinds?
- `granularity`: what would jitting outside, inside or both cost?
"""
