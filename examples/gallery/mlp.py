"""MLP: a classifier of points on three spiral arms, as a module that an optimizer trains.

The model is a tree of arrays and functions. It takes one point; `vmap` gives it a batch,
and `filter_jit` compiles the training step once.
"""

import imprint
import imprint.numpy as np
from imprint import nn, optim, random


class Classifier(imprint.Module):
    """A function from a point to a logit for each class."""

    layers: list

    def __init__(self, sizes, key):
        keys = random.split(key, len(sizes) - 1)
        ends = zip(sizes[:-1], sizes[1:], keys, strict=True)
        self.layers = [nn.Linear(m, n, key=key) for m, n, key in ends]

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = nn.tanh(layer(x))
        return self.layers[-1](x)


def spirals(key, count):
    """Return points of three noisy arms, and the arm of each."""
    arm, along, noise = random.split(key, 3)
    label = random.randint(arm, (count,), 0, 3)
    radius = np.sqrt(random.uniform(along, (count,)))
    angle = 5 * radius + 2 * np.pi / 3 * label
    points = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return points + 0.02 * random.normal(noise, points.shape), label


def loss(model, points, label):
    """Return the mean cross-entropy."""
    logits = imprint.vmap(model)(points)
    truth = nn.one_hot(label, logits.shape[-1])
    return -(truth * nn.log_softmax(logits)).sum(-1).mean()


@imprint.filter_jit(donate="all")
def step(model, state, points, label):
    value, gradient = imprint.filter_value_and_grad(loss)(model, points, label)
    updates, state = OPTIMIZER.update(gradient, state)
    return optim.apply_updates(model, updates), state, value


OPTIMIZER = optim.adam(optim.cosine_decay_schedule(0.02, decay_steps=300))


@imprint.filter_jit
def classes(model, points):
    return imprint.vmap(model)(points).argmax(axis=-1)


def main():
    """Train on 512 points, and classify as many others."""
    model = Classifier([2, 32, 32, 3], random.key(0))
    state = OPTIMIZER.init(imprint.filter(model, imprint.is_array))
    learnt, others = spirals(random.key(1), 512), spirals(random.key(2), 512)
    for i in range(300):
        model, state, value = step(model, state, *learnt)
        if i % 50 == 0:
            print(f"step {i}: loss {float(value):.3f}")
    points, label = others
    right = (classes(model, points) == label).mean()
    print(f"{float(right):.1%} of new points are on the right arm")
    return model, others, right


def plot(figure, found):
    """Draw the regions of the classes, and the new points."""
    model, (points, label), _ = found
    x = np.linspace(-1.1, 1.1, 200)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    axes = figure.subplots()
    axes.pcolormesh(x, x, classes(model, grid).reshape(200, 200), alpha=0.3)
    axes.scatter(*points.T, c=label, s=8)
    axes.set_aspect("equal")


if __name__ == "__main__":
    main()
