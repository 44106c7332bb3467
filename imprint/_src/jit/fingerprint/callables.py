"""The token of a callable: equal tokens have equal code, globals and captured plain data.

Tokens of one content are one object, so they are compared by identity.
"""

from types import FunctionType
from typing import Any

from imprint._src.jit.fingerprint.content import ContentReader, scalar_function_token
from imprint._src.jit.fingerprint.token import ROOT, Token, token_of


def definition_token(fun: Any) -> Token:
    """Return the token of a callable.

    Never raises, and runs no code of the user but `__imprint_token__`.
    """
    if type(fun) is FunctionType:
        token = scalar_function_token(fun)
        if token is not None:
            return token
    walk = ContentReader()
    content = walk.value(fun)
    if type(content) is Token:
        return content
    return token_of((ROOT, content), volatile=walk.volatile, has_cells=walk.has_cells)
