"""Neural networks: the functions of `jax.nn` and the layers of Equinox.

Layers are modules that take one example; `imprint.vmap` gives them a batch. They load when
they are first asked for, the functions with the package.

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

import typing

from imprint._src.bootstrap import lazy_attributes
from imprint.nn.activations import celu as celu
from imprint.nn.activations import elu as elu
from imprint.nn.activations import gelu as gelu
from imprint.nn.activations import hard_sigmoid as hard_sigmoid
from imprint.nn.activations import hard_silu as hard_silu
from imprint.nn.activations import hard_swish as hard_swish
from imprint.nn.activations import hard_tanh as hard_tanh
from imprint.nn.activations import identity as identity
from imprint.nn.activations import leaky_relu as leaky_relu
from imprint.nn.activations import log1mexp as log1mexp
from imprint.nn.activations import log_sigmoid as log_sigmoid
from imprint.nn.activations import mish as mish
from imprint.nn.activations import relu as relu
from imprint.nn.activations import relu6 as relu6
from imprint.nn.activations import selu as selu
from imprint.nn.activations import sigmoid as sigmoid
from imprint.nn.activations import silu as silu
from imprint.nn.activations import soft_sign as soft_sign
from imprint.nn.activations import softplus as softplus
from imprint.nn.activations import sparse_plus as sparse_plus
from imprint.nn.activations import sparse_sigmoid as sparse_sigmoid
from imprint.nn.activations import squareplus as squareplus
from imprint.nn.activations import swish as swish
from imprint.nn.activations import tanh as tanh
from imprint.nn.functions import glu as glu
from imprint.nn.functions import log_softmax as log_softmax
from imprint.nn.functions import logmeanexp as logmeanexp
from imprint.nn.functions import logsumexp as logsumexp
from imprint.nn.functions import one_hot as one_hot
from imprint.nn.functions import softmax as softmax
from imprint.nn.functions import standardize as standardize

if typing.TYPE_CHECKING:
    from imprint.nn import initializers as initializers
    from imprint.nn.attention import dot_product_attention as dot_product_attention
    from imprint.nn.convolution import Conv as Conv
    from imprint.nn.convolution import ConvTranspose as ConvTranspose
    from imprint.nn.convolution_layers import Conv1d as Conv1d
    from imprint.nn.convolution_layers import Conv2d as Conv2d
    from imprint.nn.convolution_layers import Conv3d as Conv3d
    from imprint.nn.convolution_layers import ConvTranspose1d as ConvTranspose1d
    from imprint.nn.convolution_layers import ConvTranspose2d as ConvTranspose2d
    from imprint.nn.convolution_layers import ConvTranspose3d as ConvTranspose3d
    from imprint.nn.heads import MultiheadAttention as MultiheadAttention
    from imprint.nn.heads import RotaryPositionalEmbedding as RotaryPositionalEmbedding
    from imprint.nn.layers import Dropout as Dropout
    from imprint.nn.layers import Embedding as Embedding
    from imprint.nn.layers import Identity as Identity
    from imprint.nn.layers import Lambda as Lambda
    from imprint.nn.layers import PReLU as PReLU
    from imprint.nn.layers import Sequential as Sequential
    from imprint.nn.layers import inference_mode as inference_mode
    from imprint.nn.linear import MLP as MLP
    from imprint.nn.linear import Linear as Linear
    from imprint.nn.normalization import GroupNorm as GroupNorm
    from imprint.nn.normalization import LayerNorm as LayerNorm
    from imprint.nn.normalization import RMSNorm as RMSNorm
    from imprint.nn.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
    from imprint.nn.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
    from imprint.nn.pooling import AdaptiveAvgPool3d as AdaptiveAvgPool3d
    from imprint.nn.pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
    from imprint.nn.pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
    from imprint.nn.pooling import AdaptiveMaxPool3d as AdaptiveMaxPool3d
    from imprint.nn.pooling import AdaptivePool as AdaptivePool
    from imprint.nn.pooling import AvgPool1d as AvgPool1d
    from imprint.nn.pooling import AvgPool2d as AvgPool2d
    from imprint.nn.pooling import AvgPool3d as AvgPool3d
    from imprint.nn.pooling import MaxPool1d as MaxPool1d
    from imprint.nn.pooling import MaxPool2d as MaxPool2d
    from imprint.nn.pooling import MaxPool3d as MaxPool3d
    from imprint.nn.pooling import Pool as Pool
    from imprint.nn.recurrent import GRUCell as GRUCell
    from imprint.nn.recurrent import LSTMCell as LSTMCell
    from imprint.nn.state import State as State
    from imprint.nn.state import StatefulLayer as StatefulLayer
    from imprint.nn.state import StateIndex as StateIndex
    from imprint.nn.state import delete_init_state as delete_init_state
    from imprint.nn.state import make_with_state as make_with_state
    from imprint.nn.stateful import BatchNorm as BatchNorm
    from imprint.nn.stateful import SpectralNorm as SpectralNorm
    from imprint.nn.wrappers import Shared as Shared
    from imprint.nn.wrappers import WeightNorm as WeightNorm

_LATER: typing.Final[dict[str, str]] = {
    "imprint.nn.attention": "dot_product_attention",
    "imprint.nn.convolution": "Conv ConvTranspose",
    "imprint.nn.convolution_layers": (
        "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d"
    ),
    "imprint.nn.heads": "MultiheadAttention RotaryPositionalEmbedding",
    "imprint.nn.initializers": "",
    "imprint.nn.layers": (
        "Dropout Embedding Identity Lambda PReLU Sequential inference_mode"
    ),
    "imprint.nn.linear": "Linear MLP",
    "imprint.nn.normalization": "GroupNorm LayerNorm RMSNorm",
    "imprint.nn.pooling": (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d "
        "AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AdaptivePool "
        "AvgPool1d AvgPool2d AvgPool3d MaxPool1d MaxPool2d MaxPool3d Pool"
    ),
    "imprint.nn.recurrent": "GRUCell LSTMCell",
    "imprint.nn.state": (
        "State StateIndex StatefulLayer delete_init_state make_with_state"
    ),
    "imprint.nn.stateful": "BatchNorm SpectralNorm",
    "imprint.nn.wrappers": "Shared WeightNorm",
}
"""Which module holds the names that load when they are first asked for."""

lazy_attributes.load_later(__name__, _LATER)
