"""NumPy's functions on arrays and tracers, with JAX's dtypes: `import imprint.numpy as np`.

Dtypes are 32 bits wide unless `enable_x64`. Python numbers are weak: they take the dtype of
the array next to them. The import also implements the operators of arrays (`x + y`,
`x.sum()`, `x[0]`) by these functions.
"""

import sys
import typing

from imprint._src.bootstrap import hooks, lazy_attributes
from imprint._src.core.array import Array as Array
from imprint._src.numpy.lazy_names import LAZY as _LAZY

if typing.TYPE_CHECKING:
    from imprint._src.numpy.array_function import numpy_function as numpy_function
    from imprint._src.numpy.array_function import numpy_ufunc as numpy_ufunc
    from imprint._src.numpy.convolving import convolve as convolve
    from imprint._src.numpy.convolving import correlate as correlate
    from imprint._src.numpy.creation import array as array
    from imprint._src.numpy.creation import asarray as asarray
    from imprint._src.numpy.creation import copy as copy
    from imprint._src.numpy.creation import empty as empty
    from imprint._src.numpy.creation import empty_like as empty_like
    from imprint._src.numpy.creation import from_dlpack as from_dlpack
    from imprint._src.numpy.creation import full as full
    from imprint._src.numpy.creation import full_like as full_like
    from imprint._src.numpy.creation import ones as ones
    from imprint._src.numpy.creation import ones_like as ones_like
    from imprint._src.numpy.creation import zeros as zeros
    from imprint._src.numpy.creation import zeros_like as zeros_like
    from imprint._src.numpy.datatypes import ComplexWarning as ComplexWarning
    from imprint._src.numpy.datatypes import astype as astype
    from imprint._src.numpy.datatypes import bfloat16 as bfloat16
    from imprint._src.numpy.datatypes import bool_ as bool_
    from imprint._src.numpy.datatypes import can_cast as can_cast
    from imprint._src.numpy.datatypes import cdouble as cdouble
    from imprint._src.numpy.datatypes import character as character
    from imprint._src.numpy.datatypes import complex64 as complex64
    from imprint._src.numpy.datatypes import complex128 as complex128
    from imprint._src.numpy.datatypes import complex_ as complex_
    from imprint._src.numpy.datatypes import complexfloating as complexfloating
    from imprint._src.numpy.datatypes import csingle as csingle
    from imprint._src.numpy.datatypes import double as double
    from imprint._src.numpy.datatypes import dtype as dtype
    from imprint._src.numpy.datatypes import e as e
    from imprint._src.numpy.datatypes import euler_gamma as euler_gamma
    from imprint._src.numpy.datatypes import finfo as finfo
    from imprint._src.numpy.datatypes import flexible as flexible
    from imprint._src.numpy.datatypes import float4_e2m1fn as float4_e2m1fn
    from imprint._src.numpy.datatypes import float6_e2m3fn as float6_e2m3fn
    from imprint._src.numpy.datatypes import float6_e3m2fn as float6_e3m2fn
    from imprint._src.numpy.datatypes import float8_e3m4 as float8_e3m4
    from imprint._src.numpy.datatypes import float8_e4m3 as float8_e4m3
    from imprint._src.numpy.datatypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
    from imprint._src.numpy.datatypes import float8_e4m3fn as float8_e4m3fn
    from imprint._src.numpy.datatypes import float8_e4m3fnuz as float8_e4m3fnuz
    from imprint._src.numpy.datatypes import float8_e5m2 as float8_e5m2
    from imprint._src.numpy.datatypes import float8_e5m2fnuz as float8_e5m2fnuz
    from imprint._src.numpy.datatypes import float8_e8m0fnu as float8_e8m0fnu
    from imprint._src.numpy.datatypes import float16 as float16
    from imprint._src.numpy.datatypes import float32 as float32
    from imprint._src.numpy.datatypes import float64 as float64
    from imprint._src.numpy.datatypes import float_ as float_
    from imprint._src.numpy.datatypes import floating as floating
    from imprint._src.numpy.datatypes import generic as generic
    from imprint._src.numpy.datatypes import half as half
    from imprint._src.numpy.datatypes import iinfo as iinfo
    from imprint._src.numpy.datatypes import inexact as inexact
    from imprint._src.numpy.datatypes import inf as inf
    from imprint._src.numpy.datatypes import int2 as int2
    from imprint._src.numpy.datatypes import int4 as int4
    from imprint._src.numpy.datatypes import int8 as int8
    from imprint._src.numpy.datatypes import int16 as int16
    from imprint._src.numpy.datatypes import int32 as int32
    from imprint._src.numpy.datatypes import int64 as int64
    from imprint._src.numpy.datatypes import int_ as int_
    from imprint._src.numpy.datatypes import integer as integer
    from imprint._src.numpy.datatypes import iscomplexobj as iscomplexobj
    from imprint._src.numpy.datatypes import isdtype as isdtype
    from imprint._src.numpy.datatypes import isrealobj as isrealobj
    from imprint._src.numpy.datatypes import isscalar as isscalar
    from imprint._src.numpy.datatypes import issubdtype as issubdtype
    from imprint._src.numpy.datatypes import nan as nan
    from imprint._src.numpy.datatypes import ndarray as ndarray
    from imprint._src.numpy.datatypes import ndim as ndim
    from imprint._src.numpy.datatypes import newaxis as newaxis
    from imprint._src.numpy.datatypes import number as number
    from imprint._src.numpy.datatypes import object_ as object_
    from imprint._src.numpy.datatypes import pi as pi
    from imprint._src.numpy.datatypes import promote_types as promote_types
    from imprint._src.numpy.datatypes import result_type as result_type
    from imprint._src.numpy.datatypes import shape as shape
    from imprint._src.numpy.datatypes import signedinteger as signedinteger
    from imprint._src.numpy.datatypes import single as single
    from imprint._src.numpy.datatypes import size as size
    from imprint._src.numpy.datatypes import uint as uint
    from imprint._src.numpy.datatypes import uint2 as uint2
    from imprint._src.numpy.datatypes import uint4 as uint4
    from imprint._src.numpy.datatypes import uint8 as uint8
    from imprint._src.numpy.datatypes import uint16 as uint16
    from imprint._src.numpy.datatypes import uint32 as uint32
    from imprint._src.numpy.datatypes import uint64 as uint64
    from imprint._src.numpy.datatypes import unsignedinteger as unsignedinteger
    from imprint._src.numpy.einsum import einsum as einsum
    from imprint._src.numpy.einsum import einsum_path as einsum_path
    from imprint._src.numpy.elementwise import ufunc_methods as ufunc_methods
    from imprint._src.numpy.elementwise.arithmetic import abs as abs
    from imprint._src.numpy.elementwise.arithmetic import absolute as absolute
    from imprint._src.numpy.elementwise.arithmetic import add as add
    from imprint._src.numpy.elementwise.arithmetic import divide as divide
    from imprint._src.numpy.elementwise.arithmetic import divmod as divmod
    from imprint._src.numpy.elementwise.arithmetic import fabs as fabs
    from imprint._src.numpy.elementwise.arithmetic import floor_divide as floor_divide
    from imprint._src.numpy.elementwise.arithmetic import fmod as fmod
    from imprint._src.numpy.elementwise.arithmetic import maximum as maximum
    from imprint._src.numpy.elementwise.arithmetic import minimum as minimum
    from imprint._src.numpy.elementwise.arithmetic import mod as mod
    from imprint._src.numpy.elementwise.arithmetic import multiply as multiply
    from imprint._src.numpy.elementwise.arithmetic import negative as negative
    from imprint._src.numpy.elementwise.arithmetic import nextafter as nextafter
    from imprint._src.numpy.elementwise.arithmetic import positive as positive
    from imprint._src.numpy.elementwise.arithmetic import reciprocal as reciprocal
    from imprint._src.numpy.elementwise.arithmetic import remainder as remainder
    from imprint._src.numpy.elementwise.arithmetic import sign as sign
    from imprint._src.numpy.elementwise.arithmetic import square as square
    from imprint._src.numpy.elementwise.arithmetic import subtract as subtract
    from imprint._src.numpy.elementwise.arithmetic import true_divide as true_divide
    from imprint._src.numpy.elementwise.bitwise import bitwise_and as bitwise_and
    from imprint._src.numpy.elementwise.bitwise import bitwise_count as bitwise_count
    from imprint._src.numpy.elementwise.bitwise import bitwise_invert as bitwise_invert
    from imprint._src.numpy.elementwise.bitwise import (
        bitwise_left_shift as bitwise_left_shift,
    )
    from imprint._src.numpy.elementwise.bitwise import bitwise_not as bitwise_not
    from imprint._src.numpy.elementwise.bitwise import bitwise_or as bitwise_or
    from imprint._src.numpy.elementwise.bitwise import (
        bitwise_right_shift as bitwise_right_shift,
    )
    from imprint._src.numpy.elementwise.bitwise import bitwise_xor as bitwise_xor
    from imprint._src.numpy.elementwise.bitwise import invert as invert
    from imprint._src.numpy.elementwise.bitwise import left_shift as left_shift
    from imprint._src.numpy.elementwise.bitwise import packbits as packbits
    from imprint._src.numpy.elementwise.bitwise import right_shift as right_shift
    from imprint._src.numpy.elementwise.bitwise import unpackbits as unpackbits
    from imprint._src.numpy.elementwise.comparison import allclose as allclose
    from imprint._src.numpy.elementwise.comparison import array_equal as array_equal
    from imprint._src.numpy.elementwise.comparison import array_equiv as array_equiv
    from imprint._src.numpy.elementwise.comparison import copysign as copysign
    from imprint._src.numpy.elementwise.comparison import equal as equal
    from imprint._src.numpy.elementwise.comparison import fmax as fmax
    from imprint._src.numpy.elementwise.comparison import fmin as fmin
    from imprint._src.numpy.elementwise.comparison import greater as greater
    from imprint._src.numpy.elementwise.comparison import greater_equal as greater_equal
    from imprint._src.numpy.elementwise.comparison import heaviside as heaviside
    from imprint._src.numpy.elementwise.comparison import isclose as isclose
    from imprint._src.numpy.elementwise.comparison import iscomplex as iscomplex
    from imprint._src.numpy.elementwise.comparison import isfinite as isfinite
    from imprint._src.numpy.elementwise.comparison import isinf as isinf
    from imprint._src.numpy.elementwise.comparison import isnan as isnan
    from imprint._src.numpy.elementwise.comparison import isneginf as isneginf
    from imprint._src.numpy.elementwise.comparison import isposinf as isposinf
    from imprint._src.numpy.elementwise.comparison import isreal as isreal
    from imprint._src.numpy.elementwise.comparison import less as less
    from imprint._src.numpy.elementwise.comparison import less_equal as less_equal
    from imprint._src.numpy.elementwise.comparison import logical_and as logical_and
    from imprint._src.numpy.elementwise.comparison import logical_not as logical_not
    from imprint._src.numpy.elementwise.comparison import logical_or as logical_or
    from imprint._src.numpy.elementwise.comparison import logical_xor as logical_xor
    from imprint._src.numpy.elementwise.comparison import not_equal as not_equal
    from imprint._src.numpy.elementwise.comparison import signbit as signbit
    from imprint._src.numpy.elementwise.divisors import gcd as gcd
    from imprint._src.numpy.elementwise.divisors import lcm as lcm
    from imprint._src.numpy.elementwise.exponential import cbrt as cbrt
    from imprint._src.numpy.elementwise.exponential import exp as exp
    from imprint._src.numpy.elementwise.exponential import exp2 as exp2
    from imprint._src.numpy.elementwise.exponential import expm1 as expm1
    from imprint._src.numpy.elementwise.exponential import float_power as float_power
    from imprint._src.numpy.elementwise.exponential import log as log
    from imprint._src.numpy.elementwise.exponential import log1p as log1p
    from imprint._src.numpy.elementwise.exponential import log2 as log2
    from imprint._src.numpy.elementwise.exponential import log10 as log10
    from imprint._src.numpy.elementwise.exponential import logaddexp as logaddexp
    from imprint._src.numpy.elementwise.exponential import logaddexp2 as logaddexp2
    from imprint._src.numpy.elementwise.exponential import pow as pow
    from imprint._src.numpy.elementwise.exponential import power as power
    from imprint._src.numpy.elementwise.exponential import sqrt as sqrt
    from imprint._src.numpy.elementwise.exponents import frexp as frexp
    from imprint._src.numpy.elementwise.exponents import ldexp as ldexp
    from imprint._src.numpy.elementwise.exponents import spacing as spacing
    from imprint._src.numpy.elementwise.rounding import around as around
    from imprint._src.numpy.elementwise.rounding import ceil as ceil
    from imprint._src.numpy.elementwise.rounding import conj as conj
    from imprint._src.numpy.elementwise.rounding import conjugate as conjugate
    from imprint._src.numpy.elementwise.rounding import fix as fix
    from imprint._src.numpy.elementwise.rounding import floor as floor
    from imprint._src.numpy.elementwise.rounding import imag as imag
    from imprint._src.numpy.elementwise.rounding import modf as modf
    from imprint._src.numpy.elementwise.rounding import real as real
    from imprint._src.numpy.elementwise.rounding import rint as rint
    from imprint._src.numpy.elementwise.rounding import round as round
    from imprint._src.numpy.elementwise.rounding import trunc as trunc
    from imprint._src.numpy.elementwise.selection import clip as clip
    from imprint._src.numpy.elementwise.selection import nan_to_num as nan_to_num
    from imprint._src.numpy.elementwise.selection import piecewise as piecewise
    from imprint._src.numpy.elementwise.selection import select as select
    from imprint._src.numpy.elementwise.selection import where as where
    from imprint._src.numpy.elementwise.trigonometric import acos as acos
    from imprint._src.numpy.elementwise.trigonometric import acosh as acosh
    from imprint._src.numpy.elementwise.trigonometric import angle as angle
    from imprint._src.numpy.elementwise.trigonometric import arccos as arccos
    from imprint._src.numpy.elementwise.trigonometric import arccosh as arccosh
    from imprint._src.numpy.elementwise.trigonometric import arcsin as arcsin
    from imprint._src.numpy.elementwise.trigonometric import arcsinh as arcsinh
    from imprint._src.numpy.elementwise.trigonometric import arctan as arctan
    from imprint._src.numpy.elementwise.trigonometric import arctan2 as arctan2
    from imprint._src.numpy.elementwise.trigonometric import arctanh as arctanh
    from imprint._src.numpy.elementwise.trigonometric import asin as asin
    from imprint._src.numpy.elementwise.trigonometric import asinh as asinh
    from imprint._src.numpy.elementwise.trigonometric import atan as atan
    from imprint._src.numpy.elementwise.trigonometric import atan2 as atan2
    from imprint._src.numpy.elementwise.trigonometric import atanh as atanh
    from imprint._src.numpy.elementwise.trigonometric import cos as cos
    from imprint._src.numpy.elementwise.trigonometric import cosh as cosh
    from imprint._src.numpy.elementwise.trigonometric import deg2rad as deg2rad
    from imprint._src.numpy.elementwise.trigonometric import degrees as degrees
    from imprint._src.numpy.elementwise.trigonometric import hypot as hypot
    from imprint._src.numpy.elementwise.trigonometric import rad2deg as rad2deg
    from imprint._src.numpy.elementwise.trigonometric import radians as radians
    from imprint._src.numpy.elementwise.trigonometric import sin as sin
    from imprint._src.numpy.elementwise.trigonometric import sinc as sinc
    from imprint._src.numpy.elementwise.trigonometric import sinh as sinh
    from imprint._src.numpy.elementwise.trigonometric import tan as tan
    from imprint._src.numpy.elementwise.trigonometric import tanh as tanh
    from imprint._src.numpy.elementwise.ufunc import frompyfunc as frompyfunc
    from imprint._src.numpy.elementwise.ufunc import ufunc as ufunc
    from imprint._src.numpy.indexing.advanced import take_at as take_at
    from imprint._src.numpy.indexing.compress import argwhere as argwhere
    from imprint._src.numpy.indexing.compress import choose as choose
    from imprint._src.numpy.indexing.compress import compress as compress
    from imprint._src.numpy.indexing.compress import extract as extract
    from imprint._src.numpy.indexing.compress import mask_indices as mask_indices
    from imprint._src.numpy.indexing.editing import delete as delete
    from imprint._src.numpy.indexing.editing import insert as insert
    from imprint._src.numpy.indexing.editing import place as place
    from imprint._src.numpy.indexing.editing import put as put
    from imprint._src.numpy.indexing.index_tricks import c_ as c_
    from imprint._src.numpy.indexing.index_tricks import diag_indices as diag_indices
    from imprint._src.numpy.indexing.index_tricks import (
        diag_indices_from as diag_indices_from,
    )
    from imprint._src.numpy.indexing.index_tricks import index_exp as index_exp
    from imprint._src.numpy.indexing.index_tricks import ix_ as ix_
    from imprint._src.numpy.indexing.index_tricks import mgrid as mgrid
    from imprint._src.numpy.indexing.index_tricks import ogrid as ogrid
    from imprint._src.numpy.indexing.index_tricks import r_ as r_
    from imprint._src.numpy.indexing.index_tricks import (
        ravel_multi_index as ravel_multi_index,
    )
    from imprint._src.numpy.indexing.index_tricks import s_ as s_
    from imprint._src.numpy.indexing.index_tricks import tril_indices as tril_indices
    from imprint._src.numpy.indexing.index_tricks import (
        tril_indices_from as tril_indices_from,
    )
    from imprint._src.numpy.indexing.index_tricks import triu_indices as triu_indices
    from imprint._src.numpy.indexing.index_tricks import (
        triu_indices_from as triu_indices_from,
    )
    from imprint._src.numpy.indexing.index_tricks import unravel_index as unravel_index
    from imprint._src.numpy.indexing.indexing import getitem as getitem
    from imprint._src.numpy.indexing.take import flatnonzero as flatnonzero
    from imprint._src.numpy.indexing.take import nonzero as nonzero
    from imprint._src.numpy.indexing.take import places_of as places_of
    from imprint._src.numpy.indexing.take import put_along_axis as put_along_axis
    from imprint._src.numpy.indexing.take import take as take
    from imprint._src.numpy.indexing.take import take_along_axis as take_along_axis
    from imprint._src.numpy.indexing.updating import At as At
    from imprint._src.numpy.inspection import (
        __array_api_version__ as __array_api_version__,
    )
    from imprint._src.numpy.inspection import (
        __array_namespace_info__ as __array_namespace_info__,
    )
    from imprint._src.numpy.inspection import bool as bool
    from imprint._src.numpy.interpolation import interp as interp
    from imprint._src.numpy.io import array_repr as array_repr
    from imprint._src.numpy.io import array_str as array_str
    from imprint._src.numpy.io import frombuffer as frombuffer
    from imprint._src.numpy.io import fromfile as fromfile
    from imprint._src.numpy.io import fromiter as fromiter
    from imprint._src.numpy.io import fromstring as fromstring
    from imprint._src.numpy.io import get_printoptions as get_printoptions
    from imprint._src.numpy.io import iterable as iterable
    from imprint._src.numpy.io import load as load
    from imprint._src.numpy.io import printoptions as printoptions
    from imprint._src.numpy.io import save as save
    from imprint._src.numpy.io import savez as savez
    from imprint._src.numpy.io import set_printoptions as set_printoptions
    from imprint._src.numpy.linear import cross as cross
    from imprint._src.numpy.linear import dot as dot
    from imprint._src.numpy.linear import inner as inner
    from imprint._src.numpy.linear import kron as kron
    from imprint._src.numpy.linear import matmul as matmul
    from imprint._src.numpy.linear import matvec as matvec
    from imprint._src.numpy.linear import outer as outer
    from imprint._src.numpy.linear import tensordot as tensordot
    from imprint._src.numpy.linear import vdot as vdot
    from imprint._src.numpy.linear import vecdot as vecdot
    from imprint._src.numpy.linear import vecmat as vecmat
    from imprint._src.numpy.matrices import diag as diag
    from imprint._src.numpy.matrices import diagflat as diagflat
    from imprint._src.numpy.matrices import diagonal as diagonal
    from imprint._src.numpy.matrices import eye as eye
    from imprint._src.numpy.matrices import fill_diagonal as fill_diagonal
    from imprint._src.numpy.matrices import identity as identity
    from imprint._src.numpy.matrices import trace as trace
    from imprint._src.numpy.matrices import tri as tri
    from imprint._src.numpy.matrices import tril as tril
    from imprint._src.numpy.matrices import triu as triu
    from imprint._src.numpy.matrices import vander as vander
    from imprint._src.numpy.polynomial_factors import poly as poly
    from imprint._src.numpy.polynomial_factors import polydiv as polydiv
    from imprint._src.numpy.polynomial_factors import polyfit as polyfit
    from imprint._src.numpy.polynomial_factors import polymul as polymul
    from imprint._src.numpy.polynomial_factors import roots as roots
    from imprint._src.numpy.polynomials import polyadd as polyadd
    from imprint._src.numpy.polynomials import polyder as polyder
    from imprint._src.numpy.polynomials import polyint as polyint
    from imprint._src.numpy.polynomials import polysub as polysub
    from imprint._src.numpy.polynomials import polyval as polyval
    from imprint._src.numpy.ranges import arange as arange
    from imprint._src.numpy.ranges import geomspace as geomspace
    from imprint._src.numpy.ranges import indices as indices
    from imprint._src.numpy.ranges import linspace as linspace
    from imprint._src.numpy.ranges import logspace as logspace
    from imprint._src.numpy.ranges import meshgrid as meshgrid
    from imprint._src.numpy.reductions.covariance import corrcoef as corrcoef
    from imprint._src.numpy.reductions.covariance import cov as cov
    from imprint._src.numpy.reductions.cumulative import cumprod as cumprod
    from imprint._src.numpy.reductions.cumulative import cumsum as cumsum
    from imprint._src.numpy.reductions.cumulative import (
        cumulative_prod as cumulative_prod,
    )
    from imprint._src.numpy.reductions.cumulative import (
        cumulative_sum as cumulative_sum,
    )
    from imprint._src.numpy.reductions.cumulative import nancumprod as nancumprod
    from imprint._src.numpy.reductions.cumulative import nancumsum as nancumsum
    from imprint._src.numpy.reductions.differences import diff as diff
    from imprint._src.numpy.reductions.differences import ediff1d as ediff1d
    from imprint._src.numpy.reductions.differences import gradient as gradient
    from imprint._src.numpy.reductions.differences import trapezoid as trapezoid
    from imprint._src.numpy.reductions.differences import unwrap as unwrap
    from imprint._src.numpy.reductions.histograms import bincount as bincount
    from imprint._src.numpy.reductions.histograms import histogram as histogram
    from imprint._src.numpy.reductions.histograms import histogram2d as histogram2d
    from imprint._src.numpy.reductions.histograms import (
        histogram_bin_edges as histogram_bin_edges,
    )
    from imprint._src.numpy.reductions.histograms import histogramdd as histogramdd
    from imprint._src.numpy.reductions.quantiles import median as median
    from imprint._src.numpy.reductions.quantiles import minmax as minmax
    from imprint._src.numpy.reductions.quantiles import nanmedian as nanmedian
    from imprint._src.numpy.reductions.quantiles import nanpercentile as nanpercentile
    from imprint._src.numpy.reductions.quantiles import nanquantile as nanquantile
    from imprint._src.numpy.reductions.quantiles import percentile as percentile
    from imprint._src.numpy.reductions.quantiles import quantile as quantile
    from imprint._src.numpy.reductions.reductions import all as all
    from imprint._src.numpy.reductions.reductions import amax as amax
    from imprint._src.numpy.reductions.reductions import amin as amin
    from imprint._src.numpy.reductions.reductions import any as any
    from imprint._src.numpy.reductions.reductions import count_nonzero as count_nonzero
    from imprint._src.numpy.reductions.reductions import max as max
    from imprint._src.numpy.reductions.reductions import min as min
    from imprint._src.numpy.reductions.reductions import nanmax as nanmax
    from imprint._src.numpy.reductions.reductions import nanmin as nanmin
    from imprint._src.numpy.reductions.reductions import nanprod as nanprod
    from imprint._src.numpy.reductions.reductions import nansum as nansum
    from imprint._src.numpy.reductions.reductions import prod as prod
    from imprint._src.numpy.reductions.reductions import ptp as ptp
    from imprint._src.numpy.reductions.reductions import sum as sum
    from imprint._src.numpy.reductions.statistics import average as average
    from imprint._src.numpy.reductions.statistics import mean as mean
    from imprint._src.numpy.reductions.statistics import nanmean as nanmean
    from imprint._src.numpy.reductions.statistics import nanstd as nanstd
    from imprint._src.numpy.reductions.statistics import nanvar as nanvar
    from imprint._src.numpy.reductions.statistics import std as std
    from imprint._src.numpy.reductions.statistics import var as var
    from imprint._src.numpy.shapes.concatenate import append as append
    from imprint._src.numpy.shapes.concatenate import block as block
    from imprint._src.numpy.shapes.concatenate import column_stack as column_stack
    from imprint._src.numpy.shapes.concatenate import concat as concat
    from imprint._src.numpy.shapes.concatenate import concatenate as concatenate
    from imprint._src.numpy.shapes.concatenate import dstack as dstack
    from imprint._src.numpy.shapes.concatenate import flip as flip
    from imprint._src.numpy.shapes.concatenate import fliplr as fliplr
    from imprint._src.numpy.shapes.concatenate import flipud as flipud
    from imprint._src.numpy.shapes.concatenate import hstack as hstack
    from imprint._src.numpy.shapes.concatenate import resize as resize
    from imprint._src.numpy.shapes.concatenate import rot90 as rot90
    from imprint._src.numpy.shapes.concatenate import stack as stack
    from imprint._src.numpy.shapes.concatenate import tile as tile
    from imprint._src.numpy.shapes.concatenate import vstack as vstack
    from imprint._src.numpy.shapes.padding import pad as pad
    from imprint._src.numpy.shapes.padding import pad_to as pad_to
    from imprint._src.numpy.shapes.padding import trim_zeros as trim_zeros
    from imprint._src.numpy.shapes.reshape import array_split as array_split
    from imprint._src.numpy.shapes.reshape import atleast_1d as atleast_1d
    from imprint._src.numpy.shapes.reshape import atleast_2d as atleast_2d
    from imprint._src.numpy.shapes.reshape import atleast_3d as atleast_3d
    from imprint._src.numpy.shapes.reshape import broadcast_arrays as broadcast_arrays
    from imprint._src.numpy.shapes.reshape import broadcast_shapes as broadcast_shapes
    from imprint._src.numpy.shapes.reshape import broadcast_to as broadcast_to
    from imprint._src.numpy.shapes.reshape import dsplit as dsplit
    from imprint._src.numpy.shapes.reshape import expand_dims as expand_dims
    from imprint._src.numpy.shapes.reshape import hsplit as hsplit
    from imprint._src.numpy.shapes.reshape import matrix_transpose as matrix_transpose
    from imprint._src.numpy.shapes.reshape import moveaxis as moveaxis
    from imprint._src.numpy.shapes.reshape import permute_dims as permute_dims
    from imprint._src.numpy.shapes.reshape import ravel as ravel
    from imprint._src.numpy.shapes.reshape import reshape as reshape
    from imprint._src.numpy.shapes.reshape import rollaxis as rollaxis
    from imprint._src.numpy.shapes.reshape import split as split
    from imprint._src.numpy.shapes.reshape import squeeze as squeeze
    from imprint._src.numpy.shapes.reshape import swapaxes as swapaxes
    from imprint._src.numpy.shapes.reshape import transpose as transpose
    from imprint._src.numpy.shapes.reshape import unstack as unstack
    from imprint._src.numpy.shapes.reshape import vsplit as vsplit
    from imprint._src.numpy.shapes.roll_repeat import repeat as repeat
    from imprint._src.numpy.shapes.roll_repeat import roll as roll
    from imprint._src.numpy.shapes.view import byteswap as byteswap
    from imprint._src.numpy.shapes.view import view as view
    from imprint._src.numpy.sorting.searching import argmax as argmax
    from imprint._src.numpy.sorting.searching import argmin as argmin
    from imprint._src.numpy.sorting.searching import nanargmax as nanargmax
    from imprint._src.numpy.sorting.searching import nanargmin as nanargmin
    from imprint._src.numpy.sorting.searchsorted import digitize as digitize
    from imprint._src.numpy.sorting.searchsorted import searchsorted as searchsorted
    from imprint._src.numpy.sorting.sets import intersect1d as intersect1d
    from imprint._src.numpy.sorting.sets import isin as isin
    from imprint._src.numpy.sorting.sets import setdiff1d as setdiff1d
    from imprint._src.numpy.sorting.sets import setxor1d as setxor1d
    from imprint._src.numpy.sorting.sets import union1d as union1d
    from imprint._src.numpy.sorting.sorting import argpartition as argpartition
    from imprint._src.numpy.sorting.sorting import argsort as argsort
    from imprint._src.numpy.sorting.sorting import lexsort as lexsort
    from imprint._src.numpy.sorting.sorting import partition as partition
    from imprint._src.numpy.sorting.sorting import sort as sort
    from imprint._src.numpy.sorting.sorting import sort_complex as sort_complex
    from imprint._src.numpy.sorting.sorting import top_k as top_k
    from imprint._src.numpy.sorting.unique import unique as unique
    from imprint._src.numpy.sorting.unique import unique_all as unique_all
    from imprint._src.numpy.sorting.unique import unique_counts as unique_counts
    from imprint._src.numpy.sorting.unique import unique_inverse as unique_inverse
    from imprint._src.numpy.sorting.unique import unique_values as unique_values
    from imprint._src.numpy.vectorize import apply_along_axis as apply_along_axis
    from imprint._src.numpy.vectorize import apply_over_axes as apply_over_axes
    from imprint._src.numpy.vectorize import fromfunction as fromfunction
    from imprint._src.numpy.vectorize import vectorize as vectorize
    from imprint._src.numpy.windows import bartlett as bartlett
    from imprint._src.numpy.windows import blackman as blackman
    from imprint._src.numpy.windows import hamming as hamming
    from imprint._src.numpy.windows import hanning as hanning
    from imprint._src.numpy.windows import i0 as i0
    from imprint._src.numpy.windows import kaiser as kaiser
    from imprint.numpy import fft as fft
    from imprint.numpy import linalg as linalg


hooks.install_numpy(sys.modules[__name__])

lazy_attributes.load_lazily(  # of which methods and protocols ask for what follows
    __name__,
    _LAZY,
    but="__array_api_version__ __array_namespace_info__ getitem numpy_function numpy_ufunc view byteswap take_at places_of At "
    "ufunc_methods",
)
