"""The flags: what they take, who set them, and the key that stands for their values."""

from imprint._src.config import Config as Config
from imprint._src.config import Flag as Flag
from imprint._src.config import Settings as Settings
from imprint._src.config import audit as audit
from imprint._src.config import check_tracer_leaks as check_tracer_leaks
from imprint._src.config import checking_leaks as checking_leaks
from imprint._src.config import config as config
from imprint._src.config import cut_recomputation as cut_recomputation
from imprint._src.config import debug_infs as debug_infs
from imprint._src.config import debug_nans as debug_nans
from imprint._src.config import default_device as default_device
from imprint._src.config import default_matmul_precision as default_matmul_precision
from imprint._src.config import default_prng_impl as default_prng_impl
from imprint._src.config import disable_jit as disable_jit
from imprint._src.config import enable_checks as enable_checks
from imprint._src.config import enable_x64 as enable_x64
from imprint._src.config import entered_mesh as entered_mesh
from imprint._src.config import explain_misses as explain_misses
from imprint._src.config import flag_setters as flag_setters
from imprint._src.config import generalise as generalise
from imprint._src.config import guards as guards
from imprint._src.config import key_settings as key_settings
from imprint._src.config import left_mesh as left_mesh
from imprint._src.config import log_compiles as log_compiles
from imprint._src.config import mesh as mesh
from imprint._src.config import num_cpu_devices as num_cpu_devices
from imprint._src.config import numpy_dtype_promotion as numpy_dtype_promotion
from imprint._src.config import numpy_rank_promotion as numpy_rank_promotion
from imprint._src.config import roll_loops as roll_loops
from imprint._src.config import settings as settings
from imprint._src.config import strict as strict
from imprint._src.config import threefry_partitionable as threefry_partitionable
from imprint._src.config import traceback_filtering as traceback_filtering

__all__ = [
    "Config",
    "Flag",
    "Settings",
    "audit",
    "check_tracer_leaks",
    "checking_leaks",
    "config",
    "cut_recomputation",
    "debug_infs",
    "debug_nans",
    "default_device",
    "default_matmul_precision",
    "default_prng_impl",
    "disable_jit",
    "enable_checks",
    "enable_x64",
    "entered_mesh",
    "explain_misses",
    "flag_setters",
    "generalise",
    "guards",
    "key_settings",
    "left_mesh",
    "log_compiles",
    "mesh",
    "num_cpu_devices",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "roll_loops",
    "settings",
    "strict",
    "threefry_partitionable",
    "traceback_filtering",
]
