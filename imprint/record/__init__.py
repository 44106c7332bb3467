"""The record of a trace: what did the user's functions read while they were traced?

- `bytecode`: which instructions is a code object made of?
- `mentions`: which names does a code object read?
- `items`: which dictionaries does it read by constant keys alone?
- `parts`: what does a value hold, and where does an owner have names?
- `noted`: which places were read, and what stood there before?
- `noters`: what has an owner under a name that code mentions?
- `notes`: which owners of places can the trace come to?
- `absence`: which names does nobody have yet?
- `reach`: which functions and classes does a value lead to?
- `writes`: what can the code that ran have written?
- `settle`: what of the places counts when the trace is over?
- `probe`: does a trace read the attribute that made a version stale?
- `covers`: who reads an attribute?
- `entering`: what is noted when a function starts?
- `record`: which functions of a trace are entered, when, and what of it counts?
- `holding`: what do the callbacks of a program hold of what was read?
- `recorder`: what is read while something is traced?
- `heard`: what does one recording note of what it is told?
- `listening`: who is told of each function that starts?
- `monitoring`: how does one listen from 3.12?
- `profiling`: how does one listen on 3.11?
- `hook`: what is told, on 3.11, of functions in one thread?
- `rules`: what do rules read that run when a program is derived from another?
- `draws`: did NumPy draw random numbers meanwhile?
- `beside`: did other threads run beside the trace?
- `library_values`: what have libraries read that a program may have set?
- `elsewhere`: which of those that other threads run are a part of the trace?
"""
