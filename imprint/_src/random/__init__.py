"""Implementation of `imprint.random`.

- `keys`: how is a key made, split and folded?
- `key_array`: what is an array of keys?
- `threefry`: which hash makes bits of a key, in a traced program?
- `host`: how is the same hash computed without compiling?
- `implementations`: in which ways do keys make bits?
- `rbg`: how does the engine's own generator make them?
- `streams`: which of these makes the bits of a key?
- `arguments`: what may a sampler be given?
- `intervals`: how are bits, floats and integers of an interval drawn?
- `continuous`: how are they bent to the other continuous distributions?
- `derived`: how are draws with parameters made of these?
- `permuting`: how is drawn from what is there?
- `discrete`: how are choices, signs and yes or no drawn?
- `gammas`: how are gamma draws refused until one is accepted, and what is made of them?
- `counts`: how are numbers of events drawn?
- `matrices`: how are orthogonal matrices drawn?
- `multivariate`: how are vectors of a mean and a covariance drawn?
- `loops`: how does a draw repeat?
"""
