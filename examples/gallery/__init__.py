"""Short scientific programs, each a page of the documentation.

`python -m examples.gallery.n_body` runs one.

- `gaussian_process`: a fit of a sine, with uncertainty
- `hamiltonian_monte_carlo`: samples of a normal distribution
- `heat_equation`: a solution in Fourier space, and its source
- `kalman_filter`: positions and speeds from noisy positions
- `n_body`: bodies that attract each other
- `option_pricing`: a simulated price and its derivatives
"""
