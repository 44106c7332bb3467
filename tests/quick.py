"""JAX beside imprint: where its results are only compared, it compiles them quickly.

Half of the time of the tests is XLA compiling what JAX asks for, and each program of JAX's
runs once. In the places that `WHERE` lists it is optimized less: the same program, to the
tolerances of tests/tolerances.py. Elsewhere, as where bits are compared, JAX compiles as it
does for its users. What imprint compiles is not touched.
"""

import sys
from functools import wraps
from pathlib import Path

TESTS = Path(__file__).parent
WHERE = [TESTS / "units" / place for place in ("image", "nn", "ops", "optim")]
OPTIONS = {
    "xla_backend_optimization_level": "0",
    "xla_llvm_disable_expensive_passes": "True",
}

_chosen = {}


def is_quick(path):
    """Tell whether JAX compiles quickly for the tests of a file."""
    return any(path.is_relative_to(place) for place in WHERE)


def set_pace(*, quick):
    """Have JAX, if some test imports it, compile quickly from now on, or as for users."""
    if "jax" not in sys.modules:
        return
    jax, compiler = sys.modules["jax"], sys.modules["jax._src.compiler"]
    if not hasattr(compiler.get_compile_options, "__wrapped__"):
        compiler.get_compile_options = _hastened(compiler.get_compile_options)
    if _chosen and not quick:
        jax.clear_caches()  # it would go on with what was compiled quickly
    _chosen.clear()
    if quick:
        _chosen.update(OPTIONS)
        if jax.__version_info__ < (0, 11):
            # Twice as fast to compile without; later releases have no choice.
            _chosen["xla_cpu_use_fusion_emitters"] = "False"


def _hastened(options_of_users):
    @wraps(options_of_users)
    def get_compile_options(*args, env_options_overrides=None, **kwargs):
        chosen = _chosen | dict(env_options_overrides or {})
        return options_of_users(*args, env_options_overrides=chosen, **kwargs)

    return get_compile_options
