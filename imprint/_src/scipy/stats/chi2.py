"""The chi-squared distribution, as in `scipy.stats.chi2`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats import gamma


def logpdf(
    x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the density of the chi-squared distribution.

    Args:
        x: the points, real.
        df: the degrees of freedom, positive.
        loc: the lower end of the support.
        scale: the factor of the width, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; -inf
        outside of [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.chi2`.

    Example:
        >>> from imprint.scipy.stats import chi2
        >>> chi2.logpdf(0.5, 2.0).round(4)
        Array(-0.9431, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.logpdf", x, df, loc, scale)
    return gamma.logpdf(x, np.divide(df, 2), loc, np.multiply(scale, 2))


def pdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the chi-squared distribution.

    Args:
        x: the points, real.
        df: the degrees of freedom, positive.
        loc: the lower end of the support.
        scale: the factor of the width, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; 0 outside of
        [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.chi2`.

    Example:
        >>> from imprint.scipy.stats import chi2
        >>> chi2.pdf(0.5, 2.0).round(4)
        Array(0.3894, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.pdf", x, df, loc, scale)
    return gamma.pdf(x, np.divide(df, 2), loc, np.multiply(scale, 2))


def cdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the chi-squared distribution.

    Args:
        x: the points, real.
        df: the degrees of freedom, positive.
        loc: the lower end of the support.
        scale: the factor of the width, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; 0 below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.chi2`.

    Example:
        >>> from imprint.scipy.stats import chi2
        >>> chi2.cdf(0.5, 2.0).round(4)
        Array(0.2212, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.cdf", x, df, loc, scale)
    return gamma.cdf(x, np.divide(df, 2), loc, np.multiply(scale, 2))


def logcdf(
    x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the cumulative distribution of the chi-squared distribution.

    Args:
        x: the points, real.
        df: the degrees of freedom, positive.
        loc: the lower end of the support.
        scale: the factor of the width, positive.

    Returns:
        The log of the probability of a value up to `x`, of the broadcast shape and the
        common floating dtype; -inf below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.chi2`.

    Example:
        >>> from imprint.scipy.stats import chi2
        >>> chi2.logcdf(0.5, 2.0).round(4)
        Array(-1.5087, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.logcdf", x, df, loc, scale)
    return gamma.logcdf(x, np.divide(df, 2), loc, np.multiply(scale, 2))


def sf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the survival function of the chi-squared distribution.

    Args:
        x: the points, real.
        df: the degrees of freedom, positive.
        loc: the lower end of the support.
        scale: the factor of the width, positive.

    Returns:
        The probability of a value above `x`, of the broadcast shape and the common floating
        dtype; 1 below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.chi2`.

    Example:
        >>> from imprint.scipy.stats import chi2
        >>> chi2.sf(0.5, 2.0).round(4)
        Array(0.7788, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.sf", x, df, loc, scale)
    return gamma.sf(x, np.divide(df, 2), loc, np.multiply(scale, 2))


def logsf(
    x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the survival function of the chi-squared distribution.

    Args:
        x: the points, real.
        df: the degrees of freedom, positive.
        loc: the lower end of the support.
        scale: the factor of the width, positive.

    Returns:
        The log of the probability of a value above `x`, of the broadcast shape and the
        common floating dtype; 0 below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.chi2`.

    Example:
        >>> from imprint.scipy.stats import chi2
        >>> chi2.logsf(0.5, 2.0).round(4)
        Array(-0.25, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.logsf", x, df, loc, scale)
    return gamma.logsf(x, np.divide(df, 2), loc, np.multiply(scale, 2))
