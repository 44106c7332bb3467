"""NumPy's functions on arrays and tracers, with JAX's dtypes: `import imprint.numpy as np`.

The names are re-exported one by one; each file of the package is one subject. Importing
it gives operators on arrays (`x + y`, `x.sum()`, `x[0]`) their meaning, which are these
functions. Dtypes are 32 bits wide unless `enable_x64`; numbers of Python are weak: they
take the dtype of the array beside them.

- `contents`: which file holds which name?
- `promotion`: how do operands come to one dtype and one shape?
- `arithmetic`: what do `+ - * / // %` and their relatives give?
- `exponential`: what are exponentials, logarithms, powers and roots?
- `trigonometric`: what are the functions of angles, and the hyperbolic ones?
- `rounding`: how are numbers rounded and taken to parts?
- `comparison`: how do numbers compare, and what are they?
- `bitwise`: what happens to the bits of integers?
- `selection`: how are elements chosen by a condition?
- `creation`: how are arrays made from values, or filled with one?
- `ranges`: how are evenly spaced numbers and grids made?
- `matrices`: how are matrices made by a pattern, and diagonals taken?
- `datatypes`: which names do dtypes have, and what is known of an array's?
- `shaping`: how does an array get another shape with the same elements?
- `joining`: how do several arrays become one?
- `keys`: how do functions that only move elements take arrays of keys?
- `padding`: how does an array get larger at its ends?
- `lengthening`: how has an array memory for more elements than it has?
- `indexing`: what does `x[...]` take?
- `advanced`: which gather or scatter is an index by arrays?
- `taking`: which elements have these indices, and which indices have these?
- `keeping`: which elements do values choose?
- `editing`: how do elements come into an array, and out of it?
- `updating`: what does `x.at[...]` return?
- `inspection`: what can a program ask of an array library?
- `searching`: where are the extremes?
- `sorting`: how do elements come in order?
- `arranging`: what is in order by several keys, or in part?
- `placing`: where do elements belong in what is in order?
- `quantiles`: what lies in the middle, or above a part of the elements?
- `histograms`: how many elements are where?
- `interpolation`: what is between the places where a function is known?
- `distinct`: which elements are there?
- `membership`: which elements are among others?
- `sets`: what have two arrays in common?
- `trimming`: where do zeros end?
- `reductions`: what is the sum, product or extreme along axes?
- `counted`: how does one roll or repeat by numbers that a program works out?
- `cumulative`: what are the running sums and products?
- `statistics`: what are mean, variance and their relatives?
- `covariance`: how do variables vary together?
- `differences`: what are differences, slopes and areas along an axis?
- `linear`: what are the products of vectors and matrices?
- `einstein`: how is a sum over subscripts computed?
- `mapping`: how are functions of few axes applied to arrays of many?
- `polynomials`: what is done with vectors of coefficients?
- `polynomial_factors`: what are products, quotients and roots of polynomials?
- `positions`: where are diagonals, triangles and flat indices?
- `grids`: what do `mgrid[...]` and `r_[...]` make of slices?
- `packing`: how do bits become elements, and back?
- `exponents`: of which parts are floats?
- `printing`: how are arrays shown?
- `linalg`: how are systems solved, and matrices factored and measured?
- `fft`: how are arrays transformed to frequencies and back?
- `files`: how are arrays read, and written?
- `convolving`: how are signals convolved and correlated?
- `divisors`: what divides integers, and what is a multiple of them?
- `bessel`: which window is made of a Bessel function?
- `windows`: which windows do signals have?
- `subscripts`: what do the subscripts of einsum say?
- `views`: what are the bits of an array as another dtype?
- `universal`: which functions have methods, such as `add.reduce`?
- `universal_methods`: what do these methods compute?
- `of_numpy`: what do NumPy's own functions give of arrays and tracers?
"""

import sys
import typing

from imprint._src.bootstrap import lazy_attributes
from imprint._src.core import hooks
from imprint._src.core.array import Array as Array
from imprint.numpy.contents import LATER as _LATER

if typing.TYPE_CHECKING:
    from imprint.numpy import fft as fft
    from imprint.numpy import linalg as linalg
    from imprint.numpy import universal_methods as universal_methods
    from imprint.numpy.advanced import take_at as take_at
    from imprint.numpy.arithmetic import abs as abs
    from imprint.numpy.arithmetic import absolute as absolute
    from imprint.numpy.arithmetic import add as add
    from imprint.numpy.arithmetic import divide as divide
    from imprint.numpy.arithmetic import divmod as divmod
    from imprint.numpy.arithmetic import fabs as fabs
    from imprint.numpy.arithmetic import floor_divide as floor_divide
    from imprint.numpy.arithmetic import fmod as fmod
    from imprint.numpy.arithmetic import maximum as maximum
    from imprint.numpy.arithmetic import minimum as minimum
    from imprint.numpy.arithmetic import mod as mod
    from imprint.numpy.arithmetic import multiply as multiply
    from imprint.numpy.arithmetic import negative as negative
    from imprint.numpy.arithmetic import nextafter as nextafter
    from imprint.numpy.arithmetic import positive as positive
    from imprint.numpy.arithmetic import reciprocal as reciprocal
    from imprint.numpy.arithmetic import remainder as remainder
    from imprint.numpy.arithmetic import sign as sign
    from imprint.numpy.arithmetic import square as square
    from imprint.numpy.arithmetic import subtract as subtract
    from imprint.numpy.arithmetic import true_divide as true_divide
    from imprint.numpy.arranging import argpartition as argpartition
    from imprint.numpy.arranging import lexsort as lexsort
    from imprint.numpy.arranging import partition as partition
    from imprint.numpy.bessel import i0 as i0
    from imprint.numpy.bessel import kaiser as kaiser
    from imprint.numpy.bitwise import bitwise_and as bitwise_and
    from imprint.numpy.bitwise import bitwise_count as bitwise_count
    from imprint.numpy.bitwise import bitwise_invert as bitwise_invert
    from imprint.numpy.bitwise import bitwise_left_shift as bitwise_left_shift
    from imprint.numpy.bitwise import bitwise_not as bitwise_not
    from imprint.numpy.bitwise import bitwise_or as bitwise_or
    from imprint.numpy.bitwise import bitwise_right_shift as bitwise_right_shift
    from imprint.numpy.bitwise import bitwise_xor as bitwise_xor
    from imprint.numpy.bitwise import invert as invert
    from imprint.numpy.bitwise import left_shift as left_shift
    from imprint.numpy.bitwise import right_shift as right_shift
    from imprint.numpy.comparison import allclose as allclose
    from imprint.numpy.comparison import array_equal as array_equal
    from imprint.numpy.comparison import array_equiv as array_equiv
    from imprint.numpy.comparison import copysign as copysign
    from imprint.numpy.comparison import equal as equal
    from imprint.numpy.comparison import fmax as fmax
    from imprint.numpy.comparison import fmin as fmin
    from imprint.numpy.comparison import greater as greater
    from imprint.numpy.comparison import greater_equal as greater_equal
    from imprint.numpy.comparison import heaviside as heaviside
    from imprint.numpy.comparison import isclose as isclose
    from imprint.numpy.comparison import iscomplex as iscomplex
    from imprint.numpy.comparison import isfinite as isfinite
    from imprint.numpy.comparison import isinf as isinf
    from imprint.numpy.comparison import isnan as isnan
    from imprint.numpy.comparison import isneginf as isneginf
    from imprint.numpy.comparison import isposinf as isposinf
    from imprint.numpy.comparison import isreal as isreal
    from imprint.numpy.comparison import less as less
    from imprint.numpy.comparison import less_equal as less_equal
    from imprint.numpy.comparison import logical_and as logical_and
    from imprint.numpy.comparison import logical_not as logical_not
    from imprint.numpy.comparison import logical_or as logical_or
    from imprint.numpy.comparison import logical_xor as logical_xor
    from imprint.numpy.comparison import not_equal as not_equal
    from imprint.numpy.comparison import signbit as signbit
    from imprint.numpy.convolving import convolve as convolve
    from imprint.numpy.convolving import correlate as correlate
    from imprint.numpy.covariance import corrcoef as corrcoef
    from imprint.numpy.covariance import cov as cov
    from imprint.numpy.creation import array as array
    from imprint.numpy.creation import asarray as asarray
    from imprint.numpy.creation import copy as copy
    from imprint.numpy.creation import empty as empty
    from imprint.numpy.creation import empty_like as empty_like
    from imprint.numpy.creation import from_dlpack as from_dlpack
    from imprint.numpy.creation import full as full
    from imprint.numpy.creation import full_like as full_like
    from imprint.numpy.creation import ones as ones
    from imprint.numpy.creation import ones_like as ones_like
    from imprint.numpy.creation import zeros as zeros
    from imprint.numpy.creation import zeros_like as zeros_like
    from imprint.numpy.cumulative import cumprod as cumprod
    from imprint.numpy.cumulative import cumsum as cumsum
    from imprint.numpy.cumulative import cumulative_prod as cumulative_prod
    from imprint.numpy.cumulative import cumulative_sum as cumulative_sum
    from imprint.numpy.cumulative import nancumprod as nancumprod
    from imprint.numpy.cumulative import nancumsum as nancumsum
    from imprint.numpy.datatypes import ComplexWarning as ComplexWarning
    from imprint.numpy.datatypes import astype as astype
    from imprint.numpy.datatypes import bfloat16 as bfloat16
    from imprint.numpy.datatypes import bool_ as bool_
    from imprint.numpy.datatypes import can_cast as can_cast
    from imprint.numpy.datatypes import cdouble as cdouble
    from imprint.numpy.datatypes import character as character
    from imprint.numpy.datatypes import complex64 as complex64
    from imprint.numpy.datatypes import complex128 as complex128
    from imprint.numpy.datatypes import complex_ as complex_
    from imprint.numpy.datatypes import complexfloating as complexfloating
    from imprint.numpy.datatypes import csingle as csingle
    from imprint.numpy.datatypes import double as double
    from imprint.numpy.datatypes import dtype as dtype
    from imprint.numpy.datatypes import e as e
    from imprint.numpy.datatypes import euler_gamma as euler_gamma
    from imprint.numpy.datatypes import finfo as finfo
    from imprint.numpy.datatypes import flexible as flexible
    from imprint.numpy.datatypes import float4_e2m1fn as float4_e2m1fn
    from imprint.numpy.datatypes import float6_e2m3fn as float6_e2m3fn
    from imprint.numpy.datatypes import float6_e3m2fn as float6_e3m2fn
    from imprint.numpy.datatypes import float8_e3m4 as float8_e3m4
    from imprint.numpy.datatypes import float8_e4m3 as float8_e4m3
    from imprint.numpy.datatypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
    from imprint.numpy.datatypes import float8_e4m3fn as float8_e4m3fn
    from imprint.numpy.datatypes import float8_e4m3fnuz as float8_e4m3fnuz
    from imprint.numpy.datatypes import float8_e5m2 as float8_e5m2
    from imprint.numpy.datatypes import float8_e5m2fnuz as float8_e5m2fnuz
    from imprint.numpy.datatypes import float8_e8m0fnu as float8_e8m0fnu
    from imprint.numpy.datatypes import float16 as float16
    from imprint.numpy.datatypes import float32 as float32
    from imprint.numpy.datatypes import float64 as float64
    from imprint.numpy.datatypes import float_ as float_
    from imprint.numpy.datatypes import floating as floating
    from imprint.numpy.datatypes import generic as generic
    from imprint.numpy.datatypes import half as half
    from imprint.numpy.datatypes import iinfo as iinfo
    from imprint.numpy.datatypes import inexact as inexact
    from imprint.numpy.datatypes import inf as inf
    from imprint.numpy.datatypes import int2 as int2
    from imprint.numpy.datatypes import int4 as int4
    from imprint.numpy.datatypes import int8 as int8
    from imprint.numpy.datatypes import int16 as int16
    from imprint.numpy.datatypes import int32 as int32
    from imprint.numpy.datatypes import int64 as int64
    from imprint.numpy.datatypes import int_ as int_
    from imprint.numpy.datatypes import integer as integer
    from imprint.numpy.datatypes import iscomplexobj as iscomplexobj
    from imprint.numpy.datatypes import isdtype as isdtype
    from imprint.numpy.datatypes import isrealobj as isrealobj
    from imprint.numpy.datatypes import isscalar as isscalar
    from imprint.numpy.datatypes import issubdtype as issubdtype
    from imprint.numpy.datatypes import nan as nan
    from imprint.numpy.datatypes import ndarray as ndarray
    from imprint.numpy.datatypes import ndim as ndim
    from imprint.numpy.datatypes import newaxis as newaxis
    from imprint.numpy.datatypes import number as number
    from imprint.numpy.datatypes import object_ as object_
    from imprint.numpy.datatypes import pi as pi
    from imprint.numpy.datatypes import promote_types as promote_types
    from imprint.numpy.datatypes import result_type as result_type
    from imprint.numpy.datatypes import shape as shape
    from imprint.numpy.datatypes import signedinteger as signedinteger
    from imprint.numpy.datatypes import single as single
    from imprint.numpy.datatypes import size as size
    from imprint.numpy.datatypes import uint as uint
    from imprint.numpy.datatypes import uint2 as uint2
    from imprint.numpy.datatypes import uint4 as uint4
    from imprint.numpy.datatypes import uint8 as uint8
    from imprint.numpy.datatypes import uint16 as uint16
    from imprint.numpy.datatypes import uint32 as uint32
    from imprint.numpy.datatypes import uint64 as uint64
    from imprint.numpy.datatypes import unsignedinteger as unsignedinteger
    from imprint.numpy.differences import diff as diff
    from imprint.numpy.differences import ediff1d as ediff1d
    from imprint.numpy.differences import gradient as gradient
    from imprint.numpy.differences import trapezoid as trapezoid
    from imprint.numpy.differences import unwrap as unwrap
    from imprint.numpy.distinct import unique as unique
    from imprint.numpy.distinct import unique_all as unique_all
    from imprint.numpy.distinct import unique_counts as unique_counts
    from imprint.numpy.distinct import unique_inverse as unique_inverse
    from imprint.numpy.distinct import unique_values as unique_values
    from imprint.numpy.divisors import gcd as gcd
    from imprint.numpy.divisors import lcm as lcm
    from imprint.numpy.editing import delete as delete
    from imprint.numpy.editing import insert as insert
    from imprint.numpy.editing import place as place
    from imprint.numpy.editing import put as put
    from imprint.numpy.einstein import einsum as einsum
    from imprint.numpy.einstein import einsum_path as einsum_path
    from imprint.numpy.exponential import cbrt as cbrt
    from imprint.numpy.exponential import exp as exp
    from imprint.numpy.exponential import exp2 as exp2
    from imprint.numpy.exponential import expm1 as expm1
    from imprint.numpy.exponential import float_power as float_power
    from imprint.numpy.exponential import log as log
    from imprint.numpy.exponential import log1p as log1p
    from imprint.numpy.exponential import log2 as log2
    from imprint.numpy.exponential import log10 as log10
    from imprint.numpy.exponential import logaddexp as logaddexp
    from imprint.numpy.exponential import logaddexp2 as logaddexp2
    from imprint.numpy.exponential import pow as pow
    from imprint.numpy.exponential import power as power
    from imprint.numpy.exponential import sqrt as sqrt
    from imprint.numpy.exponents import frexp as frexp
    from imprint.numpy.exponents import ldexp as ldexp
    from imprint.numpy.exponents import spacing as spacing
    from imprint.numpy.files import frombuffer as frombuffer
    from imprint.numpy.files import fromfile as fromfile
    from imprint.numpy.files import fromiter as fromiter
    from imprint.numpy.files import fromstring as fromstring
    from imprint.numpy.files import load as load
    from imprint.numpy.files import save as save
    from imprint.numpy.files import savez as savez
    from imprint.numpy.grids import c_ as c_
    from imprint.numpy.grids import mgrid as mgrid
    from imprint.numpy.grids import ogrid as ogrid
    from imprint.numpy.grids import r_ as r_
    from imprint.numpy.histograms import bincount as bincount
    from imprint.numpy.histograms import histogram as histogram
    from imprint.numpy.histograms import histogram2d as histogram2d
    from imprint.numpy.histograms import histogram_bin_edges as histogram_bin_edges
    from imprint.numpy.histograms import histogramdd as histogramdd
    from imprint.numpy.indexing import getitem as getitem
    from imprint.numpy.inspection import __array_api_version__ as __array_api_version__
    from imprint.numpy.inspection import (
        __array_namespace_info__ as __array_namespace_info__,
    )
    from imprint.numpy.inspection import bool as bool
    from imprint.numpy.interpolation import interp as interp
    from imprint.numpy.joining import append as append
    from imprint.numpy.joining import block as block
    from imprint.numpy.joining import column_stack as column_stack
    from imprint.numpy.joining import concat as concat
    from imprint.numpy.joining import concatenate as concatenate
    from imprint.numpy.joining import dstack as dstack
    from imprint.numpy.joining import flip as flip
    from imprint.numpy.joining import fliplr as fliplr
    from imprint.numpy.joining import flipud as flipud
    from imprint.numpy.joining import hstack as hstack
    from imprint.numpy.joining import repeat as repeat
    from imprint.numpy.joining import resize as resize
    from imprint.numpy.joining import roll as roll
    from imprint.numpy.joining import rot90 as rot90
    from imprint.numpy.joining import stack as stack
    from imprint.numpy.joining import tile as tile
    from imprint.numpy.joining import vstack as vstack
    from imprint.numpy.keeping import argwhere as argwhere
    from imprint.numpy.keeping import choose as choose
    from imprint.numpy.keeping import compress as compress
    from imprint.numpy.keeping import extract as extract
    from imprint.numpy.keeping import mask_indices as mask_indices
    from imprint.numpy.lengthening import pad_to as pad_to
    from imprint.numpy.linear import cross as cross
    from imprint.numpy.linear import dot as dot
    from imprint.numpy.linear import inner as inner
    from imprint.numpy.linear import kron as kron
    from imprint.numpy.linear import matmul as matmul
    from imprint.numpy.linear import matvec as matvec
    from imprint.numpy.linear import outer as outer
    from imprint.numpy.linear import tensordot as tensordot
    from imprint.numpy.linear import vdot as vdot
    from imprint.numpy.linear import vecdot as vecdot
    from imprint.numpy.linear import vecmat as vecmat
    from imprint.numpy.mapping import apply_along_axis as apply_along_axis
    from imprint.numpy.mapping import apply_over_axes as apply_over_axes
    from imprint.numpy.mapping import fromfunction as fromfunction
    from imprint.numpy.mapping import vectorize as vectorize
    from imprint.numpy.matrices import diag as diag
    from imprint.numpy.matrices import diagflat as diagflat
    from imprint.numpy.matrices import diagonal as diagonal
    from imprint.numpy.matrices import eye as eye
    from imprint.numpy.matrices import fill_diagonal as fill_diagonal
    from imprint.numpy.matrices import identity as identity
    from imprint.numpy.matrices import trace as trace
    from imprint.numpy.matrices import tri as tri
    from imprint.numpy.matrices import tril as tril
    from imprint.numpy.matrices import triu as triu
    from imprint.numpy.matrices import vander as vander
    from imprint.numpy.membership import isin as isin
    from imprint.numpy.of_numpy import numpy_function as numpy_function
    from imprint.numpy.of_numpy import numpy_ufunc as numpy_ufunc
    from imprint.numpy.packing import packbits as packbits
    from imprint.numpy.packing import unpackbits as unpackbits
    from imprint.numpy.padding import pad as pad
    from imprint.numpy.placing import digitize as digitize
    from imprint.numpy.placing import searchsorted as searchsorted
    from imprint.numpy.polynomial_factors import poly as poly
    from imprint.numpy.polynomial_factors import polydiv as polydiv
    from imprint.numpy.polynomial_factors import polyfit as polyfit
    from imprint.numpy.polynomial_factors import polymul as polymul
    from imprint.numpy.polynomial_factors import roots as roots
    from imprint.numpy.polynomials import polyadd as polyadd
    from imprint.numpy.polynomials import polyder as polyder
    from imprint.numpy.polynomials import polyint as polyint
    from imprint.numpy.polynomials import polysub as polysub
    from imprint.numpy.polynomials import polyval as polyval
    from imprint.numpy.positions import diag_indices as diag_indices
    from imprint.numpy.positions import diag_indices_from as diag_indices_from
    from imprint.numpy.positions import index_exp as index_exp
    from imprint.numpy.positions import ix_ as ix_
    from imprint.numpy.positions import ravel_multi_index as ravel_multi_index
    from imprint.numpy.positions import s_ as s_
    from imprint.numpy.positions import tril_indices as tril_indices
    from imprint.numpy.positions import tril_indices_from as tril_indices_from
    from imprint.numpy.positions import triu_indices as triu_indices
    from imprint.numpy.positions import triu_indices_from as triu_indices_from
    from imprint.numpy.positions import unravel_index as unravel_index
    from imprint.numpy.printing import array_repr as array_repr
    from imprint.numpy.printing import array_str as array_str
    from imprint.numpy.printing import get_printoptions as get_printoptions
    from imprint.numpy.printing import iterable as iterable
    from imprint.numpy.printing import printoptions as printoptions
    from imprint.numpy.printing import set_printoptions as set_printoptions
    from imprint.numpy.quantiles import median as median
    from imprint.numpy.quantiles import minmax as minmax
    from imprint.numpy.quantiles import nanmedian as nanmedian
    from imprint.numpy.quantiles import nanpercentile as nanpercentile
    from imprint.numpy.quantiles import nanquantile as nanquantile
    from imprint.numpy.quantiles import percentile as percentile
    from imprint.numpy.quantiles import quantile as quantile
    from imprint.numpy.ranges import arange as arange
    from imprint.numpy.ranges import geomspace as geomspace
    from imprint.numpy.ranges import indices as indices
    from imprint.numpy.ranges import linspace as linspace
    from imprint.numpy.ranges import logspace as logspace
    from imprint.numpy.ranges import meshgrid as meshgrid
    from imprint.numpy.reductions import all as all
    from imprint.numpy.reductions import amax as amax
    from imprint.numpy.reductions import amin as amin
    from imprint.numpy.reductions import any as any
    from imprint.numpy.reductions import count_nonzero as count_nonzero
    from imprint.numpy.reductions import max as max
    from imprint.numpy.reductions import min as min
    from imprint.numpy.reductions import nanmax as nanmax
    from imprint.numpy.reductions import nanmin as nanmin
    from imprint.numpy.reductions import nanprod as nanprod
    from imprint.numpy.reductions import nansum as nansum
    from imprint.numpy.reductions import prod as prod
    from imprint.numpy.reductions import ptp as ptp
    from imprint.numpy.reductions import sum as sum
    from imprint.numpy.rounding import around as around
    from imprint.numpy.rounding import ceil as ceil
    from imprint.numpy.rounding import conj as conj
    from imprint.numpy.rounding import conjugate as conjugate
    from imprint.numpy.rounding import fix as fix
    from imprint.numpy.rounding import floor as floor
    from imprint.numpy.rounding import imag as imag
    from imprint.numpy.rounding import modf as modf
    from imprint.numpy.rounding import real as real
    from imprint.numpy.rounding import rint as rint
    from imprint.numpy.rounding import round as round
    from imprint.numpy.rounding import trunc as trunc
    from imprint.numpy.searching import argmax as argmax
    from imprint.numpy.searching import argmin as argmin
    from imprint.numpy.searching import nanargmax as nanargmax
    from imprint.numpy.searching import nanargmin as nanargmin
    from imprint.numpy.selection import clip as clip
    from imprint.numpy.selection import nan_to_num as nan_to_num
    from imprint.numpy.selection import piecewise as piecewise
    from imprint.numpy.selection import select as select
    from imprint.numpy.selection import where as where
    from imprint.numpy.sets import intersect1d as intersect1d
    from imprint.numpy.sets import setdiff1d as setdiff1d
    from imprint.numpy.sets import setxor1d as setxor1d
    from imprint.numpy.sets import union1d as union1d
    from imprint.numpy.shaping import array_split as array_split
    from imprint.numpy.shaping import atleast_1d as atleast_1d
    from imprint.numpy.shaping import atleast_2d as atleast_2d
    from imprint.numpy.shaping import atleast_3d as atleast_3d
    from imprint.numpy.shaping import broadcast_arrays as broadcast_arrays
    from imprint.numpy.shaping import broadcast_shapes as broadcast_shapes
    from imprint.numpy.shaping import broadcast_to as broadcast_to
    from imprint.numpy.shaping import dsplit as dsplit
    from imprint.numpy.shaping import expand_dims as expand_dims
    from imprint.numpy.shaping import hsplit as hsplit
    from imprint.numpy.shaping import matrix_transpose as matrix_transpose
    from imprint.numpy.shaping import moveaxis as moveaxis
    from imprint.numpy.shaping import permute_dims as permute_dims
    from imprint.numpy.shaping import ravel as ravel
    from imprint.numpy.shaping import reshape as reshape
    from imprint.numpy.shaping import rollaxis as rollaxis
    from imprint.numpy.shaping import split as split
    from imprint.numpy.shaping import squeeze as squeeze
    from imprint.numpy.shaping import swapaxes as swapaxes
    from imprint.numpy.shaping import transpose as transpose
    from imprint.numpy.shaping import unstack as unstack
    from imprint.numpy.shaping import vsplit as vsplit
    from imprint.numpy.sorting import argsort as argsort
    from imprint.numpy.sorting import sort as sort
    from imprint.numpy.sorting import sort_complex as sort_complex
    from imprint.numpy.sorting import top_k as top_k
    from imprint.numpy.statistics import average as average
    from imprint.numpy.statistics import mean as mean
    from imprint.numpy.statistics import nanmean as nanmean
    from imprint.numpy.statistics import nanstd as nanstd
    from imprint.numpy.statistics import nanvar as nanvar
    from imprint.numpy.statistics import std as std
    from imprint.numpy.statistics import var as var
    from imprint.numpy.taking import flatnonzero as flatnonzero
    from imprint.numpy.taking import nonzero as nonzero
    from imprint.numpy.taking import places_of as places_of
    from imprint.numpy.taking import put_along_axis as put_along_axis
    from imprint.numpy.taking import take as take
    from imprint.numpy.taking import take_along_axis as take_along_axis
    from imprint.numpy.trigonometric import acos as acos
    from imprint.numpy.trigonometric import acosh as acosh
    from imprint.numpy.trigonometric import angle as angle
    from imprint.numpy.trigonometric import arccos as arccos
    from imprint.numpy.trigonometric import arccosh as arccosh
    from imprint.numpy.trigonometric import arcsin as arcsin
    from imprint.numpy.trigonometric import arcsinh as arcsinh
    from imprint.numpy.trigonometric import arctan as arctan
    from imprint.numpy.trigonometric import arctan2 as arctan2
    from imprint.numpy.trigonometric import arctanh as arctanh
    from imprint.numpy.trigonometric import asin as asin
    from imprint.numpy.trigonometric import asinh as asinh
    from imprint.numpy.trigonometric import atan as atan
    from imprint.numpy.trigonometric import atan2 as atan2
    from imprint.numpy.trigonometric import atanh as atanh
    from imprint.numpy.trigonometric import cos as cos
    from imprint.numpy.trigonometric import cosh as cosh
    from imprint.numpy.trigonometric import deg2rad as deg2rad
    from imprint.numpy.trigonometric import degrees as degrees
    from imprint.numpy.trigonometric import hypot as hypot
    from imprint.numpy.trigonometric import rad2deg as rad2deg
    from imprint.numpy.trigonometric import radians as radians
    from imprint.numpy.trigonometric import sin as sin
    from imprint.numpy.trigonometric import sinc as sinc
    from imprint.numpy.trigonometric import sinh as sinh
    from imprint.numpy.trigonometric import tan as tan
    from imprint.numpy.trigonometric import tanh as tanh
    from imprint.numpy.trimming import trim_zeros as trim_zeros
    from imprint.numpy.universal import frompyfunc as frompyfunc
    from imprint.numpy.universal import ufunc as ufunc
    from imprint.numpy.updating import At as At
    from imprint.numpy.views import byteswap as byteswap
    from imprint.numpy.views import view as view
    from imprint.numpy.windows import bartlett as bartlett
    from imprint.numpy.windows import blackman as blackman
    from imprint.numpy.windows import hamming as hamming
    from imprint.numpy.windows import hanning as hanning


hooks.install_numpy(sys.modules[__name__])

lazy_attributes.load_later(  # of which methods and protocols ask for what follows
    __name__,
    _LATER,
    but="__array_api_version__ __array_namespace_info__ getitem numpy_function numpy_ufunc view byteswap take_at places_of At "
    "universal_methods",
)
