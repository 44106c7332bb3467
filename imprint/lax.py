"""JAX's structured operations: `from imprint import lax`.

Each is one primitive, or a few slices of one. They do not promote dtypes, and broadcast
only rank 0 and length 1; `imprint.numpy` does the rest. The primitives themselves
(`lax.add_p`) are public for authors of transforms.
"""

import typing

from imprint._src.bootstrap import lazy_attributes
from imprint._src.control_flow.cond import cond_p as cond_p
from imprint._src.control_flow.implicit import custom_linear_solve_p as _linear_solve_p
from imprint._src.control_flow.scan import scan_p as scan_p
from imprint._src.control_flow.while_ import while_p as while_p
from imprint._src.lax.composed import batch_matmul as batch_matmul
from imprint._src.lax.composed import broadcast as broadcast
from imprint._src.lax.composed import broadcast_in_dim as broadcast_in_dim
from imprint._src.lax.composed import broadcast_like as broadcast_like
from imprint._src.lax.composed import broadcast_shapes as broadcast_shapes
from imprint._src.lax.composed import broadcast_to_rank as broadcast_to_rank
from imprint._src.lax.composed import collapse as collapse
from imprint._src.lax.composed import dot as dot
from imprint._src.lax.composed import dtype as dtype
from imprint._src.lax.composed import dynamic_index_in_dim as dynamic_index_in_dim
from imprint._src.lax.composed import dynamic_slice_in_dim as dynamic_slice_in_dim
from imprint._src.lax.composed import (
    dynamic_update_index_in_dim as dynamic_update_index_in_dim,
)
from imprint._src.lax.composed import (
    dynamic_update_slice_in_dim as dynamic_update_slice_in_dim,
)
from imprint._src.lax.composed import empty as empty
from imprint._src.lax.composed import full as full
from imprint._src.lax.composed import full_like as full_like
from imprint._src.lax.composed import index_in_dim as index_in_dim
from imprint._src.lax.composed import reciprocal as reciprocal
from imprint._src.lax.composed import reduce_sum as reduce_sum
from imprint._src.lax.composed import select as select
from imprint._src.lax.composed import split as split
from imprint._src.lax.composed import stack as stack
from imprint._src.lax.composed import tile as tile
from imprint._src.lax.composed import transpose as transpose
from imprint._src.lax.composed import unstack as unstack
from imprint._src.lax.elementwise import add as add
from imprint._src.lax.elementwise import atan2 as atan2
from imprint._src.lax.elementwise import bitwise_and as bitwise_and
from imprint._src.lax.elementwise import bitwise_or as bitwise_or
from imprint._src.lax.elementwise import bitwise_xor as bitwise_xor
from imprint._src.lax.elementwise import complex as complex
from imprint._src.lax.elementwise import div as div
from imprint._src.lax.elementwise import eq as eq
from imprint._src.lax.elementwise import ge as ge
from imprint._src.lax.elementwise import gt as gt
from imprint._src.lax.elementwise import le as le
from imprint._src.lax.elementwise import lt as lt
from imprint._src.lax.elementwise import max as max
from imprint._src.lax.elementwise import min as min
from imprint._src.lax.elementwise import mul as mul
from imprint._src.lax.elementwise import ne as ne
from imprint._src.lax.elementwise import nextafter as nextafter
from imprint._src.lax.elementwise import pow as pow
from imprint._src.lax.elementwise import rem as rem
from imprint._src.lax.elementwise import shift_left as shift_left
from imprint._src.lax.elementwise import (
    shift_right_arithmetic as shift_right_arithmetic,
)
from imprint._src.lax.elementwise import shift_right_logical as shift_right_logical
from imprint._src.lax.elementwise import sub as sub
from imprint._src.lax.placed import broadcasted_iota as broadcasted_iota
from imprint._src.lax.placed import dot_general as dot_general
from imprint._src.lax.placed import reshape as reshape
from imprint._src.primitives.arg_reductions import argmax as argmax
from imprint._src.primitives.arg_reductions import argmax_p as argmax_p
from imprint._src.primitives.arg_reductions import argmin as argmin
from imprint._src.primitives.arg_reductions import argmin_p as argmin_p
from imprint._src.primitives.barrier import optimization_barrier as optimization_barrier
from imprint._src.primitives.barrier import (
    optimization_barrier_p as optimization_barrier_p,
)
from imprint._src.primitives.barrier import stop_gradient as stop_gradient
from imprint._src.primitives.barrier import stop_gradient_p as stop_gradient_p
from imprint._src.primitives.collectives import all_gather_p as all_gather_p
from imprint._src.primitives.collectives import all_to_all_p as all_to_all_p
from imprint._src.primitives.collectives import axis_index_p as axis_index_p
from imprint._src.primitives.collectives import pmax_p as pmax_p
from imprint._src.primitives.collectives import pmin_p as pmin_p
from imprint._src.primitives.collectives import ppermute_p as ppermute_p
from imprint._src.primitives.collectives import psum_p as psum_p
from imprint._src.primitives.constraints import (
    sharding_constraint_p as sharding_constraint_p,
)
from imprint._src.primitives.copying import copy_p as copy_p
from imprint._src.primitives.core_ops import add_p as add_p
from imprint._src.primitives.core_ops import broadcast_in_dim_p as broadcast_in_dim_p
from imprint._src.primitives.core_ops import mul_p as mul_p
from imprint._src.primitives.core_ops import neg as neg
from imprint._src.primitives.core_ops import neg_p as neg_p
from imprint._src.primitives.core_ops import reduce_sum_p as reduce_sum_p
from imprint._src.primitives.core_ops import sub_p as sub_p
from imprint._src.primitives.core_ops import transpose_p as transpose_p
from imprint._src.primitives.cumulative import cumlogsumexp as cumlogsumexp
from imprint._src.primitives.cumulative import cumlogsumexp_p as cumlogsumexp_p
from imprint._src.primitives.cumulative import cummax as cummax
from imprint._src.primitives.cumulative import cummax_p as cummax_p
from imprint._src.primitives.cumulative import cummin as cummin
from imprint._src.primitives.cumulative import cummin_p as cummin_p
from imprint._src.primitives.cumulative import cumprod as cumprod
from imprint._src.primitives.cumulative import cumprod_p as cumprod_p
from imprint._src.primitives.cumulative import cumsum as cumsum
from imprint._src.primitives.cumulative import cumsum_p as cumsum_p
from imprint._src.primitives.dot import DotDimensionNumbers as DotDimensionNumbers
from imprint._src.primitives.dot import dot_general_p as dot_general_p
from imprint._src.primitives.elementwise.arithmetic import div_p as div_p
from imprint._src.primitives.elementwise.arithmetic import integer_pow as integer_pow
from imprint._src.primitives.elementwise.arithmetic import (
    integer_pow_p as integer_pow_p,
)
from imprint._src.primitives.elementwise.arithmetic import max_p as max_p
from imprint._src.primitives.elementwise.arithmetic import min_p as min_p
from imprint._src.primitives.elementwise.arithmetic import nextafter_p as nextafter_p
from imprint._src.primitives.elementwise.arithmetic import rem_p as rem_p
from imprint._src.primitives.elementwise.bitwise import and_p as and_p
from imprint._src.primitives.elementwise.bitwise import clz as clz
from imprint._src.primitives.elementwise.bitwise import clz_p as clz_p
from imprint._src.primitives.elementwise.bitwise import not_ as _bitwise_not
from imprint._src.primitives.elementwise.bitwise import not_p as not_p
from imprint._src.primitives.elementwise.bitwise import or_p as or_p
from imprint._src.primitives.elementwise.bitwise import (
    population_count as population_count,
)
from imprint._src.primitives.elementwise.bitwise import (
    population_count_p as population_count_p,
)
from imprint._src.primitives.elementwise.bitwise import shift_left_p as shift_left_p
from imprint._src.primitives.elementwise.bitwise import (
    shift_right_arithmetic_p as shift_right_arithmetic_p,
)
from imprint._src.primitives.elementwise.bitwise import (
    shift_right_logical_p as shift_right_logical_p,
)
from imprint._src.primitives.elementwise.bitwise import xor_p as xor_p
from imprint._src.primitives.elementwise.comparison import eq_p as eq_p
from imprint._src.primitives.elementwise.comparison import ge_p as ge_p
from imprint._src.primitives.elementwise.comparison import gt_p as gt_p
from imprint._src.primitives.elementwise.comparison import le_p as le_p
from imprint._src.primitives.elementwise.comparison import lt_p as lt_p
from imprint._src.primitives.elementwise.comparison import ne_p as ne_p
from imprint._src.primitives.elementwise.complex import complex_p as complex_p
from imprint._src.primitives.elementwise.complex import conj as conj
from imprint._src.primitives.elementwise.complex import conj_p as conj_p
from imprint._src.primitives.elementwise.complex import imag as imag
from imprint._src.primitives.elementwise.complex import imag_p as imag_p
from imprint._src.primitives.elementwise.complex import real as real
from imprint._src.primitives.elementwise.complex import real_p as real_p
from imprint._src.primitives.elementwise.convert import (
    bitcast_convert_type as bitcast_convert_type,
)
from imprint._src.primitives.elementwise.convert import (
    bitcast_convert_type_p as bitcast_convert_type_p,
)
from imprint._src.primitives.elementwise.convert import (
    convert_element_type as convert_element_type,
)
from imprint._src.primitives.elementwise.convert import (
    convert_element_type_p as convert_element_type_p,
)
from imprint._src.primitives.elementwise.exponential import cbrt as cbrt
from imprint._src.primitives.elementwise.exponential import cbrt_p as cbrt_p
from imprint._src.primitives.elementwise.exponential import exp as exp
from imprint._src.primitives.elementwise.exponential import exp2 as exp2
from imprint._src.primitives.elementwise.exponential import exp2_p as exp2_p
from imprint._src.primitives.elementwise.exponential import exp_p as exp_p
from imprint._src.primitives.elementwise.exponential import expm1 as expm1
from imprint._src.primitives.elementwise.exponential import expm1_p as expm1_p
from imprint._src.primitives.elementwise.exponential import log as log
from imprint._src.primitives.elementwise.exponential import log1p as log1p
from imprint._src.primitives.elementwise.exponential import log1p_p as log1p_p
from imprint._src.primitives.elementwise.exponential import log2 as log2
from imprint._src.primitives.elementwise.exponential import log2_p as log2_p
from imprint._src.primitives.elementwise.exponential import log_p as log_p
from imprint._src.primitives.elementwise.exponential import (
    one_minus_square as one_minus_square,
)
from imprint._src.primitives.elementwise.exponential import (
    one_minus_square_p as one_minus_square_p,
)
from imprint._src.primitives.elementwise.exponential import rsqrt as rsqrt
from imprint._src.primitives.elementwise.exponential import rsqrt_p as rsqrt_p
from imprint._src.primitives.elementwise.exponential import sqrt as sqrt
from imprint._src.primitives.elementwise.exponential import sqrt_p as sqrt_p
from imprint._src.primitives.elementwise.exponential import square as square
from imprint._src.primitives.elementwise.exponential import square_p as square_p
from imprint._src.primitives.elementwise.power import pow_p as pow_p
from imprint._src.primitives.elementwise.precision import Precision as Precision
from imprint._src.primitives.elementwise.precision import PrecisionLike as PrecisionLike
from imprint._src.primitives.elementwise.rounding import (
    RoundingMethod as RoundingMethod,
)
from imprint._src.primitives.elementwise.rounding import abs_ as _abs
from imprint._src.primitives.elementwise.rounding import abs_p as abs_p
from imprint._src.primitives.elementwise.rounding import ceil as ceil
from imprint._src.primitives.elementwise.rounding import ceil_p as ceil_p
from imprint._src.primitives.elementwise.rounding import floor as floor
from imprint._src.primitives.elementwise.rounding import floor_p as floor_p
from imprint._src.primitives.elementwise.rounding import is_finite as is_finite
from imprint._src.primitives.elementwise.rounding import is_finite_p as is_finite_p
from imprint._src.primitives.elementwise.rounding import round_ as _round
from imprint._src.primitives.elementwise.rounding import round_p as round_p
from imprint._src.primitives.elementwise.rounding import sign as sign
from imprint._src.primitives.elementwise.rounding import sign_p as sign_p
from imprint._src.primitives.elementwise.select import clamp as clamp
from imprint._src.primitives.elementwise.select import clamp_p as clamp_p
from imprint._src.primitives.elementwise.select import select_n as select_n
from imprint._src.primitives.elementwise.select import select_n_p as select_n_p
from imprint._src.primitives.elementwise.trigonometric import acos as acos
from imprint._src.primitives.elementwise.trigonometric import acos_p as acos_p
from imprint._src.primitives.elementwise.trigonometric import acosh as acosh
from imprint._src.primitives.elementwise.trigonometric import acosh_p as acosh_p
from imprint._src.primitives.elementwise.trigonometric import asin as asin
from imprint._src.primitives.elementwise.trigonometric import asin_p as asin_p
from imprint._src.primitives.elementwise.trigonometric import asinh as asinh
from imprint._src.primitives.elementwise.trigonometric import asinh_p as asinh_p
from imprint._src.primitives.elementwise.trigonometric import atan as atan
from imprint._src.primitives.elementwise.trigonometric import atan2_p as atan2_p
from imprint._src.primitives.elementwise.trigonometric import atan_p as atan_p
from imprint._src.primitives.elementwise.trigonometric import atanh as atanh
from imprint._src.primitives.elementwise.trigonometric import atanh_p as atanh_p
from imprint._src.primitives.elementwise.trigonometric import cos as cos
from imprint._src.primitives.elementwise.trigonometric import cos_p as cos_p
from imprint._src.primitives.elementwise.trigonometric import cosh as cosh
from imprint._src.primitives.elementwise.trigonometric import cosh_p as cosh_p
from imprint._src.primitives.elementwise.trigonometric import logistic as logistic
from imprint._src.primitives.elementwise.trigonometric import logistic_p as logistic_p
from imprint._src.primitives.elementwise.trigonometric import sin as sin
from imprint._src.primitives.elementwise.trigonometric import sin_p as sin_p
from imprint._src.primitives.elementwise.trigonometric import sinh as sinh
from imprint._src.primitives.elementwise.trigonometric import sinh_p as sinh_p
from imprint._src.primitives.elementwise.trigonometric import tan as tan
from imprint._src.primitives.elementwise.trigonometric import tan_p as tan_p
from imprint._src.primitives.elementwise.trigonometric import tanh as tanh
from imprint._src.primitives.elementwise.trigonometric import tanh_p as tanh_p
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_slice as dynamic_slice,
)
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_slice_p as dynamic_slice_p,
)
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_update_slice as dynamic_update_slice,
)
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_update_slice_p as dynamic_update_slice_p,
)
from imprint._src.primitives.indexing.slicing import concatenate as concatenate
from imprint._src.primitives.indexing.slicing import concatenate_p as concatenate_p
from imprint._src.primitives.indexing.slicing import pad as pad
from imprint._src.primitives.indexing.slicing import pad_p as pad_p
from imprint._src.primitives.indexing.slicing import slice_ as _slice
from imprint._src.primitives.indexing.slicing import slice_in_dim as slice_in_dim
from imprint._src.primitives.indexing.slicing import slice_p as slice_p
from imprint._src.primitives.reductions import reduce_and as reduce_and
from imprint._src.primitives.reductions import reduce_and_p as reduce_and_p
from imprint._src.primitives.reductions import reduce_max as reduce_max
from imprint._src.primitives.reductions import reduce_max_p as reduce_max_p
from imprint._src.primitives.reductions import reduce_min as reduce_min
from imprint._src.primitives.reductions import reduce_min_p as reduce_min_p
from imprint._src.primitives.reductions import reduce_or as reduce_or
from imprint._src.primitives.reductions import reduce_or_p as reduce_or_p
from imprint._src.primitives.reductions import reduce_prod as reduce_prod
from imprint._src.primitives.reductions import reduce_prod_p as reduce_prod_p
from imprint._src.primitives.reductions import reduce_xor as reduce_xor
from imprint._src.primitives.reductions import reduce_xor_p as reduce_xor_p
from imprint._src.primitives.shape import expand_dims as expand_dims
from imprint._src.primitives.shape import iota as iota
from imprint._src.primitives.shape import iota_p as iota_p
from imprint._src.primitives.shape import reshape_p as reshape_p
from imprint._src.primitives.shape import rev as rev
from imprint._src.primitives.shape import rev_p as rev_p
from imprint._src.primitives.shape import squeeze as squeeze
from imprint._src.primitives.shape import squeeze_p as squeeze_p

linear_solve_p: typing.Final = _linear_solve_p
bitwise_not: typing.Final = _bitwise_not
abs: typing.Final = _abs
round: typing.Final = _round
slice: typing.Final = _slice

if typing.TYPE_CHECKING:
    from imprint._src.control_flow.scatter_apply import scatter_apply as scatter_apply
    from imprint._src.lax import linalg as linalg
    from imprint._src.lax.approximate import approx_max_k as approx_max_k
    from imprint._src.lax.approximate import approx_min_k as approx_min_k
    from imprint._src.lax.associative import associative_scan as associative_scan
    from imprint._src.lax.branching import cond as cond
    from imprint._src.lax.branching import platform_dependent as platform_dependent
    from imprint._src.lax.branching import switch as switch
    from imprint._src.lax.collectives import all_gather as all_gather
    from imprint._src.lax.collectives import all_to_all as all_to_all
    from imprint._src.lax.collectives import axis_index as axis_index
    from imprint._src.lax.collectives import axis_size as axis_size
    from imprint._src.lax.collectives import pbroadcast as pbroadcast
    from imprint._src.lax.collectives import pcast as pcast
    from imprint._src.lax.collectives import pmax as pmax
    from imprint._src.lax.collectives import pmean as pmean
    from imprint._src.lax.collectives import pmin as pmin
    from imprint._src.lax.collectives import ppermute as ppermute
    from imprint._src.lax.collectives import pshuffle as pshuffle
    from imprint._src.lax.collectives import psum as psum
    from imprint._src.lax.collectives import psum_scatter as psum_scatter
    from imprint._src.lax.collectives import pswapaxes as pswapaxes
    from imprint._src.lax.composite import composite as composite
    from imprint._src.lax.convolution import conv as conv
    from imprint._src.lax.convolution import (
        conv_general_dilated as conv_general_dilated,
    )
    from imprint._src.lax.convolution import (
        conv_general_dilated_local as conv_general_dilated_local,
    )
    from imprint._src.lax.convolution import (
        conv_general_dilated_patches as conv_general_dilated_patches,
    )
    from imprint._src.lax.convolution import conv_transpose as conv_transpose
    from imprint._src.lax.convolution import (
        conv_with_general_padding as conv_with_general_padding,
    )
    from imprint._src.lax.indexed import index_take as index_take
    from imprint._src.lax.layouts import (
        ConvGeneralDilatedDimensionNumbers as ConvGeneralDilatedDimensionNumbers,
    )
    from imprint._src.lax.layouts import (
        conv_dimension_numbers as conv_dimension_numbers,
    )
    from imprint._src.lax.layouts import (
        conv_general_permutations as conv_general_permutations,
    )
    from imprint._src.lax.layouts import (
        conv_general_shape_tuple as conv_general_shape_tuple,
    )
    from imprint._src.lax.layouts import conv_shape_tuple as conv_shape_tuple
    from imprint._src.lax.layouts import (
        conv_transpose_shape_tuple as conv_transpose_shape_tuple,
    )
    from imprint._src.lax.layouts import padtype_to_pads as padtype_to_pads
    from imprint._src.lax.layouts import (
        reduce_window_shape_tuple as reduce_window_shape_tuple,
    )
    from imprint._src.lax.loops import fori_loop as fori_loop
    from imprint._src.lax.loops import map as map
    from imprint._src.lax.loops import scan as scan
    from imprint._src.lax.loops import while_loop as while_loop
    from imprint._src.lax.monoids import reduce as reduce
    from imprint._src.lax.monoids import reduce_window as reduce_window
    from imprint._src.lax.ragged import (
        RaggedDotDimensionNumbers as RaggedDotDimensionNumbers,
    )
    from imprint._src.lax.ragged import ragged_dot as ragged_dot
    from imprint._src.lax.ragged import ragged_dot_general as ragged_dot_general
    from imprint._src.lax.random_bits import rng_bit_generator as rng_bit_generator
    from imprint._src.lax.sharding_constraint import (
        with_sharding_constraint as with_sharding_constraint,
    )
    from imprint._src.lax.solving import custom_linear_solve as custom_linear_solve
    from imprint._src.lax.solving import custom_root as custom_root
    from imprint._src.lax.special import betainc as betainc
    from imprint._src.lax.special import igamma as igamma
    from imprint._src.lax.special import igamma_grad_a as igamma_grad_a
    from imprint._src.lax.special import igammac as igammac
    from imprint._src.lax.special import mulhi as mulhi
    from imprint._src.lax.special import polygamma as polygamma
    from imprint._src.lax.special import polynomial as polynomial
    from imprint._src.lax.special import random_gamma_grad as random_gamma_grad
    from imprint._src.lax.special import zeta as zeta
    from imprint._src.primitives.elementwise.reduce_precision import (
        reduce_precision as reduce_precision,
    )
    from imprint._src.primitives.elementwise.reduce_precision import (
        reduce_precision_p as reduce_precision_p,
    )
    from imprint._src.primitives.fft import FftType as FftType
    from imprint._src.primitives.fft import fft as fft
    from imprint._src.primitives.fft import fft_p as fft_p
    from imprint._src.primitives.indexing.gather import gather as gather
    from imprint._src.primitives.indexing.gather import gather_p as gather_p
    from imprint._src.primitives.indexing.gather import scatter_add_p as scatter_add_p
    from imprint._src.primitives.indexing.scatter import scatter as scatter
    from imprint._src.primitives.indexing.scatter import scatter_add as scatter_add
    from imprint._src.primitives.indexing.scatter import scatter_max as scatter_max
    from imprint._src.primitives.indexing.scatter import scatter_max_p as scatter_max_p
    from imprint._src.primitives.indexing.scatter import scatter_min as scatter_min
    from imprint._src.primitives.indexing.scatter import scatter_min_p as scatter_min_p
    from imprint._src.primitives.indexing.scatter import scatter_mul as scatter_mul
    from imprint._src.primitives.indexing.scatter import scatter_mul_p as scatter_mul_p
    from imprint._src.primitives.indexing.scatter import scatter_p as scatter_p
    from imprint._src.primitives.indexing.scatter import scatter_sub as scatter_sub
    from imprint._src.primitives.indexing.scatter import scatter_sub_p as scatter_sub_p
    from imprint._src.primitives.indexing.sorting import sort as sort
    from imprint._src.primitives.indexing.sorting import sort_key_val as sort_key_val
    from imprint._src.primitives.indexing.sorting import sort_p as sort_p
    from imprint._src.primitives.indexing.sorting import top_k as top_k
    from imprint._src.primitives.indexing.sorting import top_k_p as top_k_p
    from imprint._src.primitives.random_bits import RandomAlgorithm as RandomAlgorithm
    from imprint._src.primitives.random_bits import (
        rng_bit_generator_p as rng_bit_generator_p,
    )
    from imprint._src.primitives.random_bits import rng_uniform as rng_uniform
    from imprint._src.primitives.random_bits import rng_uniform_p as rng_uniform_p
    from imprint._src.primitives.special.bessel import bessel_i0e as bessel_i0e
    from imprint._src.primitives.special.bessel import bessel_i0e_p as bessel_i0e_p
    from imprint._src.primitives.special.bessel import bessel_i1e as bessel_i1e
    from imprint._src.primitives.special.bessel import bessel_i1e_p as bessel_i1e_p
    from imprint._src.primitives.special.incomplete import (
        igamma_grad_a_p as igamma_grad_a_p,
    )
    from imprint._src.primitives.special.incomplete import igamma_p as igamma_p
    from imprint._src.primitives.special.incomplete import igammac_p as igammac_p
    from imprint._src.primitives.special.incomplete import (
        regularized_incomplete_beta_p as regularized_incomplete_beta_p,
    )
    from imprint._src.primitives.special.polynomials import mulhi_p as mulhi_p
    from imprint._src.primitives.special.polynomials import polynomial_p as polynomial_p
    from imprint._src.primitives.special.special import digamma as digamma
    from imprint._src.primitives.special.special import digamma_p as digamma_p
    from imprint._src.primitives.special.special import erf as erf
    from imprint._src.primitives.special.special import erf_inv as erf_inv
    from imprint._src.primitives.special.special import erf_inv_p as erf_inv_p
    from imprint._src.primitives.special.special import erf_p as erf_p
    from imprint._src.primitives.special.special import erfc as erfc
    from imprint._src.primitives.special.special import erfc_p as erfc_p
    from imprint._src.primitives.special.special import lgamma as lgamma
    from imprint._src.primitives.special.special import lgamma_p as lgamma_p
    from imprint._src.primitives.special.special import polygamma_p as polygamma_p
    from imprint._src.primitives.special.special import zeta_p as zeta_p
    from imprint._src.primitives.windows.convolution import (
        conv_general_dilated_p as conv_general_dilated_p,
    )
    from imprint._src.primitives.windows.gather_dims import (
        GatherDimensionNumbers as GatherDimensionNumbers,
    )
    from imprint._src.primitives.windows.gather_dims import (
        GatherScatterMode as GatherScatterMode,
    )
    from imprint._src.primitives.windows.gather_dims import (
        ScatterDimensionNumbers as ScatterDimensionNumbers,
    )
    from imprint._src.primitives.windows.window_reductions import (
        reduce_window_max_p as reduce_window_max_p,
    )
    from imprint._src.primitives.windows.window_reductions import (
        reduce_window_min_p as reduce_window_min_p,
    )
    from imprint._src.primitives.windows.window_reductions import (
        reduce_window_sum_p as reduce_window_sum_p,
    )
    from imprint._src.primitives.windows.window_reductions import (
        select_and_gather_add_p as select_and_gather_add_p,
    )
    from imprint._src.primitives.windows.window_reductions import (
        select_and_scatter_add_p as select_and_scatter_add_p,
    )
    from imprint._src.primitives.windows.windows import (
        ConvDimensionNumbers as ConvDimensionNumbers,
    )

_LAZY: typing.Final[dict[str, str]] = {
    "imprint._src.lax.associative": "associative_scan",
    "imprint._src.lax.branching": "cond platform_dependent switch",
    "imprint._src.lax.collectives": "all_gather all_to_all axis_index axis_size pbroadcast pcast pmax pmean pmin ppermute pshuffle psum psum_scatter pswapaxes",
    "imprint._src.lax.loops": "fori_loop map scan while_loop",
    "imprint._src.lax.solving": "custom_linear_solve custom_root",
    "imprint._src.primitives.elementwise.reduce_precision": "reduce_precision reduce_precision_p",
    "imprint._src.lax.monoids": "reduce reduce_window",
    "imprint._src.lax.ragged": "RaggedDotDimensionNumbers ragged_dot ragged_dot_general",
    "imprint._src.control_flow.scatter_apply": "scatter_apply",
    "imprint._src.lax.indexed": "index_take",
    "imprint._src.primitives.indexing.gather": "gather gather_p scatter_add_p",
    "imprint._src.primitives.indexing.scatter": (
        "scatter scatter_add scatter_max scatter_max_p scatter_min "
        "scatter_min_p scatter_mul scatter_mul_p scatter_p scatter_sub scatter_sub_p"
    ),
    "imprint._src.primitives.windows.gather_dims": "GatherDimensionNumbers GatherScatterMode ScatterDimensionNumbers",
    "imprint._src.lax.composite": "composite",
    "imprint._src.lax.linalg": "",
    "imprint._src.lax.random_bits": "rng_bit_generator",
    "imprint._src.primitives.fft": "FftType fft fft_p",
    "imprint._src.primitives.random_bits": "RandomAlgorithm "
    "rng_bit_generator_p rng_uniform rng_uniform_p",
    "imprint._src.lax.special": (
        "betainc igamma igamma_grad_a igammac mulhi polygamma polynomial "
        "random_gamma_grad zeta"
    ),
    "imprint._src.primitives.special.incomplete": "igamma_grad_a_p igamma_p igammac_p regularized_incomplete_beta_p",
    "imprint._src.primitives.special.special": (
        "digamma digamma_p erf erf_inv erf_inv_p erf_p erfc erfc_p "
        "lgamma lgamma_p polygamma_p zeta_p"
    ),
    "imprint._src.primitives.special.bessel": "bessel_i0e bessel_i0e_p bessel_i1e bessel_i1e_p",
    "imprint._src.primitives.special.polynomials": "mulhi_p polynomial_p",
    "imprint._src.lax.convolution": (
        "conv conv_general_dilated conv_general_dilated_local "
        "conv_general_dilated_patches conv_transpose conv_with_general_padding"
    ),
    "imprint._src.lax.sharding_constraint": "with_sharding_constraint",
    "imprint._src.lax.layouts": (
        "ConvGeneralDilatedDimensionNumbers "
        "conv_dimension_numbers conv_general_permutations conv_general_shape_tuple "
        "conv_shape_tuple conv_transpose_shape_tuple padtype_to_pads "
        "reduce_window_shape_tuple"
    ),
    "imprint._src.primitives.windows.window_reductions": (
        "reduce_window_max_p reduce_window_min_p reduce_window_sum_p "
        "select_and_gather_add_p select_and_scatter_add_p"
    ),
    "imprint._src.primitives.windows.windows": "ConvDimensionNumbers",
    "imprint._src.primitives.windows.convolution": "conv_general_dilated_p",
    "imprint._src.lax.approximate": "approx_max_k approx_min_k",
    "imprint._src.primitives.indexing.sorting": "sort sort_key_val sort_p top_k top_k_p",
}
"""The names that load lazily, by module."""

lazy_attributes.load_lazily(__name__, _LAZY)
