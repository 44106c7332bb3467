"""Implementation of `imprint.nn`.

- `activations`: which functions work element by element?
- `functions`: which functions work along an axis?
- `attention`: how does each position take part of the others?
- `initializers`: what are the first values of parameters?
- `linear`: which layers multiply by a matrix?
- `convolution`: which layers slide a kernel?
- `convolution_layers`: what are they called by their number of axes?
- `heads`: which layers attend, and know of positions?
- `wrappers`: which layers hold others?
- `state`: what do layers keep from call to call, and who has it?
- `stateful`: which layers have a state?
- `pooling`: which layers make one number of a window?
- `recurrent`: which cells carry a state from step to step?
- `normalization`: which layers bring one example to mean and scale?
- `layers`: which layers multiply by no matrix?
"""
