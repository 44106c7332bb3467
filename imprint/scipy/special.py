"""Special functions of `jax.scipy.special`, on arrays and tracers.

Outside of programs most are SciPy's own, so nothing compiles; integers become floats.
"""

import typing

from imprint._src.bootstrap import lazy_attributes

if typing.TYPE_CHECKING:
    from imprint._src.scipy.special.bessel import bessel_jn as bessel_jn
    from imprint._src.scipy.special.bessel import i0 as i0
    from imprint._src.scipy.special.bessel import i0e as i0e
    from imprint._src.scipy.special.bessel import i1 as i1
    from imprint._src.scipy.special.bessel import i1e as i1e
    from imprint._src.scipy.special.entropies import boxcox as boxcox
    from imprint._src.scipy.special.entropies import boxcox1p as boxcox1p
    from imprint._src.scipy.special.entropies import entr as entr
    from imprint._src.scipy.special.entropies import expit as expit
    from imprint._src.scipy.special.entropies import kl_div as kl_div
    from imprint._src.scipy.special.entropies import log_softmax as log_softmax
    from imprint._src.scipy.special.entropies import logit as logit
    from imprint._src.scipy.special.entropies import logsumexp as logsumexp
    from imprint._src.scipy.special.entropies import rel_entr as rel_entr
    from imprint._src.scipy.special.entropies import softmax as softmax
    from imprint._src.scipy.special.entropies import xlog1py as xlog1py
    from imprint._src.scipy.special.entropies import xlogy as xlogy
    from imprint._src.scipy.special.error_functions import dawsn as dawsn
    from imprint._src.scipy.special.error_functions import erf as erf
    from imprint._src.scipy.special.error_functions import erfc as erfc
    from imprint._src.scipy.special.error_functions import erfcinv as erfcinv
    from imprint._src.scipy.special.error_functions import erfcx as erfcx
    from imprint._src.scipy.special.error_functions import erfinv as erfinv
    from imprint._src.scipy.special.error_functions import log_ndtr as log_ndtr
    from imprint._src.scipy.special.error_functions import ndtr as ndtr
    from imprint._src.scipy.special.error_functions import ndtri as ndtri
    from imprint._src.scipy.special.error_functions import wofz as wofz
    from imprint._src.scipy.special.gammas import bernoulli as bernoulli
    from imprint._src.scipy.special.gammas import beta as beta
    from imprint._src.scipy.special.gammas import betainc as betainc
    from imprint._src.scipy.special.gammas import betaln as betaln
    from imprint._src.scipy.special.gammas import comb as comb
    from imprint._src.scipy.special.gammas import digamma as digamma
    from imprint._src.scipy.special.gammas import factorial as factorial
    from imprint._src.scipy.special.gammas import gamma as gamma
    from imprint._src.scipy.special.gammas import gammainc as gammainc
    from imprint._src.scipy.special.gammas import gammaincc as gammaincc
    from imprint._src.scipy.special.gammas import gammaln as gammaln
    from imprint._src.scipy.special.gammas import gammasgn as gammasgn
    from imprint._src.scipy.special.gammas import loggamma as loggamma
    from imprint._src.scipy.special.gammas import multigammaln as multigammaln
    from imprint._src.scipy.special.gammas import poch as poch
    from imprint._src.scipy.special.gammas import polygamma as polygamma
    from imprint._src.scipy.special.gammas import zeta as zeta
    from imprint._src.scipy.special.harmonics import sph_harm_y as sph_harm_y
    from imprint._src.scipy.special.hypergeometric import hyp1f1 as hyp1f1
    from imprint._src.scipy.special.hypergeometric import hyp2f1 as hyp2f1
    from imprint._src.scipy.special.integrals import exp1 as exp1
    from imprint._src.scipy.special.integrals import expi as expi
    from imprint._src.scipy.special.integrals import expn as expn
    from imprint._src.scipy.special.integrals import fresnel as fresnel
    from imprint._src.scipy.special.integrals import owens_t as owens_t
    from imprint._src.scipy.special.integrals import sici as sici
    from imprint._src.scipy.special.integrals import spence as spence

_LAZY: typing.Final[dict[str, str]] = {
    "imprint._src.scipy.special.bessel": "bessel_jn i0 i0e i1 i1e",
    "imprint._src.scipy.special.entropies": "boxcox boxcox1p entr expit kl_div log_softmax logit logsumexp rel_entr softmax xlog1py xlogy",
    "imprint._src.scipy.special.gammas": "bernoulli beta betainc betaln comb digamma factorial gamma gammainc gammaincc gammaln gammasgn loggamma multigammaln poch polygamma zeta",
    "imprint._src.scipy.special.harmonics": "sph_harm_y",
    "imprint._src.scipy.special.hypergeometric": "hyp1f1 hyp2f1",
    "imprint._src.scipy.special.integrals": "exp1 expi expn fresnel owens_t sici spence",
    "imprint._src.scipy.special.error_functions": "dawsn erf erfc erfcinv erfcx erfinv log_ndtr ndtr ndtri wofz",
}
"""The names that load lazily, by module."""

lazy_attributes.load_lazily(__name__, _LAZY)
