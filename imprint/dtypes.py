"""Dtypes: their kinds, their promotion, and the dtypes of Python scalars."""

from imprint._src.dtypes import ALL as ALL
from imprint._src.dtypes import COMPLEX as COMPLEX
from imprint._src.dtypes import FLOATING as FLOATING
from imprint._src.dtypes import NARROW_FLOATS as NARROW_FLOATS
from imprint._src.dtypes import SIGNED as SIGNED
from imprint._src.dtypes import UNSIGNED as UNSIGNED
from imprint._src.dtypes import DType as DType
from imprint._src.dtypes import DTypeLike as DTypeLike
from imprint._src.dtypes import HasDType as HasDType
from imprint._src.dtypes import Typed as Typed
from imprint._src.dtypes import as_dtype as as_dtype
from imprint._src.dtypes import bfloat16 as bfloat16
from imprint._src.dtypes import bit_width as bit_width
from imprint._src.dtypes import bool_ as bool_
from imprint._src.dtypes import canonicalize as canonicalize
from imprint._src.dtypes import canonicalize_dtype as canonicalize_dtype
from imprint._src.dtypes import complex64 as complex64
from imprint._src.dtypes import complex128 as complex128
from imprint._src.dtypes import default_complex as default_complex
from imprint._src.dtypes import default_float as default_float
from imprint._src.dtypes import default_int as default_int
from imprint._src.dtypes import default_uint as default_uint
from imprint._src.dtypes import extended as extended
from imprint._src.dtypes import finfo as finfo
from imprint._src.dtypes import float0 as float0
from imprint._src.dtypes import float4_e2m1fn as float4_e2m1fn
from imprint._src.dtypes import float6_e2m3fn as float6_e2m3fn
from imprint._src.dtypes import float6_e3m2fn as float6_e3m2fn
from imprint._src.dtypes import float8_e3m4 as float8_e3m4
from imprint._src.dtypes import float8_e4m3 as float8_e4m3
from imprint._src.dtypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from imprint._src.dtypes import float8_e4m3fn as float8_e4m3fn
from imprint._src.dtypes import float8_e4m3fnuz as float8_e4m3fnuz
from imprint._src.dtypes import float8_e5m2 as float8_e5m2
from imprint._src.dtypes import float8_e5m2fnuz as float8_e5m2fnuz
from imprint._src.dtypes import float8_e8m0fnu as float8_e8m0fnu
from imprint._src.dtypes import float16 as float16
from imprint._src.dtypes import float32 as float32
from imprint._src.dtypes import float64 as float64
from imprint._src.dtypes import full_name as full_name
from imprint._src.dtypes import iinfo as iinfo
from imprint._src.dtypes import int2 as int2
from imprint._src.dtypes import int4 as int4
from imprint._src.dtypes import int8 as int8
from imprint._src.dtypes import int16 as int16
from imprint._src.dtypes import int32 as int32
from imprint._src.dtypes import int64 as int64
from imprint._src.dtypes import is_bool as is_bool
from imprint._src.dtypes import is_complex as is_complex
from imprint._src.dtypes import is_floating as is_floating
from imprint._src.dtypes import is_inexact as is_inexact
from imprint._src.dtypes import is_integer as is_integer
from imprint._src.dtypes import is_signed as is_signed
from imprint._src.dtypes import is_unsigned as is_unsigned
from imprint._src.dtypes import isdtype as isdtype
from imprint._src.dtypes import issubdtype as issubdtype
from imprint._src.dtypes import itemsize_bits as itemsize_bits
from imprint._src.dtypes import number_type as number_type
from imprint._src.dtypes import prng_key as prng_key
from imprint._src.dtypes import promote as promote
from imprint._src.dtypes import promote_types as promote_types
from imprint._src.dtypes import real_part_dtype as real_part_dtype
from imprint._src.dtypes import requested as requested
from imprint._src.dtypes import result_type as result_type
from imprint._src.dtypes import scalar_type_dtype as scalar_type_dtype
from imprint._src.dtypes import scalar_type_of as scalar_type_of
from imprint._src.dtypes import short_name as short_name
from imprint._src.dtypes import to_complex as to_complex
from imprint._src.dtypes import to_inexact as to_inexact
from imprint._src.dtypes import typed as typed
from imprint._src.dtypes import uint2 as uint2
from imprint._src.dtypes import uint4 as uint4
from imprint._src.dtypes import uint8 as uint8
from imprint._src.dtypes import uint16 as uint16
from imprint._src.dtypes import uint32 as uint32
from imprint._src.dtypes import uint64 as uint64
from imprint._src.errors import PromotionError as TypePromotionError

__all__ = [
    "ALL",
    "COMPLEX",
    "FLOATING",
    "NARROW_FLOATS",
    "SIGNED",
    "UNSIGNED",
    "DType",
    "DTypeLike",
    "HasDType",
    "TypePromotionError",
    "Typed",
    "as_dtype",
    "bfloat16",
    "bit_width",
    "bool_",
    "canonicalize",
    "canonicalize_dtype",
    "complex64",
    "complex128",
    "default_complex",
    "default_float",
    "default_int",
    "default_uint",
    "extended",
    "finfo",
    "float0",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "full_name",
    "iinfo",
    "int2",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_bool",
    "is_complex",
    "is_floating",
    "is_inexact",
    "is_integer",
    "is_signed",
    "is_unsigned",
    "isdtype",
    "issubdtype",
    "itemsize_bits",
    "number_type",
    "prng_key",
    "promote",
    "promote_types",
    "real_part_dtype",
    "requested",
    "result_type",
    "scalar_type_dtype",
    "scalar_type_of",
    "short_name",
    "to_complex",
    "to_inexact",
    "typed",
    "uint2",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
