"""The libraries of the lane, and which files of their suites it runs."""

from typing import Final, NamedTuple


class Suite(NamedTuple):
    """The suite of a library.

    Args:
        name: the library.
        files: patterns of files in its source distribution, or here if `programs`.
        left_out: parts of paths that are not run, and why.
        deselected: tests that are not run, and why.
        programs: whether the distribution has no tests, and programs of this folder,
            written from the documentation, stand for them.
    """

    name: str
    files: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    deselected: tuple[str, ...] = ()
    programs: bool = False


SUITES: Final = (
    Suite("optax", ("optax/**/*_test.py",)),
    Suite(
        "chex",
        ("chex/**/*_test.py",),
        # It runs the exit functions of the process: optree forgets lists then.
        deselected=("test_uninspected_checks",),
    ),
    Suite("distrax", ("distrax/_src/**/*_test.py",)),
    Suite("einops", ("einops/tests/test_*.py",)),
    Suite(
        "flax",
        ("tests/core/**/*_test.py", "tests/linen/*_test.py", "tests/nnx/**/*_test.py"),
        # They need orbax, which reaches for JAX's backends.
        left_out=("integration_test",),
    ),
    Suite("numpyro", ("test/test_*.py",), left_out=("test_examples", "test_pickle")),
    Suite("blackjax", ("tests/**/test_*.py",), left_out=("test_multidevice",)),
    *[
        Suite(name, (f"programs/{name}_programs.py",), programs=True)
        for name in ("equinox", "jax", "lineax", "optimistix", "diffrax", "jaxtyping")
    ],
)
