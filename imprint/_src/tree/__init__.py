"""Implementation of `imprint.tree`.

- `treedef`: the structure of a tree, flatten and unflatten
- `walk`: the leaves of common trees, found faster than by optree
- `match`: straight-line flattening of trees with a known structure
- `functions`: the functions on trees, to which keys are leaves
- `internal`: those for transforms, to which keys are nodes
- `keys`: key paths, the names of leaves
- `prefix`: prefix trees, and the error of a mismatch
- `registry`: registration of classes as nodes
- `fields`: generated code that flattens and rebuilds a node by its attributes
- `statics`: equality of the static data of nodes
"""
