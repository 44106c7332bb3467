"""`max_compiles`: counted compiles, errors, threads, tasks and nested blocks."""

import asyncio
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.versions.version import OBSERVERS
from imprint.errors import ArgumentError, RecompileError
from imprint.testing import max_compiles


@pytest.fixture(autouse=True)
def _alone():
    """Equal functions share versions, so a count starts from none."""
    imprint.clear_caches()
    yield
    assert not OBSERVERS


@pytest.fixture
def f():
    return imprint.jit(total)


def total(x):
    return x.sum()


def call_all(f, sizes):
    for n in sizes:
        f(inp.ones(n))


# ---- counted compiles ----


def test_counts_versions_and_keeps_their_explanations(f):
    with max_compiles(3) as made:
        assert (made.count, made.explanations) == (0, ())
        for n in (2, 3, 2, 3):
            f(inp.ones(n))
        assert made.count == 2
    first, second = made.explanations
    assert first.seconds > 0
    assert [str(d) for d in second.differences] == ["x.shape[0]: 2 → 3"]
    assert made.count == 2


def test_equal_functions_are_counted_once():
    with max_compiles(1) as made:
        for _ in range(3):
            assert imprint.jit(lambda x: x.sum() * 7)(inp.ones(4)) == 28
    assert made.count == 1


def test_a_version_is_counted_even_if_xla_has_the_program():
    x = inp.ones(3)
    imprint.jit(lambda x: x * 2.5)(x)
    with max_compiles(5) as made:
        imprint.jit(lambda y: y * 2.5)(x)
    assert made.count == 1


def test_eager_operations_stages_and_inner_functions_are_not_counted(f):
    x = inp.ones(5)
    outer = imprint.jit(lambda x: f(x) + f(x * 2))
    with max_compiles(1) as made:
        assert inp.sin(x).shape == (5,)
        assert imprint.grad(f)(x).shape == (5,)
        f.lower(x).compile()
        assert outer(x) == 15
    assert made.count == 1
    assert made.explanations[0].function == "<lambda>"


def test_a_trace_that_fails_is_not_counted():
    broken = [True]

    @imprint.jit
    def fragile(x):
        if broken:
            raise KeyError("not yet")
        return x

    with max_compiles(1) as made:
        for _ in range(3):
            with pytest.raises(KeyError):
                fragile(1.0)
        broken.clear()
        assert fragile(1.0) == 1
        assert made.count == 1


def test_no_block_no_observer(f):
    with max_compiles(1) as made:
        pass
    f(inp.ones(3))
    assert made.count == 0
    assert not OBSERVERS


# ---- the error ----


def test_raises_where_the_call_is_before_it_is_traced():
    traced = []

    @imprint.jit
    def noted(x):
        traced.append(x)
        return x

    with pytest.raises(RecompileError) as caught, max_compiles(0):
        noted(1.0)
    assert not traced
    assert caught.value.explanation.function == "noted"
    assert noted(1.0) == 1  # nothing is lost
    with max_compiles(0):
        assert noted(2.0) == 2


def test_an_error_that_is_handled_leaves_the_block_usable(f):
    warm = inp.ones(2)
    with max_compiles(1) as made:
        f(warm)
        for n in (3, 4):
            with pytest.raises(RecompileError):
                f(inp.ones(n))
        assert f(warm) == 2
    assert made.count == 1
    assert f(inp.ones(3)) == 3


def test_message_of_a_warm_program():
    @imprint.jit
    def total(x):
        return x.sum() + 0.125  # of this test alone, which was never compiled

    f = total
    with pytest.raises(RecompileError) as caught, max_compiles(0):
        f(inp.ones(3))
    line = sites_of(caught.value)[0]
    assert text_of(caught.value) == (
        "max_compiles(0): expected no compile in the block at test_compiles.py:N, got "
        "one. total at test_compiles.py:N compiles: it has no version yet.\n"
        "  Make such a call before, or allow it: max_compiles(1)."
    )
    assert sites_of(caught.value) == [line, line + 1]


def test_message_lists_earlier_compiles(f):
    with pytest.raises(RecompileError) as caught, max_compiles(7):
        call_all(f, range(9))
    assert text_of(caught.value) == (
        "max_compiles(7): expected at most 7 compiles in the block at "
        "test_compiles.py:N, got one more. total at test_compiles.py:N compiles: it "
        "differs from version 6 in x.shape[0]: 6 → 7. Pad axis 0 of x to a multiple of "
        "2: `np.pad(x, [(0, 1)])`. Or name it: `abstracted_axes={'x': {0: 'n'}}`.\n"
        f"  Compiled there before: {'total at test_compiles.py:N; ' * 5}and 2 more.\n"
        "  Make such a call before, or allow it: max_compiles(8)."
    )
    block, *calls = sites_of(caught.value)
    assert block not in calls
    assert len(set(calls)) == 1


def sites_of(error):
    return [int(n) for n in re.findall(r"test_compiles\.py:(\d+)", str(error))]


def text_of(error):
    return re.sub(r"(?<=\.py:)\d+", "N", str(error))


def test_an_error_travels_without_its_explanation(f):
    with pytest.raises(RecompileError) as caught, max_compiles(0):
        f(inp.ones(3))
    caught.value.add_note("seen")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.__notes__ == ["seen"]
    assert copy.explanation is None


@pytest.mark.parametrize("error", [KeyError("x"), SystemExit(1), StopIteration()])
def test_other_exceptions_pass_unchanged(error):
    with pytest.raises(type(error)) as caught, max_compiles(0):
        raise error
    assert caught.value is error


@pytest.mark.parametrize("n", [-1, True, False, 1.0, "1", None, total])
def test_a_bad_number_is_refused(n):
    with pytest.raises(ArgumentError) as caught:
        max_compiles(n)
    assert str(caught.value) == (
        "max_compiles: expected the number of compiles to allow, an integer of at least "
        f"0, got {n!r}. Write max_compiles(0) where all is compiled already."
    )


# ---- blocks in blocks ----


def test_the_innermost_full_block_refuses(f):
    with max_compiles(3) as outer:
        f(inp.ones(2))
        with max_compiles(1) as inner:
            f(inp.ones(3))
            with pytest.raises(RecompileError, match=r"^max_compiles\(1\)"):
                f(inp.ones(4))
        assert (outer.count, inner.count) == (2, 1)
        f(
            inp.ones(4)
        )  # a compile that the inner block refused is not counted in the outer
        with (
            pytest.raises(RecompileError, match=r"^max_compiles\(3\)"),
            max_compiles(1) as inner,
        ):
            f(inp.ones(5))
        assert inner.count == 0
    assert outer.count == 3


def test_the_innermost_of_two_full_blocks_refuses(f):
    with max_compiles(1):
        f(inp.ones(2))
        with (
            pytest.raises(RecompileError, match=r"^max_compiles\(0\)"),
            max_compiles(0),
        ):
            f(inp.ones(3))


def test_one_object_may_be_entered_again(f):
    limit = max_compiles(2)
    with limit as outer:
        with limit as inner:
            f(inp.ones(2))
        f(inp.ones(3))
    assert (outer.count, inner.count) == (2, 1)
    with limit as again:
        f(inp.ones(4))
    assert (outer.count, inner.count, again.count) == (2, 1, 1)
    assert repr(again).startswith("<1 of 2 compiles in the block at test_compiles.py:")


# ---- threads ----


def in_thread(action):
    thread = threading.Thread(target=action)
    thread.start()
    thread.join()


def test_the_end_of_the_block_raises_the_error_of_another_thread(f):
    seen = []

    def work():
        with pytest.raises(RecompileError) as caught:
            f(inp.ones(3))
        seen.append(caught.value)

    with pytest.raises(RecompileError) as caught, max_compiles(0) as made:
        in_thread(work)
    assert str(caught.value) == str(seen[0])
    assert caught.value.__cause__ is seen[0]
    assert caught.value.explanation is seen[0].explanation
    assert made.count == 0


def test_an_error_of_the_block_comes_before_that_of_a_thread(f):
    def work():
        with pytest.raises(RecompileError):
            f(inp.ones(3))

    def body():
        in_thread(work)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), max_compiles(0):
        body()


def test_threads_that_miss_at_once_share_one_limit():
    threads, limit = 8, 3
    functions = [imprint.jit(lambda x, i=i: x * i) for i in range(threads)]
    barrier = threading.Barrier(threads)

    def call(i):
        barrier.wait()
        try:
            return float(functions[i](1.0)) == i
        except RecompileError:
            return None

    with (
        pytest.raises(RecompileError),
        max_compiles(limit) as made,
        ThreadPoolExecutor(threads) as pool,
    ):
        results = list(pool.map(call, range(threads)))
    assert results.count(True) == made.count == limit
    assert results.count(None) == threads - limit


def test_a_place_is_free_again_while_the_thread_lives(f):
    @imprint.jit
    def fragile(x):
        raise KeyError

    def fail():
        with pytest.raises(KeyError):
            fragile(1.0)

    with ThreadPoolExecutor(1) as pool, max_compiles(1) as made:
        pool.submit(fail).result()
        f(inp.ones(2))
        assert made.count == 1


def test_threads_may_share_one_object(f):
    limit = max_compiles(1)
    inside, leave = threading.Event(), threading.Event()
    found = []

    def work():
        with limit as made:
            found.append(made)
            inside.set()
            leave.wait()
        found.append(repr(made))

    thread = threading.Thread(target=work)
    with limit as mine:
        thread.start()
        inside.wait()
    f(inp.ones(2))  # counts in the block of the thread alone
    leave.set()
    thread.join()
    assert (mine.count, found[0].count) == (0, 1)


def test_one_thread_may_close_the_block_of_another(f):
    limit = max_compiles(1)
    in_thread(limit.__enter__)
    f(inp.ones(2))
    limit.__exit__(None, None, None)
    f(inp.ones(3))


@pytest.fixture
def slow_version():
    """A thread that makes a version, and an event that lets it finish."""
    begun, go_on = threading.Event(), threading.Event()

    @imprint.jit
    def slow(x):
        begun.set()
        go_on.wait()
        return x

    thread = threading.Thread(target=lambda: slow(1.0))

    def finish():
        go_on.set()
        thread.join()

    def begin():
        thread.start()
        begun.wait()

    return begin, finish


def test_a_version_begun_before_the_block_is_not_counted(slow_version):
    begin, finish = slow_version
    begin()
    with max_compiles(0) as made:
        finish()
    assert made.count == 0


@pytest.mark.parametrize("n", [0, 1])
def test_a_version_made_after_the_block_is_not_counted(slow_version, n):
    begin, finish = slow_version
    with max_compiles(1) as made:
        begin()
    with max_compiles(n) as after:
        finish()
    assert (made.count, after.count) == (0, 0)


def test_a_version_made_after_an_inner_block_is_counted_in_the_outer(slow_version):
    begin, finish = slow_version
    with max_compiles(1) as outer:
        with max_compiles(1) as inner:
            begin()
        finish()
    assert (outer.count, inner.count) == (1, 0)


# ---- decorated functions, generators, tasks ----


def test_each_call_of_a_decorated_function_is_a_block(f):
    @max_compiles(1)
    def serve(n, *, times=1):
        """Serve."""
        return [float(f(inp.ones(n + i))) for i in range(times)]

    assert (serve.__name__, serve.__doc__) == ("serve", "Serve.")
    assert serve(2) == [2]
    assert serve(3) == [3]
    with pytest.raises(RecompileError) as caught:
        serve(4, times=2)
    name = test_each_call_of_a_decorated_function_is_a_block.__name__
    assert str(caught.value).startswith(
        "max_compiles(1): expected at most 1 compile in a call of "
        f"{name}.<locals>.serve, limited at test_compiles.py:"
    )


def test_a_jitted_function_may_be_decorated_and_a_decorated_one_jitted(f):
    limited = max_compiles(1)(f)
    assert limited(inp.ones(2)) == 2
    with max_compiles(0), pytest.raises(RecompileError):
        limited(inp.ones(3))
    assert imprint.jit(max_compiles(0)(total))(inp.ones(3)) == 3


def test_the_block_of_a_generator_ends_with_it(f):
    @max_compiles(1)
    def served():
        for n in (2, 3):
            yield float(f(inp.ones(n)))
        return "end"

    values = served()
    assert not OBSERVERS
    assert next(values) == 2
    assert OBSERVERS
    with pytest.raises(RecompileError):
        next(values)
    closed = served()
    next(closed)
    closed.close()


def test_generators_may_interleave(f):
    def served(n):
        with max_compiles(1) as made:
            yield float(f(inp.ones(n)))
            yield made.count

    one, two = served(2), served(2)
    assert [next(one), next(two), next(one), next(two)] == [2, 2, 1, 0]
    assert [*one, *two] == []


def test_the_block_of_a_coroutine_lasts_until_it_returns(f):
    @max_compiles(1)
    async def serve(n):
        await asyncio.sleep(0)
        return float(f(inp.ones(n)))

    async def main():
        assert await asyncio.gather(serve(2), serve(2)) == [2, 2]
        with max_compiles(0), pytest.raises(RecompileError):
            await serve(3)
        with pytest.raises(RecompileError), max_compiles(0):
            await asyncio.to_thread(f, inp.ones(4))

    assert asyncio.iscoroutinefunction(serve)
    asyncio.run(main())


def test_objects_that_cannot_be_decorated_are_refused():
    async def generator():
        yield 1

    for wrong in (generator, 3):
        with pytest.raises(ArgumentError) as caught:
            max_compiles(2)(wrong)
        assert str(caught.value) == (
            "max_compiles: expected a function or coroutine function to decorate, got "
            f"{wrong!r}. Write `with max_compiles(2):` inside it."
        )


def test_functions_jitted_by_the_library_are_not_counted():
    key = imprint.random.key(1)
    with max_compiles(0) as made:
        imprint.random.uniform(key, (3, 7, 11))
    assert made.count == 0
