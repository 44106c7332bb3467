"""Change detection: a version is used again only if everything it read by name is unchanged.

An input of a trace is a global, a builtin, a closure variable, a default, an attribute, an
item under a constant key or the contents of a container of up to 256 items, read by user
code that ran in the trace. A place that the trace itself changed is an effect, not an
input. While a trace runs, user code is observed instruction by instruction, and the names
that it reads are followed to values; after the trace the inputs become one guard.
Nothing here runs user code. The files, in reading order:

- `code_names`: the names that a code object reads, by instruction
- `executed`: the instructions that ran
- `locations`: places where a value is bound, how they are read and named
- `values`: recorded values, and when a later value equals one
- `library_objects`: objects of libraries, and which of them a trace left unwritten
- `reachable`: functions, classes and objects that a trace reaches; names × owners
- `chains`: chains of instructions followed from globals and closure variables
- `absences`: names that code looked for and did not find
- `dependencies`: the inputs of a trace, found again for a re-created function
- `recording`: a trace recorded, from its start to its dependencies
- `guard_steps`: a guard as a list of steps, which the native core runs in C
- `python_guard`: the same steps run in Python, where the native core is missing
- `guard`: values compared first, the steps later; the changes that were found
"""
