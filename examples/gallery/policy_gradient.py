"""Policy gradient: REINFORCE finds the shortest way over a grid.

A step costs 1 until the goal is reached, and the wind blows one row down with a chance of
10 %. Episodes are a `scan`, `vmap` runs many, and the gradient of the log-probabilities is
weighted by the return that follows each step (Williams, 1992), less its mean.
"""

import imprint
import imprint.numpy as np
from imprint import lax, nn, optim, random

SIDE, LENGTH, EPISODES = 5, 24, 128
GOAL = np.array([SIDE - 1, SIDE - 1])
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])
OPTIMIZER = optim.adam(0.1)


def walk(logits, place, keys):
    """Return the log-probabilities of an episode's moves, and their rewards."""

    def move(place, key):
        choice, wind = random.split(key)
        scores = nn.log_softmax(logits[tuple(place)])
        action = random.categorical(choice, scores)
        is_over = (place == GOAL).all()
        blown = np.array([1, 0]) * random.bernoulli(wind, 0.1)
        new = np.clip(place + MOVES[action] + blown, 0, SIDE - 1)
        chosen = np.where(is_over, 0.0, scores[action])
        return np.where(is_over, place, new), (chosen, np.where(is_over, 0.0, -1.0))

    return lax.scan(move, place, keys)[1]


def surrogate(logits, key):
    """Return a number whose gradient is the policy gradient, and the mean return."""
    keys = random.split(key, (EPISODES, LENGTH))
    start = np.zeros(2, int)
    log_chances, rewards = imprint.vmap(walk, in_axes=(None, None, 0))(
        logits, start, keys
    )
    ahead = np.cumsum(rewards[:, ::-1], axis=1)[:, ::-1]
    advantage = lax.stop_gradient(ahead - ahead.mean(axis=0))
    return -(log_chances * advantage).sum(axis=1).mean(), ahead[:, 0].mean()


@imprint.jit
def learn(logits, keys):
    """Return the logits after a step for each key, and the mean return of each."""

    def step(state, key):
        logits, memory = state
        slope, reached = imprint.grad(surrogate, has_aux=True)(logits, key)
        updates, memory = OPTIMIZER.update(slope, memory)
        return (optim.apply_updates(logits, updates), memory), reached

    (logits, _), reached = lax.scan(step, (logits, OPTIMIZER.init(logits)), keys)
    return logits, reached


def main():
    """Learn, and return the mean return of each step and the policy."""
    logits = np.zeros((SIDE, SIDE, len(MOVES)))
    logits, reached = learn(logits, random.split(random.key(0), 100))
    for i in range(0, 100, 20):
        print(f"step {i}: {-float(reached[i]):.1f} moves")
    print(f"at the end: {-float(reached[-10:].mean()):.1f} moves")
    return reached, logits


def plot(figure, found):
    """Draw the moves that an episode takes, and the likeliest move of each place."""
    reached, logits = found
    learning, policy = figure.subplots(1, 2)
    learning.plot(-reached)
    learning.set(xlabel="step", ylabel="moves")
    down, right = np.moveaxis(MOVES[logits.argmax(-1)], -1, 0)
    policy.quiver(right, -down)
    policy.invert_yaxis()


if __name__ == "__main__":
    main()
