"""The true values and derivatives of a program, by mpmath at hundreds of digits.

`Truth` evaluates a jaxpr with mpmath's own functions, and differentiates by differences,
so that no rule of a derivative takes part, and nothing cancels or overflows.
"""

import itertools
from functools import cache, partial

import numpy as np
from mpmath import mp, mpf

from imprint._src.core.jaxpr import ClosedJaxpr, Literal
from imprint._src.primitives.elementwise.rounding import RoundingMethod


class UnknownError(Exception):
    """No true value is known: at a pole, outside the domain, or for lack of a rule."""


def _real(x):
    if isinstance(x, mp.mpc):
        if x.imag != 0:
            raise UnknownError
        x = x.real
    if isinstance(x, mp.mpf) and not mp.isfinite(x):
        raise UnknownError
    return x


def _log(x):
    return mp.log(x) if x > 0 else _fail()


def _fail():
    raise UnknownError


def _between(low, high, function):
    return lambda x: function(x) if low <= x <= high else _fail()


def _pow(x, y):
    if x == 0:
        return (mpf(1) if y == 0 else mpf(0)) if y >= 0 else _fail()
    if x < 0 and y != mp.floor(y):
        _fail()
    return _real(mp.power(x, y))


def _rem(x, y):
    if y == 0 or abs(x / y) > 10**6:  # so many steps lie within a difference
        _fail()
    return x - y * _truncate(x / y)


def _round(x, method):
    if method == RoundingMethod.TO_NEAREST_EVEN:
        return mp.nint(x)
    return mp.sign(x) * mp.floor(abs(x) + mpf(0.5))


def _truncate(x):
    return mp.floor(x) if x > 0 else mp.ceil(x)


def _lgamma(x):
    if x <= 0 and x == mp.floor(x):
        _fail()
    return mp.loggamma(x).real if x > 0 else mp.log(abs(mp.gamma(x)))


def _log_ndtr(x):
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


def _ndtri(p):
    return mp.sqrt(2) * mp.erfinv(2 * p - 1) if 0 < p < 1 else _fail()


def _log1p(x):
    return mp.log(1 + x) if x > -1 else _fail()


def _erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


RULES = {
    "abs": abs,
    "acos": _between(-1, 1, mp.acos),
    "acosh": lambda x: mp.acosh(x) if x >= 1 else _fail(),
    "add": lambda x, y: x + y,
    "and": lambda x, y: x and y,
    "asin": _between(-1, 1, mp.asin),
    "asinh": mp.asinh,
    "atan": mp.atan,
    "atan2": lambda y, x: mp.atan2(y, x) if x or y else _fail(),
    "atanh": _between(-1, 1, mp.atanh),
    "bessel_i0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    "bessel_i1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "ceil": mp.ceil,
    "convert_element_type": lambda x, **_: x,
    "broadcast_in_dim": lambda x, **_: x,
    "reshape": lambda x, **_: x,
    "copy": lambda x: x,
    "cos": mp.cos,
    "cosh": mp.cosh,
    "cosine_integral": lambda x: mp.ci(x) if x > 0 else _fail(),
    "dawsn": lambda x: mp.exp(-x * x) * mp.erfi(x) * mp.sqrt(mp.pi) / 2,
    "digamma": mp.digamma,
    "div": lambda x, y: x / y,
    "eq": lambda x, y: x == y,
    "erf": mp.erf,
    "erf_inv": lambda x: mp.erfinv(x) if -1 < x < 1 else _fail(),
    "erfc": mp.erfc,
    "erfcx": _erfcx,
    "exp": mp.exp,
    "exp1": lambda x: mp.e1(x) if x > 0 else _fail(),
    "exp2": lambda x: mp.power(2, x),
    "expi": mp.ei,
    "expm1": lambda x: mp.exp(x) - 1,
    "expn": lambda n, x: mp.expint(n, x),
    "floor": mp.floor,
    "fresnel_cosine": mp.fresnelc,
    "fresnel_sine": mp.fresnels,
    "ge": lambda x, y: x >= y,
    "gt": lambda x, y: x > y,
    "igamma": lambda a, x: mp.gammainc(a, 0, x, regularized=True),
    "igammac": lambda a, x: mp.gammainc(a, x, regularized=True),
    "integer_pow": lambda x, y: mp.power(x, y) if x or y >= 0 else _fail(),
    "direction": lambda x, y: x / mp.hypot(x, y) if x or y else _fail(),
    "hypot": mp.hypot,
    "is_finite": lambda x: True,
    "le": lambda x, y: x <= y,
    "lgamma": _lgamma,
    "log": _log,
    "log1p": _log1p,
    "log2": lambda x: _log(x) / mp.log(2),
    "log_ndtr": _log_ndtr,
    "logistic": lambda x: 1 / (1 + mp.exp(-x)),
    "lt": lambda x, y: x < y,
    "max": max,
    "min": min,
    "mul": lambda x, y: x * y,
    "ndtri": _ndtri,
    "ne": lambda x, y: x != y,
    "neg": lambda x: -x,
    "not": lambda x: not x,
    "one_minus_square": lambda x: 1 - x * x,
    "or": lambda x, y: x or y,
    "pow": _pow,
    "rem": _rem,
    "round": lambda x, rounding_method, **_: _round(x, rounding_method),
    "rsqrt": lambda x: 1 / mp.sqrt(x) if x > 0 else _fail(),
    "select_n": lambda which, *cases: cases[int(which)],
    "sign": mp.sign,
    "sin": mp.sin,
    "sine_integral": mp.si,
    "sinh": mp.sinh,
    "spence": lambda x: mp.polylog(2, 1 - x) if x >= 0 else _fail(),
    "sqrt": lambda x: mp.sqrt(x) if x >= 0 else _fail(),
    "square": lambda x: x * x,
    "clamp": lambda low, x, high: min(max(x, low), high),
    "stop_gradient": lambda x: x,
    "optimization_barrier": lambda x: x,
    "sub": lambda x, y: x - y,
    "tan": mp.tan,
    "tanh": mp.tanh,
    "zeta": lambda x, q: mp.zeta(x, q) if x > 1 else _fail(),
}


def _pole_free(function):
    def value(*x):
        if any(v <= 0 and v == mp.floor(v) for v in x):
            _fail()
        return function(*x)

    return value


DIRECT = {
    "numpy.copysign": lambda x, y: abs(x) * (mp.sign(y) or 1),
    "scipy.special.beta": _pole_free(mp.beta),
    "scipy.special.gamma": _pole_free(mp.gamma),
    "scipy.special.poch": lambda z, m: mp.rf(z, m),
}
"""Functions whose programs work on bits."""


def known(function):
    """Return whether the true values of a function are known."""
    return function.name in DIRECT or _is_known(function.program)


def _is_known(program):
    eqns = program.jaxpr.eqns
    if [eqn.primitive.name for eqn in eqns] == ["stop_gradient"]:
        return False
    return all(
        all(map(_is_known, _bodies(eqn)))
        if _bodies(eqn)
        else eqn.primitive.name in RULES
        for eqn in eqns
    )


def _bodies(eqn):
    held = [eqn.params.get(k) for k in ("call_jaxpr", "jaxpr")]
    return [v for v in held if isinstance(v, ClosedJaxpr)]


def evaluate(program, *arguments):
    """Evaluate a program of one result on mpmath's numbers."""
    jaxpr = program.jaxpr
    values = dict(zip(jaxpr.constvars, map(_number, program.consts), strict=True))
    values |= dict(zip(jaxpr.invars, arguments, strict=True))

    def read(atom):
        return _number(atom.val) if isinstance(atom, Literal) else values[atom]

    for eqn in jaxpr.eqns:
        operands = [read(x) for x in eqn.invars]
        bodies = _bodies(eqn)
        if bodies:
            out = evaluate(bodies[0], *operands)
        else:
            out = RULES[eqn.primitive.name](*operands, **_params(eqn))
        values[eqn.outvars[0]] = out
    return read(jaxpr.outvars[0])


def _params(eqn):
    named = eqn.primitive.name in ("integer_pow", "convert_element_type", "round")
    named |= eqn.primitive.name in ("broadcast_in_dim", "reshape")
    return eqn.params if named else {}


def _number(x):
    x = np.asarray(x)
    return bool(x) if x.dtype == bool else mpf(float(x))


class Truth:
    """The true derivatives of a `Function`, whose program is evaluated."""

    def __init__(self, function):
        self.call = DIRECT.get(function.name, partial(evaluate, function.program))
        self.value = cache(self._value)

    def _value(self, *x):
        try:
            return _real(self.call(*x))
        except (
            UnknownError,
            ZeroDivisionError,
            ValueError,
            OverflowError,
            ArithmeticError,
            TypeError,
            mp.NoConvergence,
            NotImplementedError,
        ):
            raise UnknownError from None

    def derivative(self, x, orders):
        """Return a derivative at a place, and how much it moves with the place.

        Args:
            x: the floats of the place.
            orders: for each argument, how often to differentiate by it.

        Returns:
            The derivative and its condition: the sum of `|x_i ∂/∂x_i|` of it.

        Raises:
            UnknownError: the function has no derivative there, or it is unknown.
        """
        exponents = [abs(np.log10(abs(v))) for v in x if v]
        with mp.workdps(int(3 * max([1, *exponents])) + 250):
            place = tuple(map(mpf, x))
            self._refuse_kinks(place, orders)
            here = self._difference(place, orders)
            condition = mpf(0)
            delta = mpf("0.777e-6")
            for i, v in enumerate(place):
                if v:
                    moved = (*place[:i], v * (1 + delta), *place[i + 1 :])
                    try:
                        there = self._difference(moved, orders)
                    except UnknownError:
                        moved = (*place[:i], v * (1 - delta), *place[i + 1 :])
                        there = self._difference(moved, orders)
                    condition += abs(there - here) / delta
            return here, condition

    def _refuse_kinks(self, place, orders):
        if sum(orders) > 1 and not all(place):
            for i, n in enumerate(orders):
                if n:
                    self._difference(place, (*orders[:i], n - 1, *orders[i + 1 :]))

    def _difference(self, x, orders):
        if not any(orders):
            return self.value(*x)
        sides = [self._one_sided(x, orders, side) for side in (1, -1)]
        if any(n and not v for n, v in zip(orders, x, strict=True)):
            # At 0 the step is arbitrary: an infinite derivative depends on it.
            sides.append(self._one_sided(x, orders, mpf("0.001")))
        size = max(map(abs, sides))
        far = max(abs(side - sides[0]) for side in sides)
        if far > size * mpf(10) ** -12 and size > mpf(10) ** -20:
            raise UnknownError  # the two sides differ: a kink
        total = sides[0] + sides[1]
        # Of an odd derivative at 0 only last digits remain.
        return total / 2 if abs(total) > size * mpf(10) ** -50 else mpf(0)

    def _one_sided(self, x, orders, side):
        least = min([1, *[abs(v) for v in x if v]])
        steps = [side * least * mpf(10) ** (-25 if v else -55) for v in x]
        weights = [((1,), (-1, 1), (1, -2, 1))[n] for n in orders]
        values, terms = [], []
        for at in itertools.product(*[range(len(w)) for w in weights]):
            weight = mp.fprod([w[i] for w, i in zip(weights, at, strict=True)])
            moved = [v + s * i for v, s, i in zip(x, steps, at, strict=True)]
            values.append(self.value(*moved))
            terms.append(weight * values[-1])
        total = mp.fsum(terms)
        # Their last digits: of the terms, and of the places, which are rounded too.
        spread = max(abs(v - values[0]) for v in values)
        noise = max(max(map(abs, terms)), spread * mpf(10) ** 25)
        if abs(total) < noise * mpf(10) ** (10 - mp.dps):
            return mpf(0)
        for s, n in zip(steps, orders, strict=True):
            total /= s**n
        return total
