"""Functions that call NumPy: after any edit, a hit gives the result of a fresh trace."""

import numpy as np
import pytest

import imprint

X = np.linspace(0.1, 1, 3, dtype="float32")
EDITS = {
    "np is another module": (
        "import numpy as np\ndef f(x): return np.sin(x)",
        "import types; np = types.SimpleNamespace(sin=lambda x: x * 2)",
    ),
    "an imported function": (
        "from numpy import sin\ndef f(x): return sin(x)",
        "from numpy import cos as sin",
    ),
    "a function on a class": (
        "import numpy as np\nclass K: g = np.sin\ndef f(x): return K.g(x)",
        "K.g = np.cos",
    ),
    "a function in a dict": (
        "import numpy as np\nd = {'g': np.sin}\ndef f(x): return d['g'](x)",
        "d['g'] = np.cos",
    ),
    "functions in a list": (
        "import numpy as np\nd = [np.sin, np.cos]\ndef f(x): return d[0](d[1](x))",
        "d[0] = np.tanh",
    ),
    "a ufunc of which a method is called": (
        "import numpy as np\ng = np.add\ndef f(x): return g.reduce(x)",
        "g = np.multiply",
    ),
    "a partial function": (
        "import numpy as np, functools\n"
        "g = functools.partial(np.clip, a_min=0.0, a_max=0.5)\ndef f(x): return g(x)",
        "g = functools.partial(np.clip, a_min=0.0, a_max=0.9)",
    ),
    "another number": (
        "import numpy as np\nk = 0.5\ndef f(x):\n    g = np.where\n    return g(x > k, x, 0)",
        "k = 0.6",
    ),
    "another array": (
        "import numpy as np\nt = np.arange(3.0)\ndef f(x): return np.multiply(x, t)",
        "t = np.ones(3)",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_in_numpy_code_is_seen(name):
    source, edit = EDITS[name]
    names = {"__name__": "__main__"}
    exec(source, names)
    f = imprint.jit(names["f"])
    first = np.asarray(f(X))
    f(X)
    assert f._cache_size() == 1
    before = names.copy()  # a freed array takes its version with it
    exec(edit, names)
    np.testing.assert_allclose(f(X), names["f"](X), rtol=1e-6)
    assert not np.allclose(f(X), first)
    assert f._cache_size() == 2
    del before


def test_strict_sees_a_replaced_numpy_function(monkeypatch):
    f = imprint.jit(lambda x: np.sin(x), strict=True)
    np.testing.assert_allclose(f(X), np.sin(X), rtol=1e-6)
    monkeypatch.setattr(np, "sin", np.cos)
    np.testing.assert_allclose(f(X), np.cos(X), rtol=1e-6)


# ---- random numbers ----
