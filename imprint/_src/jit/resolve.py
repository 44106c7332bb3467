"""Answering a call that the warm path does not know: by what is there, or is made now.

A function whose axes have names is answered by a program for a bucket, if there can be
one. Its version stands in the table of versions like all others, at a key with the bucket
in the place of sizes.
"""

from typing import Any

from imprint._src.config import config
from imprint._src.jit.audit import audit
from imprint._src.jit.compiling import compile_version
from imprint._src.jit.request import Request


def answer(request: Request) -> Any:
    """Return the result of a call outside of all traces."""
    answered, result = False, None
    if request.options.abstracted_axes is not None:
        from imprint._src.jit.bucket_dispatch import answer_in_bucket  # noqa: PLC0415 - few functions name axes

        answered, result = answer_in_bucket(request)
    elif config.generalise == "auto":
        from imprint._src.jit.auto_bucketing import answer_by_trial  # noqa: PLC0415 - few ask for it

        answered, result = answer_by_trial(request)
    if answered:
        return result
    audit(request)  # while it is on, no key is found on the warm path
    versions = request.definition.versions
    version = versions.get(request.pending.key, lambda: compile_version(request))
    version.hits += 1
    return version.run(request.pending.leaves)
