"""The exceptions and warnings of imprint."""

from imprint._src.bootstrap import attribute_errors
from imprint._src.errors import AbsentRuleError as AbsentRuleError
from imprint._src.errors import ArgumentError as ArgumentError
from imprint._src.errors import AxisError as AxisError
from imprint._src.errors import BackendError as BackendError
from imprint._src.errors import BackendWarning as BackendWarning
from imprint._src.errors import CaptureWarning as CaptureWarning
from imprint._src.errors import CheckError as CheckError
from imprint._src.errors import CompileError as CompileError
from imprint._src.errors import ConcretizationError as ConcretizationError
from imprint._src.errors import ConcretizationTypeError as ConcretizationTypeError
from imprint._src.errors import ConfigError as ConfigError
from imprint._src.errors import DeletedArrayError as DeletedArrayError
from imprint._src.errors import DTypeError as DTypeError
from imprint._src.errors import IndivisibleError as IndivisibleError
from imprint._src.errors import InternalError as InternalError
from imprint._src.errors import JAXIndexError as JAXIndexError
from imprint._src.errors import JAXTypeError as JAXTypeError
from imprint._src.errors import KeyReuseError as KeyReuseError
from imprint._src.errors import (
    NonConcreteBooleanIndexError as NonConcreteBooleanIndexError,
)
from imprint._src.errors import NonConcreteSliceError as NonConcreteSliceError
from imprint._src.errors import NonFiniteError as NonFiniteError
from imprint._src.errors import NotDifferentiableError as NotDifferentiableError
from imprint._src.errors import PromotionError as PromotionError
from imprint._src.errors import RecompileError as RecompileError
from imprint._src.errors import RecompileWarning as RecompileWarning
from imprint._src.errors import ShapeError as ShapeError
from imprint._src.errors import StaleVersionError as StaleVersionError
from imprint._src.errors import StoreWarning as StoreWarning
from imprint._src.errors import TracerArrayConversionError as TracerArrayConversionError
from imprint._src.errors import TracerBoolConversionError as TracerBoolConversionError
from imprint._src.errors import (
    TracerIntegerConversionError as TracerIntegerConversionError,
)
from imprint._src.errors import TreeError as TreeError
from imprint._src.errors import UnboundAxisError as UnboundAxisError
from imprint._src.errors import UndefinedRuleError as UndefinedRuleError
from imprint._src.errors import UnexpectedTracerError as UnexpectedTracerError
from imprint._src.errors import did_you_mean as did_you_mean

__all__ = [
    "AbsentRuleError",
    "ArgumentError",
    "AxisError",
    "BackendError",
    "BackendWarning",
    "CaptureWarning",
    "CheckError",
    "CompileError",
    "ConcretizationError",
    "ConcretizationTypeError",
    "ConfigError",
    "DTypeError",
    "DeletedArrayError",
    "IndivisibleError",
    "InternalError",
    "JAXIndexError",
    "JAXTypeError",
    "KeyReuseError",
    "NonConcreteBooleanIndexError",
    "NonConcreteSliceError",
    "NonFiniteError",
    "NotDifferentiableError",
    "PromotionError",
    "RecompileError",
    "RecompileWarning",
    "ShapeError",
    "StaleVersionError",
    "StoreWarning",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "TreeError",
    "UnboundAxisError",
    "UndefinedRuleError",
    "UnexpectedTracerError",
    "did_you_mean",
]

attribute_errors.explain_missing(__name__)
