"""Implementation of `imprint.distributed`.

- `joining`: how does this process join the others, and leave them?
- `environments`: who started this process, and where are the others?
- `store`: which values have the processes in common?
"""
