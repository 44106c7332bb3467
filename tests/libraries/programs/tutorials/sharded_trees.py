"""Own nodes of trees and dataclasses; arrays on a mesh, shard_map and pmap."""

import dataclasses
import sys
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: jax.Array
    bias: jax.Array
    name: str = dataclasses.field(metadata={"static": True}, default="layer")


@jax.tree_util.register_pytree_node_class
class Polynomial:
    def __init__(self, coefficients, symbol="x"):
        self.coefficients, self.symbol = coefficients, symbol

    def tree_flatten(self):
        return (self.coefficients,), self.symbol

    @classmethod
    def tree_unflatten(cls, symbol, children):
        return cls(*children, symbol)

    def __call__(self, x):
        return jnp.polyval(self.coefficients, x)


@jax.jit
def update(layer, poly, x):
    def loss(layer, poly):
        return jnp.mean((x @ layer.weight + layer.bias - poly(x[:, :1])) ** 2)

    value, grads = jax.value_and_grad(loss, argnums=(0, 1))(layer, poly)
    return *jax.tree.map(lambda p, g: p - 0.1 * g, (layer, poly), grads), value


layer, poly = (
    Layer(jnp.ones((4, 1)), jnp.zeros(1), "first"),
    Polynomial(jnp.array([1.0, 0.0])),
)
flat, unravel = ravel_pytree((layer, poly))
print(flat.shape, jax.tree.map(jnp.shape, unravel(flat)[0]))
for path, leaf in jax.tree_util.tree_flatten_with_path({"l": layer, "p": [poly]})[0]:
    print(jax.tree_util.keystr(path), leaf.shape)
mesh = Mesh(np.array(jax.devices()[:1]), ("data",))
x = jax.device_put(
    jax.random.normal(jax.random.key(0), (32, 4)), NamedSharding(mesh, P("data"))
)
for i in range(200):
    if i == 100:
        start = time.perf_counter()
    layer, poly, value = update(layer, poly, x)
print((time.perf_counter() - start) / 100, file=sys.stderr)
print(f"{value:.4f}", layer.name, poly.symbol)


@partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P())
def mean(block):
    return jax.lax.pmean(block.mean(0), "data")


print(jnp.allclose(mean(x), x.mean(0), atol=1e-6))
norm = jax.pmap(lambda x: x / jax.lax.psum(x.sum(), "i"), axis_name="i")
print(norm(jnp.arange(4.0)[None]).sum())
