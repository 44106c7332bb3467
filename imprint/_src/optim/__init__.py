"""Implementation of `imprint.optim`.

- `base`: the gradient transformation, and how to apply its updates
- `optimizers`: complete optimizers
- `transforms`: transformations that optimizers chain
- `moments`: transformations by averages of gradients
- `schedules`: step sizes that depend on the step count
- `inject`: hyperparameters that change between steps
"""
