"""Implementation of `imprint.module`.

- `module`: what is a `Module`, and when is an instance finished?
- `declare`: how does a class become a dataclass and a node of pytrees?
- `fields`: with which words does a class declare its fields?
- `methods`: what is a bound method of a module?
- `partial`: how are arguments fixed without losing what they hold?
- `wrapper`: what is a function that a filtered transform wrapped?
- `value`: when are two modules equal, and what is their hash?
- `refusals`: what can a module not be, and what is written instead?
- `filters`: which leaves of a tree are arrays, and how is a tree parted?
- `checks`: which values end a program with an error?
- `edit`: how is a changed copy of a tree made?
- `compare`: are two trees equal, and how does a model switch to inference?
- `show`: how does a tree print?
- `tracing`: how is a function of models traced without running it?
- `derivatives`: with respect to what is a function of models differentiated?
- `custom`: how does a function of models get a derivative of its own, or remember little?
- `batching`: over what is a function of models mapped?
- `callback`: how does a program call a function of anything?
- `enumeration`: what is an enum whose items can be traced?
- `serialise`: how are the leaves of a tree saved, and loaded into one like it?
- `records`: what does the file of saved leaves look like?
"""
