"""imprint: a just-in-time compiler for array programs in Python.

The public names are here, under JAX's names where they mean the same. The submodules:

- `numpy`: functions of arrays and tracers, with NumPy's names
- `lax`: operations without promotion and broadcasting, with JAX's names
- `random`: random numbers drawn from keys
- `custom_derivatives`: functions with user-defined derivatives
- `custom_batching`: functions with a user-defined batching rule
- `ad_checkpoint`: rematerialization, values that a backward pass stores or recomputes
- `sharding`: devices, meshes and the placement of arrays
- `stages`: the traced, lowered and compiled forms of a function
- `tree`: flatten, map and rebuild nested containers
- `tree_util`: the functions on trees with the names of `jax.tree_util`
- `flatten_util`: conversion of a tree of arrays to one vector and back
- `typing`: annotations of arrays and dtypes
- `module`: models as trees of arrays, functions and settings
- `nn`: layers and activations
- `optim`: optimizers, updates of parameters from gradients
- `image`: resizing of images
- `ops`: reductions of segments
- `scipy`: functions of SciPy for arrays and tracers
- `testing`: limits on compiles and checks of derivatives, for tests
- `cache`: the compiled versions of the process: list, bound, drop
- `debug`: printing, checks and breakpoints in programs; counters of compiles
- `profiler`: timelines of running programs, profiles of memory
- `experimental`: names of `jax.experimental`
- `export`: functions as bytes that another process calls
- `distributed`: programs of several processes
- `dtypes`: the dtypes and their promotion
- `core`: the classes of traces and programs
- `dlpack`: arrays of other libraries, without a copy
- `errors`: the exceptions and warnings, and the reaction to each
- `cli`: the command `imprint`
- `as_jax`: `import jax` gives imprint, once this is imported

The implementation is in `_src`, from the ground up.

The names in `_LAZY` load at their first use: importing all of them would double the
import time.
"""

from typing import TYPE_CHECKING, Final

from imprint import errors as errors
from imprint import numpy as numpy
from imprint import sharding as sharding
from imprint import tree as tree
from imprint._src.bootstrap import attribute_errors, lazy_attributes
from imprint._src.bootstrap import lazy_modules as lazy_modules
from imprint._src.config import audit as audit
from imprint._src.config import check_tracer_leaks as check_tracer_leaks
from imprint._src.config import checking_leaks as checking_leaks
from imprint._src.config import config as config
from imprint._src.config import cut_recomputation as cut_recomputation
from imprint._src.config import debug_infs as debug_infs
from imprint._src.config import debug_key_reuse as debug_key_reuse
from imprint._src.config import debug_nans as debug_nans
from imprint._src.config import default_device as default_device
from imprint._src.config import default_matmul_precision as default_matmul_precision
from imprint._src.config import default_prng_impl as default_prng_impl
from imprint._src.config import disable_jit as disable_jit
from imprint._src.config import enable_x64 as enable_x64
from imprint._src.config import explain_misses as explain_misses
from imprint._src.config import generalise as generalise
from imprint._src.config import guards as guards
from imprint._src.config import log_compiles as log_compiles
from imprint._src.config import numpy_dtype_promotion as numpy_dtype_promotion
from imprint._src.config import numpy_rank_promotion as numpy_rank_promotion
from imprint._src.config import roll_loops as roll_loops
from imprint._src.config import threefry_partitionable as threefry_partitionable
from imprint._src.core.array import Array as Array
from imprint._src.core.aval import ShapedArray as ShapedArray
from imprint._src.core.aval import typeof as typeof
from imprint._src.core.control import Inline as Inline
from imprint._src.core.scopes import named_call as named_call
from imprint._src.core.scopes import named_scope as named_scope
from imprint._src.core.shape_struct import ShapeDtypeStruct as ShapeDtypeStruct
from imprint._src.core.trace import ensure_compile_time_eval as ensure_compile_time_eval
from imprint._src.dtypes import float0 as float0
from imprint._src.eager import evaluate as evaluate
from imprint._src.eager.device_put import block_until_ready as block_until_ready
from imprint._src.eager.device_put import copy_to_host_async as copy_to_host_async
from imprint._src.eager.device_put import device_get as device_get
from imprint._src.eager.device_put import device_put as device_put
from imprint._src.eager.device_put import live_arrays as live_arrays
from imprint._src.jit.api import jit as jit
from imprint._src.jit.dispatch import clear_caches as clear_caches
from imprint._src.runtime import Device as Device
from imprint._src.runtime import default_backend as default_backend
from imprint._src.runtime import device_count as device_count
from imprint._src.runtime import devices as devices
from imprint._src.runtime import local_device_count as local_device_count
from imprint._src.runtime import local_devices as local_devices
from imprint._src.runtime import process_count as process_count
from imprint._src.runtime import process_index as process_index
from imprint._src.runtime import process_indices as process_indices
from imprint._src.sharding.context import get_abstract_mesh as get_abstract_mesh
from imprint._src.sharding.context import get_mesh as get_mesh
from imprint._src.sharding.context import set_mesh as set_mesh
from imprint._src.sharding.named import NamedSharding as NamedSharding
from imprint._src.sharding.shard import Shard as Shard
from imprint._src.sharding.spec import P as P

# isort: split

if TYPE_CHECKING:
    from imprint import ad_checkpoint as ad_checkpoint
    from imprint import cache as cache
    from imprint import core as core
    from imprint import custom_batching as custom_batching
    from imprint import custom_derivatives as custom_derivatives
    from imprint import debug as debug
    from imprint import distributed as distributed
    from imprint import dlpack as dlpack
    from imprint import dtypes as dtypes
    from imprint import experimental as experimental
    from imprint import export as export
    from imprint import flatten_util as flatten_util
    from imprint import image as image
    from imprint import lax as lax
    from imprint import module as module
    from imprint import nn as nn
    from imprint import ops as ops
    from imprint import optim as optim
    from imprint import profiler as profiler
    from imprint import random as random
    from imprint import scipy as scipy
    from imprint import stages as stages
    from imprint import testing as testing
    from imprint import tree_util as tree_util
    from imprint import typing as typing
    from imprint._src.ad_checkpoint.checkpoint import checkpoint as checkpoint
    from imprint._src.ad_checkpoint.checkpoint import remat as remat
    from imprint._src.callbacks import effects_barrier as effects_barrier
    from imprint._src.callbacks import pure_callback as pure_callback
    from imprint._src.custom_derivatives.closures import (
        closure_convert as closure_convert,
    )
    from imprint._src.custom_derivatives.closures import (
        custom_gradient as custom_gradient,
    )
    from imprint._src.custom_derivatives.forward import custom_jvp as custom_jvp
    from imprint._src.custom_derivatives.reverse import custom_vjp as custom_vjp
    from imprint._src.dynamic_shapes import SymbolicScope as SymbolicScope
    from imprint._src.dynamic_shapes import symbolic_shape as symbolic_shape
    from imprint._src.eager.make_array import (
        make_array_from_callback as make_array_from_callback,
    )
    from imprint._src.eager.make_array import (
        make_array_from_process_local_data as make_array_from_process_local_data,
    )
    from imprint._src.eager.make_array import (
        make_array_from_single_device_arrays as make_array_from_single_device_arrays,
    )
    from imprint._src.eager.make_mesh import make_mesh as make_mesh
    from imprint._src.interpreters.derivatives import grad as grad
    from imprint._src.interpreters.derivatives import jvp as jvp
    from imprint._src.interpreters.derivatives import linearize as linearize
    from imprint._src.interpreters.derivatives import value_and_grad as value_and_grad
    from imprint._src.interpreters.derivatives import vjp as vjp
    from imprint._src.interpreters.jacobians import hessian as hessian
    from imprint._src.interpreters.jacobians import jacfwd as jacfwd
    from imprint._src.interpreters.jacobians import jacobian as jacobian
    from imprint._src.interpreters.jacobians import jacrev as jacrev
    from imprint._src.interpreters.linear_maps import (
        linear_transpose as linear_transpose,
    )
    from imprint._src.interpreters.vmap import vmap as vmap
    from imprint._src.jit.filter_jit import filter_jit as filter_jit
    from imprint._src.jit.fwd_and_bwd import fwd_and_bwd as fwd_and_bwd
    from imprint._src.jit.make_jaxpr import eval_shape as eval_shape
    from imprint._src.jit.make_jaxpr import make_jaxpr as make_jaxpr
    from imprint._src.jit.make_jaxpr import xla_computation as xla_computation
    from imprint._src.shard_map import shard_map as shard_map
    from imprint.ad_checkpoint import checkpoint_policies as checkpoint_policies
    from imprint.module import AbstractClassVar as AbstractClassVar
    from imprint.module import AbstractVar as AbstractVar
    from imprint.module import BoundMethod as BoundMethod
    from imprint.module import Enumeration as Enumeration
    from imprint.module import Module as Module
    from imprint.module import Partial as Partial
    from imprint.module import apply_updates as apply_updates
    from imprint.module import branched_error_if as branched_error_if
    from imprint.module import combine as combine
    from imprint.module import (
        default_deserialise_filter_spec as default_deserialise_filter_spec,
    )
    from imprint.module import (
        default_serialise_filter_spec as default_serialise_filter_spec,
    )
    from imprint.module import error_if as error_if
    from imprint.module import field as field
    from imprint.module import filter as filter  # noqa: A004 - Equinox's name
    from imprint.module import filter_checkpoint as filter_checkpoint
    from imprint.module import filter_closure_convert as filter_closure_convert
    from imprint.module import filter_custom_jvp as filter_custom_jvp
    from imprint.module import filter_custom_vjp as filter_custom_vjp
    from imprint.module import filter_eval_shape as filter_eval_shape
    from imprint.module import filter_grad as filter_grad
    from imprint.module import filter_hessian as filter_hessian
    from imprint.module import filter_jacfwd as filter_jacfwd
    from imprint.module import filter_jacrev as filter_jacrev
    from imprint.module import filter_jvp as filter_jvp
    from imprint.module import filter_make_jaxpr as filter_make_jaxpr
    from imprint.module import filter_pure_callback as filter_pure_callback
    from imprint.module import filter_value_and_grad as filter_value_and_grad
    from imprint.module import filter_vjp as filter_vjp
    from imprint.module import filter_vmap as filter_vmap
    from imprint.module import if_array as if_array
    from imprint.module import is_array as is_array
    from imprint.module import is_array_like as is_array_like
    from imprint.module import is_inexact_array as is_inexact_array
    from imprint.module import is_inexact_array_like as is_inexact_array_like
    from imprint.module import partition as partition
    from imprint.module import replace as replace
    from imprint.module import tree_at as tree_at
    from imprint.module import tree_check as tree_check
    from imprint.module import tree_deserialise_leaves as tree_deserialise_leaves
    from imprint.module import tree_equal as tree_equal
    from imprint.module import tree_flatten_one_level as tree_flatten_one_level
    from imprint.module import tree_inference as tree_inference
    from imprint.module import tree_pformat as tree_pformat
    from imprint.module import tree_pprint as tree_pprint
    from imprint.module import tree_serialise_leaves as tree_serialise_leaves
    from imprint.testing import check_grads as check_grads
    from imprint.testing import empty_store as empty_store
    from imprint.testing import max_compiles as max_compiles

__version__ = "0.2.0"

_LAZY: Final[dict[str, str]] = {
    "imprint.ad_checkpoint": ". checkpoint_policies",
    "imprint._src.ad_checkpoint.checkpoint": "checkpoint remat",
    "imprint.cache": ".",
    "imprint._src.callbacks": "effects_barrier pure_callback",
    "imprint.core": ".",
    "imprint.custom_batching": ".",
    "imprint.custom_derivatives": ".",
    "imprint._src.custom_derivatives.closures": "closure_convert custom_gradient",
    "imprint._src.custom_derivatives.forward": "custom_jvp",
    "imprint._src.custom_derivatives.reverse": "custom_vjp",
    "imprint.debug": ".",
    "imprint.distributed": ".",
    "imprint.dlpack": ".",
    "imprint.dtypes": ".",
    "imprint.experimental": ".",
    "imprint.export": ".",
    "imprint.flatten_util": ".",
    "imprint.image": ".",
    "imprint._src.jit.filter_jit": "filter_jit",
    "imprint._src.jit.fwd_and_bwd": "fwd_and_bwd",
    "imprint._src.jit.make_jaxpr": "eval_shape make_jaxpr xla_computation",
    "imprint.lax": ".",
    "imprint._src.eager.make_mesh": "make_mesh",
    "imprint.module": (
        ". AbstractClassVar AbstractVar BoundMethod Enumeration Module Partial "
        "apply_updates branched_error_if combine default_deserialise_filter_spec "
        "default_serialise_filter_spec error_if field filter filter_checkpoint "
        "filter_closure_convert filter_custom_jvp filter_custom_vjp "
        "filter_eval_shape filter_grad filter_hessian filter_jacfwd filter_jacrev "
        "filter_jvp filter_make_jaxpr filter_pure_callback filter_value_and_grad "
        "filter_vjp filter_vmap if_array is_array is_array_like is_inexact_array "
        "is_inexact_array_like partition replace tree_at tree_check "
        "tree_deserialise_leaves tree_equal tree_flatten_one_level tree_inference "
        "tree_pformat tree_pprint tree_serialise_leaves"
    ),
    "imprint.nn": ".",
    "imprint.ops": ".",
    "imprint.optim": ".",
    "imprint._src.shard_map": "shard_map",
    "imprint.profiler": ".",
    "imprint.random": ".",
    "imprint.scipy": ".",
    "imprint._src.eager.make_array": (
        "make_array_from_callback make_array_from_process_local_data "
        "make_array_from_single_device_arrays"
    ),
    "imprint.stages": ".",
    "imprint._src.dynamic_shapes": "SymbolicScope symbolic_shape",
    "imprint.testing": ". check_grads empty_store max_compiles",
    "imprint._src.interpreters.derivatives": "grad jvp linearize value_and_grad vjp",
    "imprint._src.interpreters.jacobians": "hessian jacfwd jacobian jacrev",
    "imprint._src.interpreters.linear_maps": "linear_transpose",
    "imprint._src.interpreters.vmap": "vmap",
    "imprint.tree_util": ".",
    "imprint.typing": ".",
}
"""The modules of the names that load at their first use."""

attribute_errors.explain_missing("imprint.sharding")  # which is below `missing`
lazy_attributes.load_lazily(
    __name__,
    _LAZY,
    faces="errors numpy sharding tree",
    but="TYPE_CHECKING Final ad_checkpoint",
)
