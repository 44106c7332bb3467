"""Random numbers, drawn from keys; equal keys give equal numbers.

A key comes from a seed (`key`) or from another key (`split`, `fold_in`); use each key for
one draw. All numbers are JAX's, of both streams (`config.threefry_partitionable`).
"""

import typing

from imprint._src.bootstrap import lazy_attributes
from imprint._src.random.continuous import cauchy as cauchy
from imprint._src.random.continuous import exponential as exponential
from imprint._src.random.continuous import gumbel as gumbel
from imprint._src.random.continuous import laplace as laplace
from imprint._src.random.continuous import logistic as logistic
from imprint._src.random.continuous import normal as normal
from imprint._src.random.continuous import truncated_normal as truncated_normal
from imprint._src.random.derived import double_sided_maxwell as double_sided_maxwell
from imprint._src.random.derived import geometric as geometric
from imprint._src.random.derived import lognormal as lognormal
from imprint._src.random.derived import maxwell as maxwell
from imprint._src.random.derived import pareto as pareto
from imprint._src.random.derived import rayleigh as rayleigh
from imprint._src.random.derived import triangular as triangular
from imprint._src.random.derived import wald as wald
from imprint._src.random.derived import weibull_min as weibull_min
from imprint._src.random.discrete import bernoulli as bernoulli
from imprint._src.random.discrete import categorical as categorical
from imprint._src.random.discrete import rademacher as rademacher
from imprint._src.random.intervals import bits as bits
from imprint._src.random.intervals import randint as randint
from imprint._src.random.intervals import uniform as uniform
from imprint._src.random.key_array import Key as Key
from imprint._src.random.key_array import KeyDType as KeyDType
from imprint._src.random.key_array import PRNGKeyArray as PRNGKeyArray
from imprint._src.random.keys import PRNGKey as PRNGKey
from imprint._src.random.keys import clone as clone
from imprint._src.random.keys import fold_in as fold_in
from imprint._src.random.keys import key as key
from imprint._src.random.keys import key_data as key_data
from imprint._src.random.keys import key_dtype as key_dtype
from imprint._src.random.keys import key_impl as key_impl
from imprint._src.random.keys import split as split
from imprint._src.random.keys import wrap_key_data as wrap_key_data

if typing.TYPE_CHECKING:
    from imprint._src.random.counts import binomial as binomial
    from imprint._src.random.counts import multinomial as multinomial
    from imprint._src.random.counts import poisson as poisson
    from imprint._src.random.gammas import ball as ball
    from imprint._src.random.gammas import beta as beta
    from imprint._src.random.gammas import chisquare as chisquare
    from imprint._src.random.gammas import dirichlet as dirichlet
    from imprint._src.random.gammas import f as f
    from imprint._src.random.gammas import gamma as gamma
    from imprint._src.random.gammas import generalized_normal as generalized_normal
    from imprint._src.random.gammas import loggamma as loggamma
    from imprint._src.random.gammas import t as t
    from imprint._src.random.multivariate import (
        multivariate_normal as multivariate_normal,
    )
    from imprint._src.random.multivariate import orthogonal as orthogonal
    from imprint._src.random.permuting import choice as choice
    from imprint._src.random.permuting import permutation as permutation

_LAZY: typing.Final[dict[str, str]] = {
    "imprint._src.random.counts": "binomial multinomial poisson",
    "imprint._src.random.gammas": "ball beta chisquare dirichlet f gamma generalized_normal "
    "loggamma t",
    "imprint._src.random.multivariate": "multivariate_normal orthogonal",
    "imprint._src.random.permuting": "choice permutation",
}
"""The names that load lazily, by module."""

lazy_attributes.load_lazily(__name__, _LAZY)
