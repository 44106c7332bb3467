"""Option pricing: a Monte Carlo price and its derivatives, and those of Black and Scholes.

The price is the mean payoff of a call over simulated ends of a geometric Brownian motion.
Its derivatives by the spot and the volatility come from the same program.
"""

import math

import imprint
import imprint.numpy as np
from imprint import random
from imprint.scipy.stats import norm


@imprint.jit
def simulated(spot, volatility, strike=100.0, rate=0.03, years=1.0):
    """Return the mean discounted payoff of a call over many paths."""
    draws = random.normal(random.key(0), (200_000,))
    drift = (rate - 0.5 * volatility**2) * years
    end = spot * np.exp(drift + volatility * math.sqrt(years) * draws)
    return math.exp(-rate * years) * np.maximum(end - strike, 0.0).mean()


@imprint.jit
def exact(spot, volatility, strike=100.0, rate=0.03, years=1.0):
    """Return the price of Black and Scholes."""
    width = volatility * math.sqrt(years)
    high = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / width
    discount = math.exp(-rate * years)
    return spot * norm.cdf(high) - strike * discount * norm.cdf(high - width)


def main():
    """Compare prices, and derivatives by the spot (delta) and the volatility (vega)."""
    found = {}
    for name, price in (("simulated", simulated), ("exact", exact)):
        value, (delta, vega) = imprint.value_and_grad(price, argnums=(0, 1))(105.0, 0.2)
        print(
            f"{name:9} {float(value):7.3f}, delta {float(delta):.3f}, vega {float(vega):.2f}"
        )
        found[name] = value, delta, vega
    return found


if __name__ == "__main__":
    main()
