"""Order in `imprint.numpy`: sort, search, unique elements and sets.

- `searching`: where are the extremes?
- `sorting`: how do elements come in order?
- `partition`: what is in order by several keys, or in part?
- `searchsorted`: where do elements belong in what is in order?
- `unique`: which elements are there?
- `membership`: which elements are among others?
- `sets`: what have two arrays in common?
"""
