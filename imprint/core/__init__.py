"""The language of the transforms; the interpreters that speak it are in `transforms`.

- `aval`: what does tracing know of an array?
- `dims`: in what arithmetic are shapes computed?
- `array`: what do operators and methods of arrays and tracers mean?
- `primitive`: which rules does an operation have?
- `control`: which rules does an operation have that holds jaxprs?
- `effects`: what does an operation do besides giving results?
- `samples`: on what do tests try a primitive?
- `tangents`: which symbolic values do differentiation rules meet?
- `protocols`: what do Python and NumPy ask of an array?
- `trace`: who gives an operation its meaning at the moment?
- `jaxpr`: how is a program written down?
- `pretty`: how is a jaxpr printed?
- `document`: how is text laid out to a width?
- `check`: does a jaxpr obey its own rules?
- `source`: which line of the user's made an equation, or is at fault?
- `constructs`: what of the user's asked a tracer for its value?
- `folding`: which frames of a traceback does the user see?
- `leaks`: which tracer outlives its trace, and who holds it?
- `missing`: what does an error say of a name that is not there yet?
- `absent`: which names of JAX's are absent, and what serves in their place?
- `libraries`: is code the user's, or an installed library's?
- `identity`: what stands for an object that counts as itself?
- `functions`: what may a transform be given?
- `foreign`: how do values of other libraries become arrays?
- `hosts`: what is the aval of a host value, in nanoseconds?
- `shape_struct`: what stands for an array of which only the shape is known?
- `hooks`: where does this floor reach upward?
"""
