"""`import imprint.as_jax` as the first line: `import jax` gives imprint from then on.

An unmodified JAX program, and the libraries under it, run on imprint: its cache, its start
and its explanations. Nothing is written to the disk, and other processes are untouched.
`python -m imprint.as_jax train.py`, `python -m imprint.as_jax -m pytest tests/` and `imprint
run --as-jax train.py` run a program that way.

Example:
  >>> import imprint.as_jax  # doctest: +SKIP
  >>> import jax  # doctest: +SKIP
  >>> jax.__imprint__  # doctest: +SKIP
  '0.2.0'
"""

from imprint._src.as_jax.modules import install as install

install()

if __name__ == "__main__":
    import sys

    from imprint._src.as_jax.command import main

    sys.exit(main(sys.argv[1:]))
