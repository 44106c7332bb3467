"""An ignore names its rule and its reason; a TODO names its issue.

The reason follows the rules on the same line (`# noqa: PLC0415 - SciPy costs 90 ms`)
or in a comment at most six lines above, where it can serve a group.
"""

import re

from tests.meta.sources import every_source

NOQA = re.compile(
    r"#\s*noqa\b(?::\s*(?P<rules>[A-Z]+\d+(?:,?\s*[A-Z]+\d+)*))?(?P<why>.*)"
)
PYRIGHT = re.compile(r"#\s*pyright:\s*ignore\b(?:\[(?P<rules>[\w, ]+)\])?(?P<why>.*)")
FILE_WIDE = re.compile(r"#\s*pyright:\s*(?!ignore)(?P<rules>\w+=\w+)(?P<why>.*)")
COMMENT = re.compile(r"\s*# (?!---- )\w")
REACH = 6
TODO = re.compile(r"#.*\b(TODO|FIXME|XXX)\b(?!\(#\d+\))")


def reason_is_near(source, number, rest):
    """One reason may serve a group: it is on the line or in a comment just above."""
    words = re.sub(r"^[\s\-–:]+", "", rest)
    above = source.lines[max(0, number - REACH) : number]
    return len(words) > 8 or any(COMMENT.match(line) for line in above)


def bare_ignores(source):
    for number, line in enumerate(source.lines):
        for pattern in (NOQA, PYRIGHT, FILE_WIDE):
            found = pattern.search(line)
            if found and not (
                found["rules"] and reason_is_near(source, number, found["why"])
            ):
                yield f"{source}:{number + 1}: {line.strip()}"


@every_source
def test_every_ignore_names_its_rule_and_reason(source):
    assert not list(bare_ignores(source))


@every_source
def test_every_todo_names_its_issue(source):
    assert not [line for line in source.lines if TODO.search(line)]
