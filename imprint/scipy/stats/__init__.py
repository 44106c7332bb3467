"""The distributions of `jax.scipy.stats`, a module for each.

They have JAX's functions: logarithms of densities and probabilities, and where available
the cumulative distribution, the survival function and quantiles.
"""

import typing

from imprint._src.bootstrap import lazy_attributes

if typing.TYPE_CHECKING:
    from imprint._src.scipy.stats.densities import gaussian_kde as gaussian_kde
    from imprint._src.scipy.stats.samples import mode as mode
    from imprint._src.scipy.stats.samples import rankdata as rankdata
    from imprint._src.scipy.stats.samples import sem as sem
    from imprint.scipy.stats import bernoulli as bernoulli
    from imprint.scipy.stats import beta as beta
    from imprint.scipy.stats import betabinom as betabinom
    from imprint.scipy.stats import binom as binom
    from imprint.scipy.stats import cauchy as cauchy
    from imprint.scipy.stats import chi2 as chi2
    from imprint.scipy.stats import dirichlet as dirichlet
    from imprint.scipy.stats import expon as expon
    from imprint.scipy.stats import gamma as gamma
    from imprint.scipy.stats import gennorm as gennorm
    from imprint.scipy.stats import geom as geom
    from imprint.scipy.stats import gumbel_l as gumbel_l
    from imprint.scipy.stats import gumbel_r as gumbel_r
    from imprint.scipy.stats import laplace as laplace
    from imprint.scipy.stats import logistic as logistic
    from imprint.scipy.stats import multinomial as multinomial
    from imprint.scipy.stats import multivariate_normal as multivariate_normal
    from imprint.scipy.stats import nbinom as nbinom
    from imprint.scipy.stats import norm as norm
    from imprint.scipy.stats import pareto as pareto
    from imprint.scipy.stats import poisson as poisson
    from imprint.scipy.stats import t as t
    from imprint.scipy.stats import truncnorm as truncnorm
    from imprint.scipy.stats import uniform as uniform
    from imprint.scipy.stats import vonmises as vonmises
    from imprint.scipy.stats import wrapcauchy as wrapcauchy

_LAZY: typing.Final[dict[str, str]] = {
    "imprint.scipy.stats.bernoulli": "",
    "imprint.scipy.stats.beta": "",
    "imprint.scipy.stats.betabinom": "",
    "imprint.scipy.stats.binom": "",
    "imprint.scipy.stats.cauchy": "",
    "imprint.scipy.stats.chi2": "",
    "imprint.scipy.stats.dirichlet": "",
    "imprint.scipy.stats.expon": "",
    "imprint.scipy.stats.gamma": "",
    "imprint.scipy.stats.gennorm": "",
    "imprint.scipy.stats.geom": "",
    "imprint.scipy.stats.gumbel_l": "",
    "imprint.scipy.stats.gumbel_r": "",
    "imprint.scipy.stats.laplace": "",
    "imprint.scipy.stats.logistic": "",
    "imprint.scipy.stats.multinomial": "",
    "imprint.scipy.stats.multivariate_normal": "",
    "imprint.scipy.stats.nbinom": "",
    "imprint.scipy.stats.norm": "",
    "imprint.scipy.stats.pareto": "",
    "imprint.scipy.stats.poisson": "",
    "imprint.scipy.stats.t": "",
    "imprint.scipy.stats.truncnorm": "",
    "imprint.scipy.stats.uniform": "",
    "imprint.scipy.stats.vonmises": "",
    "imprint.scipy.stats.wrapcauchy": "",
    "imprint._src.scipy.stats.densities": "gaussian_kde",
    "imprint._src.scipy.stats.samples": "mode rankdata sem",
}
"""Which module holds the names that load when they are first asked for."""

lazy_attributes.load_lazily(__name__, _LAZY)
