"""Implementation of `imprint.numpy`.

- `lazy_names`: which file holds which name?
- `promotion`: how do operands come to one dtype and one shape?
- `creation`: how are arrays made from values, or filled with one?
- `ranges`: how are evenly spaced numbers and grids made?
- `matrices`: how are matrices made by a pattern, and diagonals taken?
- `datatypes`: which names do dtypes have, and what is known of an array's?
- `keys`: how do functions that only move elements take arrays of keys?
- `inspection`: what can a program ask of an array library?
- `interpolation`: what is between the places where a function is known?
- `linear`: what are the products of vectors and matrices?
- `einsum`: how is a sum over subscripts computed?
- `vectorize`: how are functions of few axes applied to arrays of many?
- `polynomials`: what is done with vectors of coefficients?
- `polynomial_factors`: what are products, quotients and roots of polynomials?
- `printing`: how are arrays shown?
- `linalg`: how are systems solved, and matrices factored and measured?
- `fft`: how are arrays transformed to frequencies and back?
- `files`: how are arrays read, and written?
- `convolving`: how are signals convolved and correlated?
- `windows`: which windows do signals have?
- `array_function`: what do NumPy's own functions give of arrays and tracers?
- `elementwise`: what do functions of single elements give?
- `indexing`: how are elements read and written by indices?
- `reductions`: what do sums, statistics and differences along axes give?
- `shapes`: how does an array get another shape?
- `sorting`: how do elements come in order, and where are they?
"""
