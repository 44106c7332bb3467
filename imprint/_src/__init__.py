"""The implementation, from the ground up; nothing here is public.

The ground:


Programs, and how they become executables:


Arrays and compiled functions:


The library:


Tools:

- `numpy`: which functions take arrays and tracers, under NumPy's names?
- `lax`: which operations neither promote nor broadcast, under JAX's names?
- `random`: how are random numbers drawn from keys?
- `custom_derivatives`: how does a function get a derivative that the user defines?
- `custom_batching`: how does a function say itself what `vmap` makes of it?
- `ad_checkpoint`: what does a backward pass remember, and what is computed again?
- `sharding`: on which device is an array, and must it stay there?
- `tree`: how are nested containers taken apart, mapped and put together?
- `flatten_util`: how does a tree of arrays become one vector, and come back?
- `module`: how is a model a tree of arrays, functions and settings?
- `nn`: which layers and activations are there?
- `optim`: how do gradients become updates of parameters?
- `image`: how does an image get another size?
- `ops`: what are the results of segments?
- `scipy`: which functions of SciPy's do arrays and tracers have?
- `testing`: how do tests limit compiles and check derivatives?
- `cache`: how are all versions of the process looked at, bounded and dropped?
- `debug`: what is seen of programs that run, and of what the process has compiled?
- `experimental`: which names of `jax.experimental` are there?
- `export`: how does a function become bytes, and is called in another process?
- `distributed`: how do several processes join, and what do they tell each other?
- `config`: which flags are there, and who set them?
- `errors`: what can go wrong, and what is to be done about it?
- `cli`: what does the command `imprint` do?
- `jit`: what is a compiled function made of?
- `callbacks`: how does a compiled program call a function of Python's?
- `shard_map`: how does a function run on every device of a mesh?
- `passes`: what is done to a jaxpr before it is lowered?
- `control_flow`: which primitives hold a jaxpr?
- `interpreters`: how is a program traced, derived from another, and lowered?
- `dynamic_shapes`: what is a size that has a name?
- `primitives`: which operations are there, and what are the rules of each?
- `core`: what are avals, primitives, traces and jaxprs?
- `stablehlo`: how is the text written that the engine compiles?
- `runtime`: how are devices, buffers and executables had from jaxlib?
- `dtypes`: which dtypes exist, and to what do two of them promote?
- `array`: TODO
- `bootstrap`: TODO
- `diagnostics`: TODO
- `eager`: TODO
"""
