"""Programs, scripts and networks that imprint runs; `make demo` shows and checks them.

They use public names only, and are user code like any program outside of the package.

- `__main__`: the command `python -m examples`
- `demo`: the parts of the demo and their checks
- `example`: a program with the output that it must print
- `programs`: versions, static arguments, retracing, models, derivatives
- `performance`: programs that Python unrolls, and the time that they take
- `numpy_scripts`: four scripts of plain NumPy
- `jit_scripts`: these scripts under `jit`, compared and timed
- `warm_start`: a program that starts twice with one persistent cache
- `data`: handwritten digits, in batches
- `digits`: a multilayer perceptron that learns digits
- `images`: a convolutional network that learns digits
- `devices`: training on several devices and in several processes
- `transformer`: a transformer that continues text
- `letters`: the training of the transformer on the Zen of Python
- `drawings`: labelled digits, losses, costs and devices
- `processes`: the environment of processes that import the examples
- `train_with_jax`: a training script of JAX, optax and Equinox
- `gallery`: short scientific programs
"""
