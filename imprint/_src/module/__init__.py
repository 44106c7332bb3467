"""Implementation of `imprint.module`.

- `module`: `Module`, its metaclass, equality and hash
- `fields`: field declarations, and the conversion of a class to a dataclass and a node
- `methods`: bound methods of modules, as nodes
- `callables`: `Partial`, and wrappers that filtered transforms return
- `errors`: the errors of classes and instances of modules
- `filters`: array predicates, `filter`, `partition` and `combine`
- `checks`: `error_if`, an error that depends on values
- `edit`: `tree_at`, `replace` and `apply_updates`
- `compare`: `tree_equal`, and the switch of a model to inference
- `show`: pytrees as text
- `tracing`: `filter_eval_shape`, `filter_make_jaxpr` and `filter_closure_convert`
- `derivatives`: filtered derivatives
- `custom`: filtered custom derivatives and checkpointing
- `batching`: `filter_vmap`
- `callback`: `filter_pure_callback`
- `enumeration`: enums whose items can be traced
- `serialise`: saving and loading the leaves of a tree
- `records`: the file format of saved leaves
- `npy_stream`: that of Equinox
"""
