import inspect
import pickle
import traceback

import pytest

import imprint
import imprint.numpy as np
import imprint.scipy.linalg
import imprint.scipy.stats
from imprint import errors
from imprint.errors import DTypeError

BASES = {
    "AbsentRuleError": (NotImplementedError,),
    "ArgumentError": (TypeError, ValueError),
    "BackendError": (RuntimeError,),
    "CompileError": (RuntimeError,),
    "ConcretizationError": (TypeError,),
    "ConfigError": (ValueError, AttributeError),
    "DTypeError": (TypeError, ValueError),
    "DeletedArrayError": (RuntimeError,),
    "BackendWarning": (UserWarning,),
    "CaptureWarning": (UserWarning,),
    "RecompileError": (RuntimeError,),
    "CheckError": (RuntimeError,),
    "RecompileWarning": (UserWarning,),
    "StoreWarning": (UserWarning,),
    "IndivisibleError": (ValueError,),
    "InternalError": (RuntimeError,),
    "JAXIndexError": (IndexError,),
    "JAXTypeError": (TypeError,),
    "KeyReuseError": (RuntimeError,),
    "NonConcreteBooleanIndexError": (TypeError, IndexError),
    "NonConcreteSliceError": (TypeError, IndexError),
    "NonFiniteError": (FloatingPointError,),
    "NotDifferentiableError": (TypeError, ValueError),
    "PromotionError": (TypeError, ValueError),
    "ShapeError": (TypeError, ValueError),
    "StaleVersionError": (RuntimeError,),
    "AxisError": (TypeError, ValueError, IndexError),
    "TreeError": (ValueError,),
    "UndefinedRuleError": (AttributeError,),
    "UnboundAxisError": (NameError,),
    "UnexpectedTracerError": (TypeError,),
}
CLASSES = {
    name: value
    for name, value in vars(errors).items()
    if name[0] != "_" and inspect.isclass(value) and issubclass(value, Exception)
}


@pytest.mark.parametrize(("name", "bases"), BASES.items())
def test_subclasses_the_builtin_that_a_jax_user_catches(name, bases):
    for base in bases:
        assert issubclass(CLASSES[name], base)


def test_every_class_is_listed_and_documented():
    assert {cls.__name__ for cls in CLASSES.values()} == set(BASES)
    assert set(errors.__all__) == {*CLASSES, "did_you_mean"}
    assert all(cls.__doc__ for cls in CLASSES.values())


def messages(*calls):
    for call in calls:
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        yield str(caught.value).partition(",")[0]


def test_a_message_begins_with_the_function_that_was_called():
    x, key = np.ones(3), imprint.random.key(0)
    pdf = imprint.scipy.stats.norm.pdf
    assert [
        *messages(
            lambda: np.nansum(x, 4),
            lambda: x.mean(4),
            lambda: np.cov(x, dtype="abc"),
            lambda: np.vectorize(lambda x: np.nansum(x, 4))(x),
            lambda: imprint.jit(lambda x: np.nansum(x, 4))(x),
            lambda: np.left_shift(x, 1),
            lambda: x.at[1.5].set(1),
            lambda: np.put(x, 1.5, 2, inplace=False),
            lambda: np.linalg.cond(x),
            lambda: imprint.scipy.linalg.expm(x),
            lambda: pdf("a"),
            lambda: imprint.nn.softmax(x, 4),
            lambda: imprint.lax.dynamic_slice_in_dim(x, 1.5, 2),
            lambda: imprint.lax.reduce_max(x, "ab"),
            lambda: imprint.random.permutation(key, x, 4),
        )
    ] == [
        "nansum: expected an axis in [-1",
        "mean: expected an axis in [-1",
        "cov: dtype: expected bool",
        "nansum: expected an axis in [0",
        "nansum: expected an axis in [-1",
        "left_shift: expected an integer dtype",
        "indexing: expected ints",
        "put: expected indices of an integer dtype",
        "linalg.cond: expected matrices along the last two axes",
        "scipy.linalg.expm: expected matrices along the last two axes",
        "norm.pdf: expected an array or a number",
        "softmax: expected an axis in [-1",
        "dynamic_slice_in_dim: expected starts of one integer dtype",
        "reduce_max: expected a sequence of whole numbers",
        "permutation: expected an axis in [-1",
    ]
    with pytest.raises(DTypeError, match=r"with `\.astype\(\.\.\.\)`\.$"):
        np.left_shift(x, 1)


def test_jax_names_of_concretization_are_one_class():
    for name in ("Bool", "Integer", "Array"):
        alias = CLASSES[f"Tracer{name}ConversionError"]
        assert alias is errors.ConcretizationError
    assert errors.ConcretizationTypeError is errors.ConcretizationError


@pytest.mark.parametrize("cls", {*CLASSES.values()}, ids=lambda cls: cls.__name__)
def test_survives_pickling_and_shows_its_message(cls):
    error = pickle.loads(pickle.dumps(cls("expected x, got y.")))
    assert type(error) is cls
    assert str(error) == "expected x, got y."


def test_internal_error_requests_a_report_and_shows_the_jaxpr():
    error = errors.InternalError("lowering: lost b", jaxpr="{ lambda ; a. let in () }")
    for shown in (error, pickle.loads(pickle.dumps(error))):
        text = "".join(traceback.format_exception_only(shown))
        assert text == (
            "imprint.errors.InternalError: lowering: lost b\n"
            "This is a bug in imprint. Please report it with this traceback.\n"
            "It happened in this jaxpr:\n"
            "{ lambda ; a. let in () }\n"
        )


@pytest.mark.parametrize(
    ("name", "choices", "text"),
    [
        ("enable_x46", ["debug_nans", "enable_x64"], " Did you mean 'enable_x64'?"),
        ("axis", ["shape", "dtype"], ""),
        ("axis", [], ""),
    ],
)
def test_did_you_mean(name, choices, text):
    assert errors.did_you_mean(name, choices) == text
