"""Implementation of `imprint.nn`.

- `activations`: elementwise activation functions
- `functions`: functions along an axis: softmax, log-sum-exp, one-hot
- `attention`: dot-product attention
- `initializers`: initializers of parameters
- `linear`: linear layers
- `convolution`: convolutions of any number of axes
- `convolution_layers`: convolutions of one, two and three axes
- `heads`: multi-head attention and position embeddings
- `wrappers`: layers that hold other layers
- `state`: state of layers, passed from call to call
- `stateful`: layers with state
- `pooling`: pooling layers
- `recurrent`: recurrent cells
- `normalization`: normalization of one example
- `layers`: layers without a matrix: embedding, dropout, identity
"""
