"""Neural networks: the functions of `jax.nn` and the layers of Equinox.

Layers are modules that take one example; `imprint.vmap` adds a batch. Functions load with
the package, layers lazily.
"""

import typing

from imprint._src.bootstrap import lazy_attributes
from imprint._src.nn.activations import celu as celu
from imprint._src.nn.activations import elu as elu
from imprint._src.nn.activations import gelu as gelu
from imprint._src.nn.activations import hard_sigmoid as hard_sigmoid
from imprint._src.nn.activations import hard_silu as hard_silu
from imprint._src.nn.activations import hard_swish as hard_swish
from imprint._src.nn.activations import hard_tanh as hard_tanh
from imprint._src.nn.activations import identity as identity
from imprint._src.nn.activations import leaky_relu as leaky_relu
from imprint._src.nn.activations import log1mexp as log1mexp
from imprint._src.nn.activations import log_sigmoid as log_sigmoid
from imprint._src.nn.activations import mish as mish
from imprint._src.nn.activations import relu as relu
from imprint._src.nn.activations import relu6 as relu6
from imprint._src.nn.activations import selu as selu
from imprint._src.nn.activations import sigmoid as sigmoid
from imprint._src.nn.activations import silu as silu
from imprint._src.nn.activations import soft_sign as soft_sign
from imprint._src.nn.activations import softplus as softplus
from imprint._src.nn.activations import sparse_plus as sparse_plus
from imprint._src.nn.activations import sparse_sigmoid as sparse_sigmoid
from imprint._src.nn.activations import squareplus as squareplus
from imprint._src.nn.activations import swish as swish
from imprint._src.nn.activations import tanh as tanh
from imprint._src.nn.functions import glu as glu
from imprint._src.nn.functions import log_softmax as log_softmax
from imprint._src.nn.functions import logmeanexp as logmeanexp
from imprint._src.nn.functions import logsumexp as logsumexp
from imprint._src.nn.functions import one_hot as one_hot
from imprint._src.nn.functions import softmax as softmax
from imprint._src.nn.functions import standardize as standardize

if typing.TYPE_CHECKING:
    from imprint._src.nn.attention import dot_product_attention as dot_product_attention
    from imprint._src.nn.convolution import Conv as Conv
    from imprint._src.nn.convolution import ConvTranspose as ConvTranspose
    from imprint._src.nn.convolution_layers import Conv1d as Conv1d
    from imprint._src.nn.convolution_layers import Conv2d as Conv2d
    from imprint._src.nn.convolution_layers import Conv3d as Conv3d
    from imprint._src.nn.convolution_layers import ConvTranspose1d as ConvTranspose1d
    from imprint._src.nn.convolution_layers import ConvTranspose2d as ConvTranspose2d
    from imprint._src.nn.convolution_layers import ConvTranspose3d as ConvTranspose3d
    from imprint._src.nn.heads import MultiheadAttention as MultiheadAttention
    from imprint._src.nn.heads import (
        RotaryPositionalEmbedding as RotaryPositionalEmbedding,
    )
    from imprint._src.nn.layers import Dropout as Dropout
    from imprint._src.nn.layers import Embedding as Embedding
    from imprint._src.nn.layers import Identity as Identity
    from imprint._src.nn.layers import Lambda as Lambda
    from imprint._src.nn.layers import PReLU as PReLU
    from imprint._src.nn.layers import Sequential as Sequential
    from imprint._src.nn.layers import inference_mode as inference_mode
    from imprint._src.nn.linear import MLP as MLP
    from imprint._src.nn.linear import Linear as Linear
    from imprint._src.nn.normalization import GroupNorm as GroupNorm
    from imprint._src.nn.normalization import LayerNorm as LayerNorm
    from imprint._src.nn.normalization import RMSNorm as RMSNorm
    from imprint._src.nn.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
    from imprint._src.nn.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
    from imprint._src.nn.pooling import AdaptiveAvgPool3d as AdaptiveAvgPool3d
    from imprint._src.nn.pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
    from imprint._src.nn.pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
    from imprint._src.nn.pooling import AdaptiveMaxPool3d as AdaptiveMaxPool3d
    from imprint._src.nn.pooling import AdaptivePool as AdaptivePool
    from imprint._src.nn.pooling import AvgPool1d as AvgPool1d
    from imprint._src.nn.pooling import AvgPool2d as AvgPool2d
    from imprint._src.nn.pooling import AvgPool3d as AvgPool3d
    from imprint._src.nn.pooling import MaxPool1d as MaxPool1d
    from imprint._src.nn.pooling import MaxPool2d as MaxPool2d
    from imprint._src.nn.pooling import MaxPool3d as MaxPool3d
    from imprint._src.nn.pooling import Pool as Pool
    from imprint._src.nn.recurrent import GRUCell as GRUCell
    from imprint._src.nn.recurrent import LSTMCell as LSTMCell
    from imprint._src.nn.state import State as State
    from imprint._src.nn.state import StatefulLayer as StatefulLayer
    from imprint._src.nn.state import StateIndex as StateIndex
    from imprint._src.nn.state import delete_init_state as delete_init_state
    from imprint._src.nn.state import make_with_state as make_with_state
    from imprint._src.nn.stateful import BatchNorm as BatchNorm
    from imprint._src.nn.stateful import SpectralNorm as SpectralNorm
    from imprint._src.nn.wrappers import Shared as Shared
    from imprint._src.nn.wrappers import WeightNorm as WeightNorm
    from imprint.nn import initializers as initializers

_LAZY: typing.Final[dict[str, str]] = {
    "imprint._src.nn.attention": "dot_product_attention",
    "imprint._src.nn.convolution": "Conv ConvTranspose",
    "imprint._src.nn.convolution_layers": (
        "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d"
    ),
    "imprint._src.nn.heads": "MultiheadAttention RotaryPositionalEmbedding",
    "imprint.nn.initializers": "",
    "imprint._src.nn.layers": (
        "Dropout Embedding Identity Lambda PReLU Sequential inference_mode"
    ),
    "imprint._src.nn.linear": "Linear MLP",
    "imprint._src.nn.normalization": "GroupNorm LayerNorm RMSNorm",
    "imprint._src.nn.pooling": (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d "
        "AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AdaptivePool "
        "AvgPool1d AvgPool2d AvgPool3d MaxPool1d MaxPool2d MaxPool3d Pool"
    ),
    "imprint._src.nn.recurrent": "GRUCell LSTMCell",
    "imprint._src.nn.state": (
        "State StateIndex StatefulLayer delete_init_state make_with_state"
    ),
    "imprint._src.nn.stateful": "BatchNorm SpectralNorm",
    "imprint._src.nn.wrappers": "Shared WeightNorm",
}
"""The names that load lazily, by module."""

lazy_attributes.load_lazily(__name__, _LAZY)
