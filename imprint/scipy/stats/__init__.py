"""The distributions of SciPy that `jax.scipy.stats` has, a module for each of them.

They have the functions that JAX's have: logarithms of densities and probabilities, and
where it is known the distribution function, its complement and quantiles.

- `bernoulli`: how likely is one trial?
- `beta`: how likely is a share between two?
- `betabinom`: how likely is a count whose odds are drawn?
- `binom`: how likely is a count of successes?
- `cauchy`: how likely is a ratio of normal numbers?
- `chi2`: how likely is a sum of squares?
- `densities`: how likely is a number of which there are only samples?
- `dirichlet`: how likely is a vector of shares?
- `expon`: how likely is a time until an event?
- `gamma`: how likely is a time until several events?
- `gennorm`: how likely is an error with another exponent?
- `geom`: how likely is a count of trials until one succeeds?
- `gumbel_l`: how likely is a least value?
- `gumbel_r`: how likely is a largest value?
- `laplace`: how likely is a difference of times?
- `logistic`: how likely is odds on a logarithmic scale?
- `multinomial`: how likely is a vector of counts?
- `multivariate_normal`: how likely is a vector of normal numbers?
- `nbinom`: how likely is a count of failures?
- `norm`: how likely is a normal number?
- `pareto`: how likely is a size of a power law?
- `poisson`: how likely is a count of events?
- `samples`: what is common in samples, and how sure is their mean?
- `t`: how likely is a mean over its error?
- `truncnorm`: how likely is a normal number between bounds?
- `uniform`: how likely is a number of an interval?
- `vonmises`: how likely is an angle around a mean?
- `wrapcauchy`: how likely is an angle of a wrapped Cauchy number?
"""

import typing

from imprint._src.bootstrap import lazy_attributes

if typing.TYPE_CHECKING:
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
    from imprint.scipy.stats.densities import gaussian_kde as gaussian_kde
    from imprint.scipy.stats.samples import mode as mode
    from imprint.scipy.stats.samples import rankdata as rankdata
    from imprint.scipy.stats.samples import sem as sem

_LATER: typing.Final[dict[str, str]] = {
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
    "imprint.scipy.stats.densities": "gaussian_kde",
    "imprint.scipy.stats.samples": "mode rankdata sem",
}
"""Which module holds the names that load when they are first asked for."""

lazy_attributes.load_later(__name__, _LATER)
