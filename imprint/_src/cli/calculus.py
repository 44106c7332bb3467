"""The tour's programs with random numbers and derivatives.

Random numbers are JAX's, bit for bit, in both of its streams. Derivatives are functions
made of functions, so every order of transforms gives the same numbers.
"""

import imprint
import imprint.numpy as np
from imprint import Array, random
from imprint._src.cli.example import prints


@prints("""
    [ 1.7037742   2.1265278  -0.616925   -0.13257582  0.18489543 -1.0901651
     -0.68493664  0.5190975   0.69756675 -1.0754603 ]
    [-0.5448514   0.2774427  -0.29255113 -0.91421574 -0.6245251  -0.24748121
     -0.85743254 -0.7823266   0.7682733   0.59566766]
""")
def selu_of_random_numbers() -> None:
    """Draw the random numbers of JAX, in its new stream and in its old one."""

    @imprint.jit
    def selu(x: Array, alpha: float = 1.67, lambda_: float = 1.05) -> Array:
        return lambda_ * np.where(x > 0, x, alpha * np.exp(x) - alpha)

    print(selu(random.normal(random.key(0), (10,))))
    with imprint.threefry_partitionable(False):
        print(selu(random.normal(random.key(0), (10,))))


@prints("""
    slope of tanh at 0.5: 0.786...
    the same, compiled, for three values: [0.786... 0.419... 0.180...]
    curvature, in any order: [-0.726... -0.639... -0.327...]
    curvature, in any order: [-0.726... -0.639... -0.327...]
    { lambda ; a:f32[]. let
        b:f32[] = tanh a
    ...
      in (...,) }
""")
def derivatives() -> None:
    """Differentiate, map and compile functions, in any order."""
    slope = imprint.grad(np.tanh)
    x = np.array([0.5, 1.0, 1.5])
    print("slope of tanh at 0.5:", slope(0.5))
    print("the same, compiled, for three values:", imprint.jit(imprint.vmap(slope))(x))
    for curvature in (
        imprint.vmap(imprint.jit(imprint.grad(slope))),
        imprint.jit(imprint.vmap(imprint.grad(imprint.jit(slope)))),
    ):
        print("curvature, in any order:", curvature(x))
    print(imprint.make_jaxpr(slope)(0.5))


CHAPTERS = {"Random numbers and derivatives": (selu_of_random_numbers, derivatives)}
