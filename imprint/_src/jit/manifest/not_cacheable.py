"""The reason why a trace is not kept for another process, and what to do about it.

Each reason has one sentence for the user, and one that says what helps.
"""

from enum import Enum
from typing import Final


class Why(Enum):
    """The kind of reason."""

    VALUE = "E-VALUE"
    SIZE = "E-SIZE"
    IMPURE = "E-IMPURE"
    EFFECT = "E-EFFECT"
    OWNER = "E-OWNER"
    RECORDER = "E-RECORDER"
    RESULT = "E-RESULT"
    OPTION = "E-OPTION"


class Refused(Exception):  # noqa: N818 - no error: users see its text alone
    """Another process could not tell that it would trace the same.

    Args:
        why: the kind of reason.
        what: the part of the message that names the culprit.
    """

    def __init__(self, why: Why, what: str) -> None:
        super().__init__(f"{why.value}: {_TEXTS[why].format(what=what)}")
        self.why = why
        self._what = what

    def at(self, location: object) -> "Refused":
        """Return the same with the location where it was found."""
        return Refused(self.why, f"{self._what} ({location})")


_OF_VALUES: Final = (
    "it reads {what}, of which a new process cannot tell that it is the same; "
    "pass it as an argument, or make it a frozen dataclass of numbers, texts and arrays"
)
_TEXTS: Final = {
    Why.VALUE: _OF_VALUES,
    Why.SIZE: _OF_VALUES,
    Why.IMPURE: "it reads {what}, which may give something else in a new process; call it "
    "outside, and pass the result as an argument; if it is the same everywhere, tell "
    "imprint.cache.assume_pure",
    Why.EFFECT: "tracing it {what}, which a warm start would not do; do it outside",
    Why.OWNER: "it reads {what}, to which no name leads; give it a name in a module",
    Why.RECORDER: "{what}, so not all that it read is known",
    Why.RESULT: "it returns {what}; return arrays in tuples, lists, dictionaries, or "
    "what it was given",
    Why.OPTION: "{what} is not kept yet; leave it out of what shall start warm",
}
