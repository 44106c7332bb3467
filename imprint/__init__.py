"""imprint: a just-in-time compiler for array programs in Python.

The public names, under JAX's names where they mean the same: `jit` and its stages, the
transforms, devices, configuration. `imprint.numpy`, `imprint.lax`, `imprint.random` and
`imprint.tree` are the other public modules.
"""

from imprint import cache as cache
from imprint import debug as debug
from imprint import eager as eager
from imprint import errors as errors
from imprint import numpy as numpy
from imprint import random as random
from imprint import tree as tree
from imprint.config import check_tracer_leaks as check_tracer_leaks
from imprint.config import config as config
from imprint.config import debug_infs as debug_infs
from imprint.config import debug_nans as debug_nans
from imprint.config import default_device as default_device
from imprint.config import default_matmul_precision as default_matmul_precision
from imprint.config import disable_jit as disable_jit
from imprint.config import enable_x64 as enable_x64
from imprint.config import explain_misses as explain_misses
from imprint.config import log_compiles as log_compiles
from imprint.config import numpy_dtype_promotion as numpy_dtype_promotion
from imprint.config import numpy_rank_promotion as numpy_rank_promotion
from imprint.config import threefry_partitionable as threefry_partitionable
from imprint.core.array import Array as Array
from imprint.core.aval import ShapedArray as ShapedArray
from imprint.core.shape_struct import ShapeDtypeStruct as ShapeDtypeStruct
from imprint.jit.dispatch import clear_caches as clear_caches
from imprint.jit.jit import jit as jit
from imprint.jit.make_jaxpr import eval_shape as eval_shape
from imprint.jit.make_jaxpr import make_jaxpr as make_jaxpr
from imprint.jit.make_jaxpr import xla_computation as xla_computation
from imprint.placement import block_until_ready as block_until_ready
from imprint.placement import device_get as device_get
from imprint.placement import device_put as device_put
from imprint.runtime import default_backend as default_backend
from imprint.runtime import device_count as device_count
from imprint.runtime import devices as devices
from imprint.runtime import local_device_count as local_device_count
from imprint.runtime import local_devices as local_devices
from imprint.transforms.derivatives import grad as grad
from imprint.transforms.derivatives import jvp as jvp
from imprint.transforms.derivatives import linearize as linearize
from imprint.transforms.derivatives import value_and_grad as value_and_grad
from imprint.transforms.derivatives import vjp as vjp
from imprint.transforms.vmap import vmap as vmap

__version__ = "0.1.0"
