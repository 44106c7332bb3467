"""Short programs, each a page of the documentation.

`python -m examples.gallery n_body` runs one.

- `__main__`: the command `python -m examples.gallery`
- `adaptive_ode`: foxes and rabbits, with steps as long as a tolerance allows
- `gaussian_process`: a fit of a sine, with uncertainty
- `hamiltonian_monte_carlo`: samples of a normal distribution
- `heat_equation`: a solution in Fourier space, and its source
- `image_filters`: edges, a median, and a blurred image made sharp
- `kalman_filter`: positions and speeds from noisy positions
- `mlp`: a classifier of points
- `n_body`: bodies that attract each other
- `option_pricing`: a simulated price and its derivatives
- `plain_numpy`: a reaction of two substances, in NumPy's words
- `policy_gradient`: the shortest way over a grid
- `transformer`: a layer of attention that learns to look back
- `variational_autoencoder`: images described by two numbers
"""
