"""Names and parameters of JAX's that few programs need, each compared with JAX's own."""

import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.config import explicit_x64_dtypes
from imprint.errors import ArgumentError, ConfigError
from imprint.experimental import mesh_utils
from imprint.experimental.shard_map import shard_map
from tests.oracle import jax

# ---- both libraries give the same ----

SAME = {
    "the name of a dtype is called": lambda x: x.numpy.bfloat16(1.5).tolist(),
    "kinds": lambda x: (
        x.numpy.issubdtype(arg1=x.numpy.bfloat16, arg2=np.floating),
        x.dtypes.issubdtype(a="int8", b=np.inexact),
        x.numpy.iscomplexobj(x.numpy.ones(2, complex)),
        x.numpy.isrealobj(x.numpy.ones(2)),
        x.numpy.isdtype(x.numpy.float32, ("real floating", "bool")),
    ),
    "a weak result": lambda x: x.dtypes.result_type(1.0, return_weak_type_flag=True),
    "a strong result": lambda x: x.dtypes.result_type(
        x.numpy.int8(1), 1, return_weak_type_flag=True
    ),
    "the bits of dtypes": lambda x: [
        x.dtypes.itemsize_bits(name)
        for name in ("int4", "bool", "float16", "complex64")
    ],
    "scalar types": lambda x: [
        x.dtypes.scalar_type_of(v) for v in (1, 2.0, 3j, True, np.uint8(1), np.ones(1))
    ],
    "dtypes that DLPack knows": lambda x: [
        x.dlpack.is_supported_dtype(name)
        for name in ("float32", "bfloat16", "int4", "bool", "complex64", "float8_e5m2")
    ],
    "the parts of a jaxpr": lambda x: _parts(x.make_jaxpr(lambda a: a + 1)(1.0)),
    "another closed jaxpr": lambda x: _parts(
        x.make_jaxpr(lambda a: a + 1)(1.0).replace(consts=[])
    ),
    "a jaxpr is run": lambda x: [
        float(v)
        for v in x.core.eval_jaxpr(
            x.make_jaxpr(lambda a: (a + 1, a))(1.0).jaxpr, [], 2.0
        )
    ],
    "an aval is changed": lambda x: [
        x.core.ShapedArray((2,), np.dtype("float32")).update(shape=(3,)).str_short(),
        x.core.ShapedArray((2,), np.dtype("float32")).str_short(short_dtypes=True),
    ],
    "a linear map of an aval": lambda x: [
        v.tolist()
        for v in x.linear_transpose(
            lambda a: 2 * a, x.core.ShapedArray((2,), np.dtype("float32"))
        )(x.numpy.ones(2))
    ],
    "a linear map of a struct": lambda x: [
        v.tolist()
        for v in x.linear_transpose(
            lambda a: 2 * a, x.ShapeDtypeStruct((2,), "float32"), reduce_axes=()
        )(x.numpy.ones(2))
    ],
    "axes of a mesh": lambda x: [
        (m.are_all_axes_auto, m.are_all_axes_manual, m.are_all_axes_explicit)
        for m in _meshes(x)
    ],
    "another mesh": lambda x: [
        (m.update(axis_names=("a", "b")).axis_names, m.update().axis_sizes)
        for m in _meshes(x)[:1]
    ],
    "formats": lambda x: [
        (f.layout.major_to_minor, f.sharding.num_devices)
        for f in _formats(x.jit(lambda a, b: (a @ b, a)), x)
    ],
    "einsum by another product": lambda x: _by_own_product(x),
    "static fields": lambda x: x.tree.static(default=1).metadata["static"],
    "the values that are saved": lambda x: x.lax.composite(
        lambda a, /, *, by: a * by, name="my.scaled"
    )(x.numpy.arange(3), by=2).tolist(),
    "in_shardings with None": lambda x: float(
        x.jit(lambda a, b: b["a"], in_shardings=(None, {"a": None}))(1.0, {"a": 2.0})
    ),
    "the platform that it is lowered for": lambda x: (
        len(
            x.jit(lambda a: a + 1)
            .trace(1.0)
            .lower(lowering_platforms=("cpu",))
            .as_text()
        )
        > 0
    ),
    "devices of a process": lambda x: len(x.local_devices(process_index=0)),
    "the bytes of an array": lambda x: x.numpy.ones(3).on_device_size_in_bytes(),
    "it comes to the host": lambda x: x.copy_to_host_async([x.numpy.ones(1)])[
        0
    ].tolist(),
    "memory": lambda x: x.sharding.SingleDeviceSharding(x.devices()[0]).memory_kind,
}


def _parts(closed):
    return (
        *(len(closed.jaxpr.constvars), len(closed.invars), len(closed.outvars)),
        *(len(closed.eqns), len(closed.consts), len(closed.literals)),
        *([v.shape for v in closed.in_avals], [v.shape for v in closed.out_avals]),
        *(len(closed.effects), closed.eqns[0].primitive.name),
    )


def _meshes(x):
    kinds = x.sharding.AxisType
    made = [kinds.Auto, kinds.Manual, kinds.Explicit]
    sizes, names = (1, 1), ("x", "y")
    meshes = [x.sharding.AbstractMesh(sizes, names, (k, k)) for k in made]
    return [*meshes, x.sharding.AbstractMesh(sizes, names, tuple(made[:2]))]


def _formats(f, x):
    compiled = f.lower(x.numpy.ones((2, 3)), x.numpy.ones((3, 2))).compile()
    return [*compiled.input_formats[0], *compiled.output_formats]


def _by_own_product(x):
    calls = []

    def product(*args, **kwargs):
        calls.append(len(args[0].shape))
        return x.lax.dot_general(*args, **kwargs)

    a = x.numpy.arange(4.0).reshape(2, 2)
    out = x.numpy.einsum("ij,jk,kl->il", a, a, a, _dot_general=product)
    return out.tolist(), calls


@pytest.mark.parametrize("name", SAME)
def test_both_libraries_give_the_same(name):
    assert SAME[name](imprint) == SAME[name](jax)


# ---- the sharding of a result ----

SPREAD = {
    "zeros": lambda how: inp.zeros(2, out_sharding=how),
    "full_like": lambda how: inp.full_like(inp.ones(2), 3, out_sharding=how),
    "dot": lambda how: inp.dot(inp.ones((2, 2)), inp.ones(2), out_sharding=how),
    "reshape": lambda how: inp.ones((2, 1)).reshape(2, out_sharding=how),
    "lax.reshape": lambda how: imprint.lax.reshape(
        inp.ones((2, 1)), (2,), out_sharding=how
    ),
    "lax.full": lambda how: imprint.lax.full((2,), 1.0, sharding=how),
    "normal": lambda how: imprint.random.normal(
        imprint.random.key(0), (2,), out_sharding=how
    ),
}


@pytest.mark.parametrize("name", SPREAD)
def test_a_result_is_spread_as_it_is_asked_for(name):
    mesh = imprint.make_mesh((1,), ("data",))
    rows = imprint.NamedSharding(mesh, imprint.P("data"))
    made = SPREAD[name](rows)
    assert made.sharding == rows
    assert made.tolist() == SPREAD[name](None).tolist()
    text = str(imprint.make_jaxpr(lambda: SPREAD[name](rows))())
    assert "sharding_constraint" in text
    with pytest.raises(ArgumentError, match="expected a NamedSharding or a Part"):
        SPREAD[name]("rows")


# ---- 64 bits that are asked for ----


def test_explicit_dtypes_of_64_bits_are_cut_or_refused():
    with (
        explicit_x64_dtypes("error"),
        pytest.raises(ValueError, match="explicit_x64_dtypes is 'error'"),
    ):
        inp.zeros(2, "float64")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert inp.zeros(2, "float64").dtype == "float32"
    assert len(caught) == 1
    with pytest.raises(ConfigError, match="one of 'warn', 'error'"):
        imprint.config.update("jax_explicit_x64_dtypes", "allow")
    with imprint.enable_x64():
        assert inp.zeros(2, "float64").dtype == "float64"


def test_flags_take_the_names_of_their_values_in_jax():
    with imprint.disable_jit(disable=False), imprint.debug_nans(new_val=True):
        assert (imprint.config.disable_jit, imprint.config.debug_nans) == (False, True)
    with imprint.experimental.enable_x64(), imprint.experimental.disable_x64():
        assert inp.ones(1).dtype == "float32"


# ---- the rest ----


def test_saved_values_are_printed_with_their_origin(capsys):
    def f(x, k=2.0):
        return inp.sin(imprint.ad_checkpoint.checkpoint_name(x * x, "square")) * k

    imprint.ad_checkpoint.print_saved_residuals(f, 3.0)
    lines = capsys.readouterr().out.splitlines()
    assert "f32[] from the argument args[0]" in lines
    assert any(
        line.startswith("f32[] output of cos from test_jax_names") for line in lines
    )


def test_an_address_is_where_the_values_are():
    x = inp.arange(3.0)
    x.block_until_ready()
    assert np.asarray(x).ctypes.data in (x.unsafe_buffer_pointer(), 0) or isinstance(
        x.unsafe_buffer_pointer(), int
    )


def test_libraries_of_cuda_do_not_find_an_array_on_the_cpu():
    for x in (inp.ones(3), jnp.ones(3)):
        assert not hasattr(x, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="expected an array on a GPU"):
        _ = inp.ones(3).__cuda_array_interface__


def test_grids_of_devices():
    device = imprint.devices()[0]
    assert mesh_utils.create_device_mesh((1, 1), [device]).tolist() == [[device]]
    grid = mesh_utils.create_hybrid_device_mesh(
        (1, 1), (1, 1), [device], process_is_granule=True
    )
    assert grid.tolist() == [[device]]
    with pytest.raises(ArgumentError, match="as many devices as mesh_shape"):
        mesh_utils.create_device_mesh((2,), [device])
    with pytest.raises(ArgumentError, match="process_is_granule=True"):
        mesh_utils.create_hybrid_device_mesh((1,), (1,), [device])


def test_shard_map_with_positional_specs():
    mesh = imprint.make_mesh((1,), ("data",))
    f = shard_map(lambda x: 2 * x, mesh, imprint.P("data"), imprint.P("data"), False)
    assert f(inp.arange(2)).tolist() == [0, 2]


def test_axes_to_reduce_are_refused_as_in_jax():
    for transform in (imprint.grad, imprint.value_and_grad):
        with pytest.raises(NotImplementedError, match="reduce_axes to be empty"):
            transform(lambda x: x, reduce_axes=("i",))
    with pytest.raises(NotImplementedError):
        imprint.vjp(lambda x: x, 1.0, reduce_axes=("i",))


def test_a_program_is_lowered_for_the_platform_of_the_process():
    with pytest.raises(ArgumentError, match=r"call imprint\.export\.export"):
        imprint.jit(lambda x: x).trace(1.0).lower(lowering_platforms=("tpu",))


def test_another_memory_is_refused():
    one = imprint.sharding.SingleDeviceSharding(imprint.devices()[0])
    assert one.with_memory_kind("device") == one
    with pytest.raises(ArgumentError, match="expected 'device'"):
        one.with_memory_kind("pinned_host")


def test_the_block_of_a_process():
    mesh = imprint.make_mesh((1,), ("data",))
    assert not mesh.is_multi_process
    assert mesh.local_mesh is mesh


def test_errors_of_traced_values_have_the_base_of_jax():
    with pytest.raises(imprint.errors.JAXTypeError):
        imprint.jit(lambda x: float(x))(1.0)
    with pytest.raises(imprint.errors.JAXIndexError):
        imprint.jit(lambda x: x[x > 0])(np.ones(2))
