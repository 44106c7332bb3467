"""Which public names of NumPy's, that JAX lacks too, are not here, and why.

One row is names that share a reason; they are not meant to come, but for those that say
so. Read only when such a name was asked for (`core.missing`), and by the test that compares
the rows with NumPy and writes docs/reference/names.md.
"""

from typing import Final

Rows = tuple[tuple[str, str], ...]

_AS_IT_IS: Final = "It looks at no array: call NumPy's."
_VALUES: Final = "It needs values: call NumPy's on numpy.asarray(x), outside."
_WIDTH: Final = (
    "Its width depends on the machine: write imprint.numpy.int32, or another name that "
    "says its width."
)
_NO_NUMBERS: Final = "Arrays hold numbers: convert before, with NumPy."
_MEMORY: Final = (
    "Arrays have no layout in memory and share it with none: leave it out, or write "
    "imprint.numpy.asarray(x)."
)
_CLASS: Final = "Arrays have one class: write imprint.numpy.asarray(x)."
_LOOP: Final = (
    "It walks over elements one by one: write imprint.vmap, or imprint.lax.scan."
)
_FILE: Final = "Read and write the file with NumPy's, of numpy.asarray(x)."
_FLOATS: Final = (
    "Programs raise nothing for overflow and the like: imprint.debug_nans(True) finds "
    "what is no number."
)

NUMPY: Final[dict[str, Rows]] = {
    "imprint.numpy": (
        ("False_ True_", "Write False and True."),
        ("asanyarray asmatrix matrix bmat require", _CLASS),
        ("ascontiguousarray asfortranarray isfortran", _MEMORY),
        ("may_share_memory shares_memory memmap", _MEMORY),
        (
            "asarray_chkfinite",
            "Write imprint.numpy.asarray(x), and imprint.debug.check of "
            "imprint.numpy.isfinite(x).all().",
        ),
        (
            "byte ubyte short ushort intc uintc intp uintp long ulong longlong ulonglong "
            "longdouble clongdouble float128 complex256",
            _WIDTH,
        ),
        (
            "bytes_ str_ strings char void datetime64 timedelta64 datetime_as_string "
            "datetime_data busday_count busday_offset busdaycalendar is_busday isnat "
            "rec recarray record",
            _NO_NUMBERS,
        ),
        ("flatiter nditer nested_iters ndenumerate ndindex broadcast", _LOOP),
        ("fromregex genfromtxt loadtxt savetxt savez_compressed", _FILE),
        (
            "array2string base_repr binary_repr format_float_positional "
            "format_float_scientific",
            _VALUES,
        ),
        ("copyto putmask", "Write imprint.numpy.where(mask, values, a)."),
        ("common_type min_scalar_type", "Write imprint.numpy.result_type."),
        ("mintypecode sctypeDict typecodes typename ScalarType", _AS_IT_IS),
        (
            "real_if_close",
            "Which dtype it gives depends on values: imprint.numpy.real.",
        ),
        ("emath", "Convert with x.astype(complex), and call the function."),
        ("poly1d polynomial", "Write imprint.numpy.polyval of the coefficients."),
        ("row_stack", "Write imprint.numpy.vstack."),
        (
            "errstate geterr geterrcall seterr seterrcall getbufsize setbufsize",
            _FLOATS,
        ),
        ("ma", "Keep a mask beside the array, and write imprint.numpy.where."),
        ("random", "Draw with imprint.random, of a key."),
        ("testing test", "imprint.testing has check_grads; NumPy's takes arrays."),
        (
            "core ctypeslib dtypes exceptions f2py lib get_include info little_endian "
            "show_config show_runtime",
            _AS_IT_IS,
        ),
    ),
    "imprint.numpy.linalg": (
        ("LinAlgError", "A singular matrix gives numbers that are none, and no error."),
    ),
}
"""By home, the names that it lacks of NumPy and JAX does not have."""
