"""Sorting, searching and sets in `imprint.numpy`.

- `searching`: indices of extremes
- `sorting`: full, partial and lexicographic sorting
- `searchsorted`: insertion points and bins
- `unique`: distinct elements
- `sets`: membership, unions, intersections and differences
"""
