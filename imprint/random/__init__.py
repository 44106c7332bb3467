"""Random numbers: a draw is a function of a key, and the same key gives the same numbers.

Keys are made of a seed (`key`) and of each other (`split`, `fold_in`); a key is used for
one draw. All numbers are JAX's, of both streams (`config.threefry_partitionable`).

- `keys`: how is a key made, split and folded?
- `key_array`: what is an array of keys?
- `threefry`: which hash makes bits of a key, in a traced program?
- `host`: how is the same hash computed without compiling?
- `arguments`: what may a sampler be given?
- `intervals`: how are bits, floats and integers of an interval drawn?
- `continuous`: how are they bent to the other continuous distributions?
- `derived`: how are draws with parameters made of these?
- `discrete`: how are choices, signs and yes or no drawn?
"""

from imprint.core import missing, public
from imprint.random.continuous import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    normal,
    truncated_normal,
)
from imprint.random.derived import (
    geometric,
    lognormal,
    maxwell,
    pareto,
    rayleigh,
    triangular,
    wald,
    weibull_min,
)
from imprint.random.discrete import bernoulli, categorical, rademacher
from imprint.random.intervals import bits, randint, uniform
from imprint.random.key_array import KeyDType, PRNGKeyArray
from imprint.random.keys import (
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_impl,
    split,
    wrap_key_data,
)

__all__ = [
    "KeyDType",
    "PRNGKey",
    "PRNGKeyArray",
    "bernoulli",
    "bits",
    "categorical",
    "cauchy",
    "clone",
    "exponential",
    "fold_in",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "key_impl",
    "laplace",
    "logistic",
    "lognormal",
    "maxwell",
    "normal",
    "pareto",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]

missing.explain_missing(__name__)
public.offer_public(__name__)
