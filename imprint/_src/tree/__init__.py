"""Implementation of `imprint.tree`.

- `treedef`: what is the structure of a tree, and how is it found?
- `walk`: how are the leaves of usual trees found faster than by optree?
- `match`: how is a tree of known structure taken apart in a straight line?
- `functions`: which functions on trees are there?
- `keys`: how is a leaf named?
- `prefix`: when does a tree stand for a larger one, and what if it does not fit?
- `registry`: how does a class become a node?
- `fields`: how is a node taken apart and made past its class's own methods?
- `statics`: when is the static data of two nodes the same?
"""
