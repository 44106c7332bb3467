"""Random numbers: a draw is a function of a key, and the same key gives the same numbers.

Keys are made of a seed (`key`) and of each other (`split`, `fold_in`); a key is used for
one draw. All numbers are JAX's, of both streams (`config.threefry_partitionable`).

- `keys`: how is a key made, split and folded?
- `key_array`: what is an array of keys?
- `threefry`: which hash makes bits of a key, in a traced program?
- `host`: how is the same hash computed without compiling?
- `implementations`: in which ways do keys make bits?
- `rbg`: how does the engine's own generator make them?
- `streams`: which of these makes the bits of a key?
- `arguments`: what may a sampler be given?
- `intervals`: how are bits, floats and integers of an interval drawn?
- `continuous`: how are they bent to the other continuous distributions?
- `derived`: how are draws with parameters made of these?
- `permuting`: how is drawn from what is there?
- `discrete`: how are choices, signs and yes or no drawn?
- `gammas`: how are gamma draws refused until one is accepted, and what is made of them?
- `counts`: how are numbers of events drawn?
- `matrices`: how are orthogonal matrices drawn?
- `multivariate`: how are vectors of a mean and a covariance drawn?
- `loops`: how does a draw repeat?
"""

import typing

from imprint._src.bootstrap import lazy_attributes
from imprint.random.continuous import cauchy as cauchy
from imprint.random.continuous import exponential as exponential
from imprint.random.continuous import gumbel as gumbel
from imprint.random.continuous import laplace as laplace
from imprint.random.continuous import logistic as logistic
from imprint.random.continuous import normal as normal
from imprint.random.continuous import truncated_normal as truncated_normal
from imprint.random.derived import double_sided_maxwell as double_sided_maxwell
from imprint.random.derived import geometric as geometric
from imprint.random.derived import lognormal as lognormal
from imprint.random.derived import maxwell as maxwell
from imprint.random.derived import pareto as pareto
from imprint.random.derived import rayleigh as rayleigh
from imprint.random.derived import triangular as triangular
from imprint.random.derived import wald as wald
from imprint.random.derived import weibull_min as weibull_min
from imprint.random.discrete import bernoulli as bernoulli
from imprint.random.discrete import categorical as categorical
from imprint.random.discrete import rademacher as rademacher
from imprint.random.intervals import bits as bits
from imprint.random.intervals import randint as randint
from imprint.random.intervals import uniform as uniform
from imprint.random.key_array import Key as Key
from imprint.random.key_array import KeyDType as KeyDType
from imprint.random.key_array import PRNGKeyArray as PRNGKeyArray
from imprint.random.keys import PRNGKey as PRNGKey
from imprint.random.keys import clone as clone
from imprint.random.keys import fold_in as fold_in
from imprint.random.keys import key as key
from imprint.random.keys import key_data as key_data
from imprint.random.keys import key_dtype as key_dtype
from imprint.random.keys import key_impl as key_impl
from imprint.random.keys import split as split
from imprint.random.keys import wrap_key_data as wrap_key_data

if typing.TYPE_CHECKING:
    from imprint.random.counts import binomial as binomial
    from imprint.random.counts import multinomial as multinomial
    from imprint.random.counts import poisson as poisson
    from imprint.random.gammas import ball as ball
    from imprint.random.gammas import beta as beta
    from imprint.random.gammas import chisquare as chisquare
    from imprint.random.gammas import dirichlet as dirichlet
    from imprint.random.gammas import f as f
    from imprint.random.gammas import gamma as gamma
    from imprint.random.gammas import generalized_normal as generalized_normal
    from imprint.random.gammas import loggamma as loggamma
    from imprint.random.gammas import t as t
    from imprint.random.matrices import orthogonal as orthogonal
    from imprint.random.multivariate import multivariate_normal as multivariate_normal
    from imprint.random.permuting import choice as choice
    from imprint.random.permuting import permutation as permutation

_LATER: typing.Final[dict[str, str]] = {
    "imprint.random.counts": "binomial multinomial poisson",
    "imprint.random.gammas": "ball beta chisquare dirichlet f gamma generalized_normal "
    "loggamma t",
    "imprint.random.matrices": "orthogonal",
    "imprint.random.multivariate": "multivariate_normal",
    "imprint.random.permuting": "choice permutation",
}
"""Which module holds the names that load when they are first asked for."""

lazy_attributes.load_later(__name__, _LATER)
