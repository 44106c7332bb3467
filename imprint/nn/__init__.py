"""Neural networks: the functions of `jax.nn` and the layers of Equinox.

Layers are modules that take one example; `imprint.vmap` gives them a batch.

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

from imprint.core import missing, public
from imprint.module import tree_inference as inference_mode
from imprint.nn import initializers
from imprint.nn.activations import (
    celu,
    elu,
    gelu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    identity,
    leaky_relu,
    log1mexp,
    log_sigmoid,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softplus,
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    swish,
    tanh,
)
from imprint.nn.attention import dot_product_attention
from imprint.nn.convolution import Conv, ConvTranspose
from imprint.nn.convolution_layers import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from imprint.nn.functions import (
    glu,
    log_softmax,
    logmeanexp,
    logsumexp,
    one_hot,
    softmax,
    standardize,
)
from imprint.nn.heads import MultiheadAttention, RotaryPositionalEmbedding
from imprint.nn.layers import (
    Dropout,
    Embedding,
    Identity,
    Lambda,
    PReLU,
    Sequential,
)
from imprint.nn.linear import MLP, Linear
from imprint.nn.normalization import GroupNorm, LayerNorm, RMSNorm
from imprint.nn.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AdaptivePool,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    Pool,
)
from imprint.nn.recurrent import GRUCell, LSTMCell
from imprint.nn.state import (
    State,
    StatefulLayer,
    StateIndex,
    delete_init_state,
    make_with_state,
)
from imprint.nn.stateful import BatchNorm, SpectralNorm
from imprint.nn.wrappers import Shared, WeightNorm

__all__ = [
    "MLP",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AdaptivePool",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BatchNorm",
    "Conv",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Dropout",
    "Embedding",
    "GRUCell",
    "GroupNorm",
    "Identity",
    "LSTMCell",
    "Lambda",
    "LayerNorm",
    "Linear",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MultiheadAttention",
    "PReLU",
    "Pool",
    "RMSNorm",
    "RotaryPositionalEmbedding",
    "Sequential",
    "Shared",
    "SpectralNorm",
    "State",
    "StateIndex",
    "StatefulLayer",
    "WeightNorm",
    "celu",
    "delete_init_state",
    "dot_product_attention",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "inference_mode",
    "initializers",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "make_with_state",
    "mish",
    "one_hot",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
]

missing.explain_missing(__name__)
public.offer_public(__name__)
