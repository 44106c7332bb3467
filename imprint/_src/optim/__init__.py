"""Implementation of `imprint.optim`.

- `base`: what is a gradient transformation?
- `optimizers`: which whole optimizers are there?
- `transforms`: of which parts is an optimizer chained?
- `moments`: which parts follow averages of gradients?
- `schedules`: how does a step size change with the steps taken?
- `inject`: how is a hyperparameter changed between steps?
"""
