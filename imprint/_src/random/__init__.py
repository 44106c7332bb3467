"""Implementation of `imprint.random`.

- `keys`: creation, splitting and folding of keys
- `key_array`: arrays of keys, and the implementations of generators
- `threefry`: the threefry hash, traced and on the host
- `rbg`: generators by XLA's own bit generator
- `streams`: dispatch on the implementation of a key
- `arguments`: checks and conversion of samplers' arguments
- `intervals`: uniform bits, floats and integers
- `continuous`: continuous distributions by one transform of uniform draws
- `derived`: distributions with parameters, derived from these
- `permuting`: permutations and choices
- `discrete`: categorical, Bernoulli and Rademacher draws
- `gammas`: gamma draws by rejection, and their relatives
- `counts`: binomial and Poisson draws
- `multivariate`: normal vectors and orthogonal matrices
- `loops`: loops of samplers
"""
