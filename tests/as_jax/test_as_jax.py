"""`imprint.as_jax`: unmodified JAX programs, in fresh processes."""

import subprocess
import sys

import pytest

from tests.units.cli.programs import ENVIRONMENT, ROOT

PROGRAM = """
import jax
import jax.numpy as jnp
import numpy as np
import optax
import equinox as eqx
from jax import lax, random
from jax.scipy.special import logsumexp
from jax.tree_util import tree_map

jax.config.update("jax_enable_x64", False)
model = eqx.nn.MLP(2, 1, 8, 2, key=random.key(0))
x = random.normal(random.key(1), (32, 2))
y = x[:, :1] * x[:, 1:]
optimizer = optax.adam(1e-2)
state = optimizer.init(eqx.filter(model, eqx.is_array))


@eqx.filter_jit
def step(model, state):
    def loss(model):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    value, gradients = eqx.filter_value_and_grad(loss)(model)
    updates, state = optimizer.update(gradients, state, model)
    return eqx.apply_updates(model, updates), state, value


for _ in range(20):
    model, state, value = step(model, state)
print(np.asarray(value, np.float64).round(4))
print(isinstance(value, jax.Array), logsumexp(jnp.zeros(2)).round(4))
print(lax.scan(lambda c, v: (c + v, c), 0.0, jnp.arange(3.0))[0])
print(tree_map(lambda v: v + 1, {"a": 1}))
"""
PRIMITIVE = """
import jax
import jax.extend
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

twice_p = Primitive("twice")
twice_p.def_impl(lambda x: 2 * x)
twice_p.def_abstract_eval(lambda x: x)
mlir.register_lowering(twice_p, mlir.lower_fun(lambda x: 2 * x, multiple_results=False))
ad.primitive_jvps[twice_p] = lambda p, t: (twice_p.bind(*p), twice_p.bind(*t))
ad.primitive_transposes[twice_p] = lambda ct, x: [twice_p.bind(ct)]
batching.primitive_batchers[twice_p] = lambda args, dims: (twice_p.bind(*args), dims[0])

print(twice_p.bind(jnp.float32(3.0)))
print(jax.jit(twice_p.bind)(3.0), jax.grad(twice_p.bind)(1.0))
print(jax.jit(jax.vmap(jax.grad(lambda x: twice_p.bind(x) ** 2)))(jnp.arange(2.0)))
del batching.primitive_batchers[twice_p]
batching.axis_primitive_batchers[twice_p] = lambda size, name, kind, args, dims: (
    twice_p.bind(*args) * size,
    dims[0],
)
print(jax.vmap(twice_p.bind)(jnp.arange(2.0)))
print(jax.lax.mul_p.bind(jnp.float32(3.0), jnp.float32(2.0)))
print(jax.jit(jax.lax.tanh_p.bind)(jnp.float32(0.5)))
print(type(jax.lax.linalg.lu_p.bind(jnp.eye(2))), jax.lax.sort_p.multiple_results)
print(jax.lax.add_p.call_primitive, twice_p.call_primitive)
print(jax.typeof(jnp.ones(2)).at_least_vspace().dtype)
print(jax.typeof(jnp.arange(2)).at_least_vspace().dtype == jax.dtypes.float0)


def owners(x):
    trace = jax.extend.core.find_top_trace((x,))
    print(isinstance(x, ad.JVPTracer), x._trace.main is trace.main)
    return x


jax.jvp(owners, (1.0,), (1.0,))
thrice_p = Primitive("thrice")
thrice_p.def_impl(lambda x: 3 * x)
thrice_p.def_abstract_eval(lambda x: x)
lowered = mlir.lower_fun(lambda x: 3 * x, multiple_results=False)
mlir.register_lowering(thrice_p, lambda ctx, x: lowered(ctx, x))
print(jax.jit(thrice_p.bind)(2.0))
program = jax.make_jaxpr(twice_p.bind)(1.0)
print([eqn.primitive is twice_p for eqn in program.eqns])
print(float(jax.core.eval_jaxpr(program.jaxpr, (), 4.0)[0]))
"""


ODE = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.ode import odeint

times = jnp.linspace(0.0, 3.0, 5)
start = {"a": jnp.array([1.0, 2.0]), "b": jnp.array([0.5, 0.2])}


def slope(y, t, rate):
    return {"a": jnp.sin(t) - rate * y["a"], "b": y["a"] * y["b"] * 0.1}


def last(start, rate, times):
    found = odeint(slope, start, times, rate, rtol=1e-6, atol=1e-6)
    return sum(leaf[-1].sum() for leaf in jax.tree.leaves(found))


def shown(tree):
    print(jax.tree.map(lambda x: np.asarray(x).round(3).tolist(), tree))


shown(odeint(slope, start, times, 1.5))
shown(jax.grad(last, argnums=(0, 1, 2))(start, 1.5, times))
shown(jax.jit(jax.vmap(lambda k: odeint(lambda y, t: -k * y, 1.0, times)))(times))
shown(odeint(lambda y, t: 1j * y, 1.0 + 0j, times).imag)
for t, *rest in ((jnp.arange(3),), (times, "a")):
    try:
        odeint(slope, start, t, *rest)
    except TypeError:
        print("TypeError")
"""
PMAP = """
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_num_cpu_devices", 4)
jax.config.parse_flags_with_absl()
x = jnp.arange(8.0).reshape(4, 2)
traces = []


def f(x, y, is_summed, *, z=None):
    traces.append(1)
    out = jax.lax.psum(x, "i") + y["a"] if is_summed else x
    return {"r": out, "s": out.sum() if z is None else z}


mapped = jax.pmap(f, "i", in_axes=(0, None, None), static_broadcasted_argnums=2)
for _ in range(3):
    found = mapped(x, {"a": 2.0}, True)
print(jax.tree.map(np.asarray, found), len(traces) < 3)
print(np.asarray(mapped(x, {"a": 2.0}, False, z=jnp.arange(4))["s"]))
print(np.asarray(jax.pmap(jnp.multiply, in_axes=(1, 0), out_axes=1)(x.T, x)))
mean = jax.pmap(lambda a: (a, jax.lax.pmean(a, "i")), "i", out_axes=(0, None))
print(np.asarray(mean(x)[1]))
print(np.asarray(jax.grad(lambda x: jax.pmap(lambda a: (a**2).sum())(x).sum())(x)))
for args in ((x, x[:2]), (jnp.ones(9), jnp.ones(9))):
    try:
        jax.pmap(jnp.add)(*args)
    except ValueError:
        print("ValueError")
"""
KEYS = """
import jax
import jax.numpy as jnp
from jax.extend import linear_util as lu
from jax.interpreters import partial_eval as pe

leaves, structure = jax.tree.flatten((jax.random.key(0), 2.0))
avals = [jax.core.ShapedArray((), leaves[0].dtype), jax.core.ShapedArray((), "float32")]
flat, out_tree = jax.api_util.flatten_fun_nokwargs(
    lu.wrap_init(
        lambda key, x: x * jax.random.uniform(jax.random.fold_in(key, 1)),
        debug_info=jax.api_util.debug_info("f", None, (), {}),
    ),
    structure,
)
jaxpr, _, consts = pe.trace_to_jaxpr_dynamic(flat, avals)[:3]
print([v.aval.shape for v in jaxpr.outvars], out_tree())
print(jax.api_util.safe_map(max, [1, 5], (3, 2)))
try:
    jax.api_util.safe_map(max, [1, 5], (3, 2, 1))
except ValueError:
    print("ValueError")
"""
LIBRARY = """
class Optimizer:
    def __init__(self, states):
        self.states = states

    def init(self, x):
        return [x] * self.states

    def __call__(self, x):
        return x * self.states


def scale(by):
    return lambda x: x * by


def schedule(steps):
    def fraction(count):
        nonlocal steps
        steps = float(steps)
        return count / steps

    return fraction
"""
OBJECTS = """
import jax, jax.numpy as jnp, numpy as np
import a_library

x = jnp.ones(2)
print([len(jax.jit(a_library.Optimizer(n).init)(x)) for n in (1, 2, 3)])
print([float(jax.jit(a_library.Optimizer(n))(x)[0]) for n in (1, 2, 3)])
print([float(jax.jit(a_library.scale(n * np.ones(2)))(x)[0]) for n in (1, 2, 3)])
print([float(jax.jit(a_library.schedule(n))(12)) for n in (1, 2, 3)])
"""


def run(*words, text=None, check=True):
    done = subprocess.run(
        [sys.executable, *words],
        input=text,
        env=ENVIRONMENT,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        *(PROGRAM, PRIMITIVE, PMAP, KEYS),
        pytest.param(ODE, marks=pytest.mark.exhaustive),
    ],
    ids=["libraries", "primitive", "pmap", "keys", "odeint"],
)
def test_a_program_prints_the_same_as_on_jax(program, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(program, encoding="utf-8")
    ours = run("-m", "imprint.as_jax", str(script)).stdout
    theirs = run(str(script)).stdout.splitlines()
    # JAX 0.12 prints where an error was raised.
    assert ours.splitlines() == [x for x in theirs if not x.startswith(f"{script}:")]


def test_objects_of_a_library_have_programs_of_their_own(tmp_path):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "a_library.py").write_text(LIBRARY, encoding="utf-8")
    text = f"import imprint.as_jax, sys; sys.path.append({str(folder)!r})\n{OBJECTS}"
    assert run("-c", text).stdout.splitlines() == [
        "[1, 2, 3]",
        "[1.0, 2.0, 3.0]",
        "[1.0, 2.0, 3.0]",
        "[12.0, 6.0, 4.0]",
    ]


def test_jax_is_imprint_and_nothing_of_jax_is_loaded():
    text = """
import imprint.as_jax
import jax, jax.numpy, jax.scipy.stats.norm, imprint, sys
print(jax.__imprint__ == imprint.__version__, jax.jit is imprint.jit)
print(jax.numpy.sin is imprint.numpy.sin, jax.scipy.stats.norm.pdf(0.0).round(4))
print([m for m in sys.modules if m.startswith("jaxlib.mlir")])
try:
    jax.numpy.no_such_name
except AttributeError as err:
    print(err)
try:
    import jax.experimental.pallas
except ImportError as err:
    print(err)
"""
    lines = run("-c", text).stdout.splitlines()
    assert lines[:3] == ["True True", "True 0.3989", "[]"]
    assert lines[3].startswith(
        "jax.numpy.no_such_name is missing: imprint, which stands"
    )
    assert "jax.experimental.pallas is missing" in lines[4]


def test_it_refuses_to_come_after_the_real_jax():
    done = run("-c", "import jax, imprint.as_jax", check=False)
    assert (
        "ImportError: expected imprint.as_jax to be imported before JAX" in done.stderr
    )


def test_a_script_that_is_not_there_is_a_usage_error():
    done = run("-m", "imprint.as_jax", "no_such.py", check=False)
    assert done.returncode == 2
    assert "expected a script, got 'no_such.py', which is no file" in done.stderr


def test_the_command_line_has_an_option_for_it(tmp_path):
    script = tmp_path / "program.py"
    script.write_text("import jax; print(jax.__imprint__)", encoding="utf-8")
    done = run("-m", "imprint", "run", "--as-jax", str(script))
    assert done.stdout.startswith("0.")
