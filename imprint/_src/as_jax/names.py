"""The table of JAX's modules: where the names of each are in imprint.

`SOURCES` lists the modules of imprint that a module of JAX takes its names from, in order.
`NAMES` has the names that are elsewhere or spelled in another way; a value is
`module:attribute`, or the module alone.
"""

from typing import Final

VERSION: Final = "0.10.2"
"""The release of JAX whose surface is followed."""

SOURCES: Final[dict[str, str]] = {
    "jax": "imprint",
    "jax.ad_checkpoint": "imprint.ad_checkpoint",
    "jax.api_util": "imprint._src.as_jax.linear_util",
    "jax.core": "imprint.core",
    "jax.custom_batching": "imprint.custom_batching",
    "jax.custom_derivatives": "imprint.custom_derivatives",
    "jax.debug": "imprint.debug",
    "jax.distributed": "imprint.distributed",
    "jax.dlpack": "imprint.dlpack",
    "jax.dtypes": "imprint.dtypes",
    "jax.errors": "imprint.errors",
    "jax.example_libraries": "",
    "jax.example_libraries.optimizers": "imprint._src.as_jax.optimizers",
    "jax.example_libraries.stax": "imprint._src.as_jax.stax",
    "jax.experimental": "imprint.experimental imprint",
    "jax.experimental.checkify": "imprint.experimental.checkify",
    "jax.experimental.custom_partitioning": "",
    "jax.experimental.hijax": "imprint._src.as_jax.hijax",
    "jax.experimental.layout": "imprint.experimental.layout",
    "jax.experimental.mesh_utils": "imprint.experimental.mesh_utils",
    "jax.experimental.multihost_utils": "imprint.experimental.multihost_utils",
    "jax.experimental.pjit": "",
    "jax.experimental.ode": "imprint._src.as_jax.ode",
    "jax.experimental.shard_map": "imprint.experimental.shard_map",
    "jax.experimental.sparse": "",
    "jax.export": "imprint.export",
    "jax.extend": "",
    "jax.extend.backend": "",
    "jax.extend.core": "imprint.core",
    "jax.extend.core.primitives": "imprint.lax",
    "jax.extend.linear_util": "imprint._src.as_jax.linear_util",
    "jax.extend.source_info_util": "",
    "jax.flatten_util": "imprint.flatten_util",
    "jax.image": "imprint.image",
    "jax.interpreters": "",
    "jax.interpreters.ad": "",
    "jax.interpreters.batching": "",
    "jax.interpreters.mlir": "",
    "jax.interpreters.partial_eval": "imprint._src.as_jax.linear_util",
    "jax.interpreters.pxla": "",
    "jax.interpreters.xla": "",
    "jax.lax": "imprint.lax",
    "jax.lax.linalg": "imprint.lax:linalg",
    "jax.monitoring": "",
    "jax.nn": "imprint.nn",
    "jax.nn.initializers": "imprint.nn.initializers",
    "jax.numpy": "imprint.numpy",
    "jax.numpy.fft": "imprint.numpy.fft",
    "jax.numpy.linalg": "imprint.numpy.linalg",
    "jax.ops": "imprint.ops",
    "jax.profiler": "imprint.profiler",
    "jax.random": "imprint.random",
    "jax.scipy": "imprint.scipy",
    "jax.scipy.cluster": "imprint.scipy.cluster",
    "jax.scipy.cluster.vq": "imprint.scipy.cluster.vq",
    "jax.scipy.fft": "imprint.scipy.fft",
    "jax.scipy.integrate": "imprint.scipy.integrate",
    "jax.scipy.interpolate": "imprint.scipy.interpolate",
    "jax.scipy.linalg": "imprint.scipy.linalg",
    "jax.scipy.ndimage": "imprint.scipy.ndimage",
    "jax.scipy.optimize": "imprint.scipy.optimize",
    "jax.scipy.signal": "imprint.scipy.signal",
    "jax.scipy.sparse": "imprint.scipy.sparse",
    "jax.scipy.sparse.linalg": "imprint.scipy.sparse.linalg",
    "jax.scipy.special": "imprint.scipy.special",
    "jax.scipy.stats": "imprint.scipy.stats",
    "jax.sharding": "imprint.sharding",
    "jax.stages": "imprint.stages",
    "jax.test_util": "imprint.testing",
    "jax.tree": "imprint.tree",
    "jax.tree_util": "imprint.tree_util",
    "jax.typing": "imprint.typing",
    "jax.version": "",
}
DISTRIBUTIONS: Final = (
    "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom "
    "gumbel_l gumbel_r laplace logistic multinomial multivariate_normal nbinom norm "
    "pareto poisson t truncnorm uniform vonmises wrapcauchy"
)
# Private modules that libraries import: chex, Equinox, flax, lineax.
SOURCES.update(
    {
        "jax._src": "",
        "jax._src.ad_util": "imprint.lax",
        "jax._src.checkify": "imprint.experimental.checkify",
        "jax._src.compiler": "",
        "jax._src.core": "imprint.core",
        "jax._src.dispatch": "",
        "jax._src.dtypes": "imprint.dtypes",
        "jax._src.flatten_util": "imprint.flatten_util",
        "jax._src.literals": "",
        "jax._src.sharding_impls": "imprint.sharding",
        "jax._src.state.types": "",
        "jax._src.state": "",
        "jax._src.traceback_util": "",
        "jax._src.tree_util": "imprint.tree_util",
        "jax._src.xla_bridge": "",
    }
)
SOURCES.update(
    {f"jax.scipy.stats.{n}": f"imprint.scipy.stats.{n}" for n in DISTRIBUTIONS.split()}
)

_JAXPRS: Final = "imprint._src.as_jax.jaxpr_functions:"
_PROCESS: Final = "imprint._src.as_jax.process:"
_PRIMITIVE: Final = "imprint._src.as_jax.primitive:"
_TANGENTS: Final = "imprint._src.core.tangents:"

NAMES: Final[dict[str, dict[str, str]]] = {
    "jax": {
        "__imprint__": "imprint:__version__",
        "config": _PROCESS + "CONFIG",
        "Ref": "imprint._src.as_jax.refs:Ref",
        "freeze": "imprint._src.as_jax.refs:freeze",
        "new_ref": "imprint._src.as_jax.refs:new_ref",
        "pmap": "imprint._src.as_jax.pmap:pmap",
        "reshard": "imprint:device_put",
    },
    "jax.core": {
        "AbstractValue": "imprint.core:ShapedArray",
        "Primitive": _PRIMITIVE + "LibraryPrimitive",
        "get_opaque_trace_state": _JAXPRS + "get_opaque_trace_state",
        "mapped_aval": _JAXPRS + "mapped_aval",
        "pytype_aval_mappings": _PRIMITIVE + "UNUSED_TABLE",
        "trace_state_clean": _JAXPRS + "trace_state_clean",
        "unmapped_aval": _JAXPRS + "unmapped_aval",
        "valid_jaxtype": _JAXPRS + "valid_jaxtype",
    },
    "jax.custom_derivatives": {
        "custom_jvp_call_p": "imprint._src.control_flow.custom:custom_jvp_call_p",
    },
    "jax.experimental.checkify": {"ErrorCategory": "builtins:object"},
    "jax.experimental.hijax": {
        "Zero": _TANGENTS + "Zero",
        "instantiate_zeros": "imprint._src.primitives.core_ops:instantiate",
        "is_undefined_primal": _PRIMITIVE + "is_undefined_primal",
    },
    "jax.experimental.pjit": {"pjit": "imprint:jit"},
    "jax.experimental.sparse": {"BCOO": "imprint._src.as_jax.sparse:BCOO"},
    "jax.extend.core": {
        "Primitive": _PRIMITIVE + "LibraryPrimitive",
        "Effect": _PRIMITIVE + "LibraryEffect",
        "get_opaque_trace_state": _JAXPRS + "get_opaque_trace_state",
    },
    "jax.extend.core.primitives": {
        "call_p": _PRIMITIVE + "ABSENT",
        "closed_call_p": _PRIMITIVE + "ABSENT",
        "jit_p": "imprint._src.control_flow.call:jit_p",
        "pjit_p": "imprint._src.control_flow.call:jit_p",
    },
    "jax.extend.source_info_util": {
        "register_exclusion": _PRIMITIVE + "register_exclusion",
    },
    "jax.interpreters.ad": {
        "UndefinedPrimal": _TANGENTS + "UndefinedPrimal",
        "Zero": _TANGENTS + "Zero",
        "instantiate_zeros": "imprint._src.primitives.core_ops:instantiate",
        "is_undefined_primal": _PRIMITIVE + "is_undefined_primal",
        "primitive_jvps": _PRIMITIVE + "PRIMITIVE_JVPS",
        "primitive_transposes": _PRIMITIVE + "PRIMITIVE_TRANSPOSES",
    },
    "jax.interpreters.batching": {
        "axis_primitive_batchers": _PRIMITIVE + "AXIS_PRIMITIVE_BATCHERS",
        "not_mapped": _PRIMITIVE + "NOT_MAPPED",
        "primitive_batchers": _PRIMITIVE + "PRIMITIVE_BATCHERS",
    },
    "jax.interpreters.mlir": {
        "lower_fun": _PRIMITIVE + "lower_fun",
        "register_lowering": _PRIMITIVE + "register_lowering",
    },
    "jax.interpreters.partial_eval": {"dce_jaxpr": _JAXPRS + "dce_jaxpr"},
    "jax.interpreters.xla": {
        "canonicalize_dtype_handlers": _PRIMITIVE + "UNUSED_TABLE",
        "pytype_aval_mappings": _PRIMITIVE + "UNUSED_TABLE",
    },
    "jax.numpy": {"ndarray": "imprint:Array"},
    "jax.sharding": {"reshard": "imprint:device_put"},
    "jax._src.core": {"trace_state_clean": _JAXPRS + "trace_state_clean"},
    "jax._src.dispatch": {"wait_for_tokens": "imprint:effects_barrier"},
    "jax._src.dtypes": {
        "ExtendedDType": _PRIMITIVE + "Never",
        "TypePromotionError": "imprint.errors:DTypeError",
    },
    "jax._src.literals": {"TypedNdArray": _PRIMITIVE + "Never"},
    "jax._src.state.types": {"AbstractRef": _PRIMITIVE + "Never"},
    "jax._src.tree_util": {"_registry": _JAXPRS + "NODE_TYPES"},
    "jax._src.xla_bridge": {"_backends": _PROCESS + "BACKENDS"},
    "jax._src.traceback_util": {
        "api_boundary": _PRIMITIVE + "api_boundary",
        "include_frame": _PRIMITIVE + "include_frame",
        "register_exclusion": _PRIMITIVE + "register_exclusion",
    },
}
