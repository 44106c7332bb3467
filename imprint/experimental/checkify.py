"""`checkify`: functions that return their errors as values, as in JAX."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.experimental.checkify.checkify import Error as Error
from imprint._src.experimental.checkify.checkify import (
    JaxRuntimeError as JaxRuntimeError,
)
from imprint._src.experimental.checkify.checkify import all_checks as all_checks
from imprint._src.experimental.checkify.checkify import (
    automatic_checks as automatic_checks,
)
from imprint._src.experimental.checkify.checkify import check as check
from imprint._src.experimental.checkify.checkify import check_error as check_error
from imprint._src.experimental.checkify.checkify import checkify as checkify
from imprint._src.experimental.checkify.checkify import debug_check as debug_check
from imprint._src.experimental.checkify.checkify import div_checks as div_checks
from imprint._src.experimental.checkify.checkify import float_checks as float_checks
from imprint._src.experimental.checkify.checkify import index_checks as index_checks
from imprint._src.experimental.checkify.checkify import init_error as init_error
from imprint._src.experimental.checkify.checkify import nan_checks as nan_checks
from imprint._src.experimental.checkify.checkify import user_checks as user_checks

__all__ = [
    "Error",
    "JaxRuntimeError",
    "all_checks",
    "automatic_checks",
    "check",
    "check_error",
    "checkify",
    "debug_check",
    "div_checks",
    "float_checks",
    "index_checks",
    "init_error",
    "nan_checks",
    "user_checks",
]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
