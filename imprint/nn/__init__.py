"""Neural networks: the functions of `jax.nn` and the layers of Equinox.

Layers are modules that take one example; `imprint.vmap` gives them a batch.

- `activations`: which functions work element by element?
- `functions`: which functions work along an axis?
- `attention`: how does each position take part of the others?
- `initializers`: what are the first values of parameters?
- `linear`: which layers multiply by a matrix?
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
from imprint.nn.functions import (
    glu,
    log_softmax,
    logmeanexp,
    logsumexp,
    one_hot,
    softmax,
    standardize,
)
from imprint.nn.layers import (
    Dropout,
    Embedding,
    Identity,
    Lambda,
    PReLU,
    Sequential,
)
from imprint.nn.linear import MLP, Linear
from imprint.nn.normalization import LayerNorm, RMSNorm
from imprint.nn.recurrent import GRUCell, LSTMCell

__all__ = [
    "MLP",
    "Dropout",
    "Embedding",
    "GRUCell",
    "Identity",
    "LSTMCell",
    "Lambda",
    "LayerNorm",
    "Linear",
    "PReLU",
    "RMSNorm",
    "Sequential",
    "celu",
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
