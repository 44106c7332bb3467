"""Implementation of `imprint.lax`.

- `branching`: how is one of several functions chosen?
- `collectives`: what can a function do along the axes that are mapped around it?
- `composed`: which functions of JAX's are made of one or two primitives?
- `elementwise`: which shapes do functions of two operands take?
- `loops`: what do the loops of JAX's become?
- `special`: which functions of several operands do few programs use?
- `indexed`: which functions of JAX's are made of gathers and scatters?
- `solving`: what has the derivative of what it solves?
- `linalg`: which functions of linear algebra are there, and where is each written?
- `carry`: what has a step to give back?
- `associative`: how are all partial results of a function found at once?
- `convolution`: what do the convolutions of JAX's become?
- `spreading`: how are values spread over devices inside a compiled function?
- `layouts`: which axes, shapes and padding do convolutions have?
- `approximate`: which functions may miss some of what they search?
- `polar`: which iterations find the polar factors of a matrix?
- `ragged`: what are products of which parts have factors of their own?
- `monoids`: how is an axis or a window reduced by any function?
"""
