"""`gaussian_kde`: kernel density estimates.

The density is a sum of normal ones around the points. Their covariance is that of the
points, scaled by a factor of their number. An estimate is a pytree node, so functions
that are compiled, mapped or differentiated accept and return it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import imprint.numpy as np
from imprint import random
from imprint._src.core.array import Array
from imprint._src.dtypes import is_complex, to_inexact
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.interpreters.vmap import vmap
from imprint._src.numpy.promotion import ArrayLike, as_array, promote_dtypes
from imprint._src.scipy.linalg.solving import cho_factor, cho_solve
from imprint.scipy.special import logsumexp, ndtr
from imprint.tree import register_pytree_node_class


@register_pytree_node_class
@dataclass(frozen=True, init=False, eq=False, repr=False)
class gaussian_kde:  # noqa: N801 - SciPy's name
    """A kernel density estimate with a normal density around each point.

    Attributes:
        dataset: the points, of shape `(d, n)`.
        weights: of the points, with the sum 1.
        neff: the effective number of points.
        covariance: that of the normal density around each point.
        inv_cov: its inverse.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import stats
        >>> density = stats.gaussian_kde(np.array([0.0, 1.0, 3.0]))
        >>> density.pdf(np.array([0.5, 4.0])).round(3)
        Array([0.213, 0.084], dtype=float32)
    """

    neff: Any
    dataset: Any
    weights: Any
    covariance: Any
    inv_cov: Any

    def __init__(
        self,
        dataset: ArrayLike,
        bw_method: str | ArrayLike | Callable[[Any], Any] | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        """Estimate a density.

        Args:
            dataset: the points, of shape `(n,)`, or `(d, n)` for d coordinates.
            bw_method: "scott", the default, or "silverman", for the bandwidth factor by
                their number; the factor itself, or a function from the estimate to it.
            weights: of the points; None for equal ones.

        Raises:
            DTypeError: the points are complex.
            ShapeError: there is only one point, or not one weight for each.
            ArgumentError: the method is unknown.
        """
        given = (dataset,) if weights is None else (dataset, weights)
        points, *rest = promote_dtypes("gaussian_kde", given, to_inexact)
        x = np.atleast_2d(_real(as_array("gaussian_kde", points)))
        if x.ndim != 2 or not x.size > 1:
            raise ShapeError(
                "gaussian_kde: expected points of shape (d, n), and more than one number, "
                f"got {x.aval}."
            )
        n = x.shape[1]
        share = np.full(n, 1 / n, x.dtype)
        if rest:
            share = np.atleast_1d(as_array("gaussian_kde", rest[0]))
            if share.shape != (n,):
                raise ShapeError(
                    f"gaussian_kde: expected a weight for each of {n} points, got "
                    f"{share.aval}."
                )
            share = share / share.sum()
        self._set(dataset=x, weights=share, neff=1 / (share**2).sum())
        factor = self._factor(bw_method)
        spread = np.atleast_2d(np.cov(x, aweights=share))
        self._set(covariance=spread * factor**2)
        self._set(inv_cov=np.linalg.inv(spread) / factor**2)

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _factor(self, method: Any) -> Any:
        power = -1 / (self.d + 4)
        if method is None or (isinstance(method, str) and method == "scott"):
            return self.neff**power
        if isinstance(method, str) and method == "silverman":
            return (self.neff * (self.d + 2) / 4) ** power
        if callable(method):
            return method(self)
        if isinstance(method, str) or np.ndim(method):
            raise ArgumentError(
                "gaussian_kde: expected a bw_method of scott, silverman, a number or a "
                f"function, got {method!r}."
            )
        return method

    def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
        """Return the arrays, for trees."""
        return (
            self.neff,
            self.dataset,
            self.weights,
            self.covariance,
            self.inv_cov,
        ), None

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Any) -> "gaussian_kde":
        """Return an estimate from its arrays, for trees."""
        assert aux_data is None
        kde = cls.__new__(cls)
        names = ("neff", "dataset", "weights", "covariance", "inv_cov")
        kde._set(**dict(zip(names, children, strict=True)))
        return kde

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return self.dataset.shape[0]

    @property
    def n(self) -> int:
        """The number of points."""
        return self.dataset.shape[1]

    # ---- densities ----

    def evaluate(self, points: ArrayLike) -> Array:
        """Return the density at points of shape `(d, m)`, or `(m,)` where d is 1.

        Args:
            points: where; real.

        Returns:
            The density at each point, of shape `(m,)`.

        Raises:
            ShapeError: the points have not d coordinates.

        References:
            SciPy, `scipy.stats.gaussian_kde`.
        """
        exponents = self._exponents("evaluate", points)
        return (self.weights[None] * np.exp(exponents)).sum(axis=1)

    def __call__(self, points: ArrayLike) -> Array:
        """Return the density at points, as `evaluate`."""
        return self.evaluate(points)

    def pdf(self, x: ArrayLike) -> Array:
        """Return the density at points, as `evaluate`.

        Args:
            x: as for `evaluate`.

        Returns:
            The density at each point, of shape `(m,)`.
        """
        return self.evaluate(x)

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the logarithm of the density at points, as for `evaluate`.

        Args:
            x: as for `evaluate`.

        Returns:
            The log of the density at each point, of shape `(m,)`.
        """
        return logsumexp(
            self._exponents("logpdf", x) + np.log(self.weights[None]), axis=1
        )

    def _exponents(self, name: str, points: ArrayLike) -> Array:
        """Return the logarithm of the normal density around each point, at points."""
        at = np.atleast_2d(_real(as_array(name, points)))
        if at.shape[0] != self.d and at.shape == (1, self.d):
            at = at.reshape(self.d, 1)
        if at.ndim != 2 or at.shape[0] != self.d:
            raise ShapeError(
                f"{name}: expected points of {self.d} coordinates, as the estimate has, of "
                f"shape ({self.d}, m), got {at.aval}."
            )
        white = np.linalg.cholesky(self.inv_cov)
        here, there = white.T @ at, white.T @ self.dataset
        squares = sum((here[i, :, None] - there[i, None]) ** 2 for i in range(self.d))
        scale = np.log(np.diag(white)).sum() - self.d / 2 * math.log(2 * math.pi)
        return scale - squares / 2

    # ---- integrals ----

    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> Array:
        """Return the integral of the density times a normal one.

        Args:
            mean: of shape `(d,)`.
            cov: of shape `(d, d)`.

        Returns:
            The integral, a number.

        Raises:
            ShapeError: the mean or the covariance has another shape.
        """
        center = np.atleast_1d(np.squeeze(as_array("integrate_gaussian", mean)))
        spread = np.atleast_2d(as_array("integrate_gaussian", cov))
        if center.shape != (self.d,) or spread.shape != (self.d, self.d):
            raise ShapeError(
                f"integrate_gaussian: expected a mean of shape ({self.d},) and a covariance "
                f"of shape ({self.d}, {self.d}), got {center.aval} and {spread.aval}."
            )
        return self._overlap(center, self.covariance + spread)

    def integrate_box_1d(self, low: ArrayLike, high: ArrayLike) -> Array:
        """Return the integral of the density between two numbers, for d = 1.

        Args:
            low: the lower end, a number.
            high: the upper end, a number.

        Returns:
            The integral, a number.

        Raises:
            ShapeError: d is not 1, or an end is no number.
        """
        if self.d != 1 or np.ndim(low) or np.ndim(high):
            raise ShapeError(
                "integrate_box_1d: expected an estimate of one coordinate, and two "
                f"numbers, got {self.d}, {np.shape(low)} and {np.shape(high)}. Map with "
                "imprint.vmap."
            )
        sigma, x = np.sqrt(self.covariance)[0, 0], self.dataset[0]
        below, above = (ndtr((bound - x) / sigma) for bound in (low, high))
        return (self.weights * (above - below)).sum()

    def integrate_kde(self, other: "gaussian_kde") -> Array:
        """Return the integral of the density times that of another estimate.

        Args:
            other: an estimate of as many coordinates.

        Returns:
            The integral, a number.

        Raises:
            ShapeError: the other estimate has not d coordinates.
        """
        if other.d != self.d:
            raise ShapeError(
                f"integrate_kde: expected an estimate of {self.d} coordinates, got one of "
                f"{other.d}."
            )
        spread = self.covariance + other.covariance
        few, many = (self, other) if self.n < other.n else (other, self)
        over = vmap(many._overlap, in_axes=(1, None))(few.dataset, spread)
        return (over * few.weights).sum()

    def integrate_box(self, *_bounds: Any, **_options: Any) -> NoReturn:
        """Raise NotImplementedError: integrals are over one coordinate."""
        raise NotImplementedError(
            "integrate_box: expected no box of several coordinates. Call "
            "integrate_box_1d, or average over resample."
        )

    def set_bandwidth(self, bw_method: Any = None) -> NoReturn:
        """Raise NotImplementedError: estimates are immutable."""
        raise NotImplementedError(
            "set_bandwidth: expected no other width for an estimate, which is immutable, "
            f"got {bw_method!r}. Make another, with bw_method."
        )

    def _overlap(self, center: Array, spread: Array) -> Array:
        """Return the sum of normal densities around a center, at the points."""
        factor = cho_factor(spread)
        off = self.dataset - center[:, None]
        squares = (off * cho_solve(factor, off)).sum(axis=0)
        norm = math.sqrt(2 * math.pi) ** self.d * np.diag(factor[0]).prod()
        return (np.exp(-squares / 2) * self.weights).sum() / norm

    # ---- draws ----

    def resample(self, key: Any, shape: tuple[int, ...] = ()) -> Array:
        """Draw points from the density, of shape `(d, *shape)`.

        Args:
            key: a key.
            shape: the number of points.

        Returns:
            The points, in the dtype of `dataset`.
        """
        of_point, of_noise = random.split(key)
        which = random.choice(of_point, self.n, shape=shape, p=self.weights)
        middle = np.zeros(self.d, self.covariance.dtype)
        noise = random.multivariate_normal(
            of_noise, middle, self.covariance, shape=shape, dtype=self.dataset.dtype
        )
        return self.dataset[:, which] + np.moveaxis(noise, -1, 0)


def _real(x: Array) -> Array:
    if is_complex(x.dtype):
        raise DTypeError(
            f"gaussian_kde: expected real points, got {x.aval}. Stack real and imaginary "
            "parts as two coordinates."
        )
    return x
