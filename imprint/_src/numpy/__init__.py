"""Implementation of `imprint.numpy`.

- `lazy_names`: the file of each public name
- `promotion`: promotion of operands to one dtype and one shape
- `creation`: arrays from values, and filled arrays
- `ranges`: evenly spaced numbers and grids
- `matrices`: matrices by a pattern, and diagonals
- `datatypes`: names of dtypes, and queries about dtypes and shapes
- `inspection`: the inspection functions of the array API standard
- `interpolation`: linear interpolation
- `linear`: products of vectors and matrices
- `einsum`: Einstein summation
- `vectorize`: functions of few axes applied to arrays of many
- `polynomials`: sums, derivatives and values of polynomials
- `polynomial_factors`: products, quotients, roots and fits of polynomials
- `linalg`: linear algebra
- `fft`: discrete Fourier transforms
- `io`: arrays from and to files, bytes and text
- `convolving`: convolution and correlation of vectors
- `windows`: windows of signals, and `i0`
- `array_function`: NumPy's own functions and ufuncs on arrays and tracers
- `elementwise`: elementwise functions
- `indexing`: reads and writes by index
- `reductions`: sums, statistics and differences along axes
- `shapes`: reshaping, joining and padding
- `sorting`: sorting, searching and sets
"""
