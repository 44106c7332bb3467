"""Spectra of signals over time are JAX's, or SciPy's where JAX's are of another signal."""

import itertools

import jax
import jax.scipy.signal
import numpy as np
import pytest
import scipy.signal

import imprint
from imprint.errors import ArgumentError, AxisError, ShapeError
from imprint.scipy import signal
from tests import oracle
from tests.lanes import exhaustive
from tests.tolerances import assert_close

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 60)).astype("float32")
Y = RNG.normal(size=(2, 50)).astype("float32")
BOUNDARIES = ["zeros", "even", "odd", "constant", None]
WAYS = [
    {"nperseg": 16},
    {"nperseg": 15, "noverlap": 4, "window": "hamming"},
    {"nperseg": 16, "noverlap": 0, "nfft": 21, "return_onesided": False},
    {"nperseg": 20, "window": ("tukey", 0.3), "detrend": "linear", "fs": 4.0},
    {"window": np.hamming(12).astype("float32"), "nperseg": 12, "noverlap": 9},
    {"nperseg": 1},
]


def compare(calls):
    """Compare calls `(name, args, kwargs)` with JAX, eagerly and in one program."""
    theirs = [getattr(jax.scipy.signal, name) for name, _, _ in calls]
    own = [getattr(signal, name) for name, _, _ in calls]

    def run(functions):
        return [
            f(*args, **kw) for f, (_, args, kw) in zip(functions, calls, strict=True)
        ]

    want = oracle.jit(lambda: run(theirs))()
    for got in (run(own), imprint.jit(lambda: run(own))()):
        for ours, others in zip(got, want, strict=True):
            for a, b in zip(ours, others, strict=True):
                assert_close(a, b, "program")


@pytest.mark.parametrize("boundaries", [BOUNDARIES[:2], *exhaustive(BOUNDARIES[2:])])
def test_transforms_over_time_are_those_of_jax(boundaries):
    calls = [
        ("stft", (x,), {**way, "boundary": boundary, "axis": axis, "padded": padded})
        for (i, way), (j, boundary) in itertools.product(
            enumerate(WAYS), enumerate(boundaries)
        )
        for x, axis, padded in [
            [(X, -1, True), (X.T, 0, False), (X[0], 0, True)][(i + j) % 3]
        ]
    ]
    compare(calls)


@pytest.mark.parametrize("ways", [[WAYS[1]], *exhaustive([{}, WAYS[0], *WAYS[2:-1]])])
def test_densities_are_those_of_jax(ways):
    pairs = [(X, Y, -1), (X, None, 1), (X.T, Y.T[:, :1], 0), (X[0], X[1], 0)]
    kinds = itertools.cycle(
        itertools.product(["density", "spectrum"], ["mean", "median"])
    )
    calls = []
    for way, (x, y, axis) in itertools.product(ways, pairs):
        scaling, average = next(kinds)
        given = {**way, "scaling": scaling, "average": average, "axis": axis}
        calls.append(
            ("csd", (x, y), given) if y is not None else ("welch", (x,), given)
        )
    compare([*calls, ("welch", (np.arange(40),), {}), ("welch", (X[:, :0],), {})])


@pytest.mark.filterwarnings("ignore:.*complex")
def test_complex_signals_have_negative_frequencies():
    z = X + 1j * X[::-1]
    compare([("welch", (z,), {"nperseg": 16}), ("csd", (z, Y), {"nperseg": 16})])
    with pytest.warns(UserWarning, match="stft: a complex signal has negative"):
        assert signal.stft(z, nperseg=16)[2].shape == (2, 16, 9)
    assert signal.stft(z, nperseg=16, return_onesided=False)[2].shape == (2, 16, 9)


def test_a_short_signal_is_one_segment():
    with pytest.warns(
        UserWarning, match="stft: the signal has 60 elements, fewer than"
    ):
        assert signal.stft(X)[2].shape == (2, 31, 3)


@pytest.mark.filterwarnings("ignore:NOLA")
@pytest.mark.parametrize("way", WAYS[:3] + WAYS[4:5])
def test_the_inverse_gives_the_signal(way):
    spectra = signal.stft(X, **way)[2]
    given = {name: x for name, x in way.items() if name != "return_onesided"}
    given["input_onesided"] = way.get("return_onesided", True)
    times, back = signal.istft(spectra, **given)
    theirs = scipy.signal.istft(np.asarray(spectra), **given)[1]
    assert_close(back, theirs.astype(back.dtype), "program")
    if way.get("noverlap") != 0:  # else the window is 0 between segments
        assert_close(np.real(back)[:, :60], X, "program")
    assert times.shape == (back.shape[-1],)


@pytest.mark.exhaustive
def test_inverses_are_those_of_jax():
    spectra = RNG.normal(size=(3, 9, 7)) + 1j * RNG.normal(size=(3, 9, 7))
    spectra = spectra.astype("complex64")
    axes = list(itertools.permutations(range(3), 2))

    def run(istft):
        return [
            istft(
                np.moveaxis(spectra, (1, 2), (f, t)),
                time_axis=t,
                freq_axis=f,
                boundary=False,
            )[1]
            for t, f in axes
        ]

    want = oracle.jit(lambda: run(jax.scipy.signal.istft))()
    for ours, theirs in zip(run(signal.istft), want, strict=True):
        assert_close(ours, theirs, "program")
    one = spectra[0]
    for a, b in zip(signal.istft(one), jax.scipy.signal.istft(one), strict=True):
        assert_close(a, b, "program")


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:NOLA")
def test_inverses_of_which_jax_loses_something():
    spectra = np.asarray(signal.stft(X[0], nperseg=16, noverlap=0)[2])
    whole = signal.istft(spectra, noverlap=0)[1]
    assert jax.scipy.signal.istft(spectra, noverlap=0)[1].size != whole.size
    theirs = scipy.signal.istft(spectra, noverlap=0)[1].astype("float32")
    assert_close(whole, theirs, "program")
    odd = np.asarray(signal.stft(X, nperseg=15)[2])
    assert_close(signal.istft(odd, nperseg=15)[1][:, :60], X, "program")
    with pytest.raises(TypeError):
        jax.scipy.signal.istft(odd, nperseg=15)
    even = np.asarray(signal.stft(X, nperseg=16)[2])
    assert jax.scipy.signal.istft(even)[0].shape == (2,)
    assert signal.istft(even)[0].shape == (64,)


def test_a_function_as_trend():
    def centred(parts):
        return parts - parts.mean(axis=-1, keepdims=True)

    want = signal.stft(X, nperseg=16, detrend="constant")[2]
    assert_close(signal.stft(X, nperseg=16, detrend=centred)[2], want, "program")

    def along(parts):
        return parts - parts.mean(axis=0, keepdims=True)

    theirs = scipy.signal.stft(X.T, nperseg=16, axis=0, detrend=along)[2]
    got = signal.stft(X.T, nperseg=16, axis=0, detrend=along)[2]
    assert_close(got, theirs.astype(got.dtype), "program")


def test_spectra_are_batched_and_differentiated():
    def power(x, fs):
        times, spectra = signal.stft(x, fs, nperseg=16)[1:]
        return (abs(spectra) ** 2).sum() + times.sum() + signal.welch(x, fs)[1].sum()

    def theirs(x, fs):
        times, spectra = jax.scipy.signal.stft(x, fs, nperseg=16)[1:]
        welch = jax.scipy.signal.welch(x, fs)[1].sum()
        return (abs(spectra) ** 2).sum() + times.sum() + welch

    want = oracle.jit(jax.vmap(jax.grad(theirs, (0, 1)), (0, None)))(X, 2.0)
    got = imprint.jit(imprint.vmap(imprint.grad(power, (0, 1)), (0, None)))(X, 2.0)
    for a, b in zip(got, want, strict=True):
        assert_close(a, b, "gradient")


WRONG = [
    (
        lambda: signal.stft(X, nperseg=16, noverlap=16),
        ArgumentError,
        "stft: expected nperseg of 1 or more, noverlap in [0, nperseg), and nfft of "
        "nperseg or more, got nperseg=16, noverlap=16, nfft=16.",
    ),
    (
        lambda: signal.welch(X, nperseg=16, nfft=8),
        ArgumentError,
        "welch: expected nperseg of 1 or more, noverlap in [0, nperseg), and nfft of "
        "nperseg or more, got nperseg=16, noverlap=8, nfft=8.",
    ),
    (
        lambda: signal.stft(X, window=np.ones(70)),
        ShapeError,
        "stft: expected a window of nperseg numbers, at most 60, which the signal has, got "
        "float32[70] and nperseg=256.",
    ),
    (
        lambda: signal.stft(X, nperseg=8, window="triangel"),
        ArgumentError,
        "stft: expected a window of scipy.signal.windows, or an array, got 'triangel'.",
    ),
    (
        lambda: signal.stft(X, nperseg=8, boundary="wrap"),
        ArgumentError,
        "stft: expected a boundary of zeros, even, odd, constant or None, got 'wrap'.",
    ),
    (
        lambda: signal.stft(X, nperseg=8, detrend=True),
        ArgumentError,
        "stft: expected detrend to be constant, linear, a function or False, got True.",
    ),
    (
        lambda: signal.csd(X, Y, scaling="power"),
        ArgumentError,
        "csd: expected a scaling of density or spectrum, got 'power'.",
    ),
    (
        lambda: signal.csd(X, Y, average="mode"),
        ArgumentError,
        "csd: expected an average of mean or median, got 'mode'.",
    ),
    (
        lambda: signal.csd(X, Y[0]),
        ShapeError,
        "csd: expected two signals of as many axes, whose shapes broadcast but along the "
        "axis of time, got float32[2,60] and float32[50]. Add axes with "
        "imprint.numpy.expand_dims.",
    ),
    (
        lambda: signal.istft(X[0]),
        ShapeError,
        "istft: expected an axis of frequencies and one of segments, got float32[60]. Pass "
        "what stft returns last.",
    ),
    (
        lambda: signal.istft(X, time_axis=0),
        AxisError,
        "istft: expected time_axis and freq_axis to differ, got 0 for both.",
    ),
]


@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_an_error_message(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == text
