"""Refused: why a trace is not kept for another process, and what to do about it.

Whoever reads what a trace read raises it where another process could not be sure; the
version that was traced says it (`Version.restarts`), and works as it does anyway.
"""

from enum import Enum
from typing import Final


class Why(Enum):
    """What kind of thing another process could not be sure of."""

    VALUE = "E-VALUE"
    IMPURE = "E-IMPURE"
    DYNAMIC = "E-DYNAMIC"
    EFFECT = "E-EFFECT"
    OWNER = "E-OWNER"
    RECORDER = "E-RECORDER"
    RESULT = "E-RESULT"
    OPTION = "E-OPTION"


class Refused(Exception):  # noqa: N818 - no error: nobody sees it but as a text
    """Another process could not tell that it would trace the same.

    Args:
        why: what kind of thing it is.
        what: it, as it stands in the message.
    """

    def __init__(self, why: Why, what: str) -> None:
        super().__init__(f"{why.value}: {_TEXTS[why].format(what=what)}")
        self._why = why
        self._what = what

    def at(self, place: object) -> "Refused":
        """Return the same with the place at which it was met."""
        return Refused(self._why, f"{self._what} ({place})")


_TEXTS: Final = {
    Why.VALUE: "it reads {what}, of which a new process cannot tell that it is the same; "
    "pass it as an argument, or make it a frozen dataclass of numbers, texts and arrays",
    Why.IMPURE: "it reads {what}, which may give something else in a new process; call it "
    "outside, and pass the result as an argument; if it is the same everywhere, tell "
    "imprint.cache.assume_pure",
    Why.DYNAMIC: "its code {what}; name what it reads",
    Why.EFFECT: "tracing it {what}, which a warm start would not do; do it outside",
    Why.OWNER: "it reads {what}, to which no name leads; give it a name in a module",
    Why.RECORDER: "{what}, so not all that it read is known",
    Why.RESULT: "it returns {what}; return arrays in tuples, lists, dictionaries, or "
    "what it was given",
    Why.OPTION: "{what} is not kept yet; leave it out of what shall start warm",
}
