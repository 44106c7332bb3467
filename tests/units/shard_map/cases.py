# ruff: noqa: N803, N806, PLR0915 - one table of programs, with JAX's names
"""Programs over eight devices, written once for imprint and for JAX."""

import numpy as onp


def cases(lib, np, lax, P, shard_map, mesh):
    """Return pairs of a function and arguments, by name."""
    A = onp.linspace(-1, 1, 32, dtype="float32").reshape(8, 4)
    W = onp.linspace(0.5, 2, 24, dtype="float32").reshape(4, 6)
    V = onp.linspace(1, 2, 4, dtype="float32")
    sm = lambda f, i, o, **k: shard_map(f, mesh=mesh, in_specs=i, out_specs=o, **k)
    XY = P("x", "y")
    c = {}

    def collectives(a, w):
        s = lax.psum(a @ w, "y") + lax.axis_index("x")
        g = lax.all_gather(a, "x", tiled=True)
        r = lax.psum_scatter(g, "x", tiled=True) + lax.ppermute(
            a, "x", [(0, 1), (1, 3)]
        )
        q = lax.all_to_all(a, "y", 0, 1, tiled=True)
        m = lax.pmax(a, ("x", "y")) + lax.psum(a, ("x", "y")) - lax.pmin(a, ("x", "y"))
        n = lax.pmean(a, "x") + lax.axis_size("x")
        z = lax.all_gather(a, "y", axis=1)
        u = lax.psum_scatter(lax.all_gather(a, "x"), "x") + lax.pshuffle(
            a, "x", [3, 1, 0, 2]
        )
        return s, r, q, m, n, z, u, lax.axis_index(("x", "y"))[None]

    c["collectives"] = (
        sm(
            collectives,
            (XY, P("y")),
            (P("x"), XY, XY, P(), P(None, "y"), P("x", None, "y"), XY, P(("x", "y"))),
        ),
        (A, W),
    )
    mm = sm(lambda a, w: lax.psum(np.sin(a) @ w, "y"), (XY, P("y")), P("x"))
    c["matmul"] = mm, (A, W)
    c["grad of matmul"] = lib.grad(lambda a, w: (mm(a, w) ** 2).sum(), (0, 1)), (A, W)
    c["jvp of matmul"] = (lambda a, w: lib.jvp(mm, (a, w), (a * 2, w * w))), (A, W)
    total = sm(
        lambda a, v: lax.psum((np.tanh(a * v)).sum(), ("x", "y")), (XY, P("y")), P()
    )
    c["grad of total"] = lib.value_and_grad(total, (0, 1)), (A, V)
    c["hessian"] = lib.hessian(lambda v: total(A, v)), (V,)
    whole = sm(lambda a, v: lax.psum(np.tanh(a * v).sum(), "x"), (P("x"), P()), P())
    c["shared operand"] = lib.value_and_grad(whole, (0, 1)), (A, V)
    inner = sm(
        lambda a, v: lib.grad(lambda v: (np.sin(a) * v).sum())(v), (P("x"), P()), P()
    )
    c["gradient inside is summed"] = inner, (A, V)
    inner2 = sm(
        lambda a, v: lib.grad(lambda v: lax.psum((np.sin(a) * v).sum(), "x"))(v),
        (P("x"), P()),
        P(),
    )
    c["gradient of a sum inside"] = inner2, (A, V)
    inner3 = sm(
        lambda a, v: lib.grad(lambda v: lax.psum((np.sin(a) * v).sum(), "x"))(v)[None],
        (P("x"), P()),
        P("x"),
        check_vma=False,
    )
    c["gradient inside, unchecked"] = inner3, (A, V)
    for k in ("psum", "pmean"):
        f = sm(
            lambda a, v, k=k: getattr(lax, k)(np.tanh(a * v).sum(), "x"),
            (P("x"), P()),
            P(),
            check_vma=False,
        )
        c[f"unchecked {k}"] = lib.value_and_grad(f, (0, 1)), (A, V)
    un2 = sm(lambda a, v: np.tanh(a * v), (P("x"), P()), P("x"), check_vma=False)
    c["unchecked shared operand"] = (
        lib.grad(lambda a, v: (un2(a, v) ** 2).sum(), (0, 1)),
        (A, V),
    )
    ring = sm(
        lambda a: lax.ppermute(a, "x", [(i, (i + 1) % 4) for i in range(4)]) * a, XY, XY
    )
    c["grad of a ring"] = lib.grad(lambda a: (ring(a) ** 2).sum()), (A,)
    for name, f in {
        "all_gather": lambda a: (
            lax.all_gather(a, "x", tiled=True) * (1.0 + lax.axis_index("x"))
        ),
        "psum_scatter": lambda a: lax.psum_scatter(
            a, "y", scatter_dimension=0, tiled=True
        ),
        "all_to_all": lambda a: lax.all_to_all(a, "y", 0, 1, tiled=True) ** 2,
        "pmean": lambda a: a - lax.pmean(a, "x"),
        "psum": lambda a: a * lax.psum(a**2, "x"),
    }.items():
        g = sm(f, XY, XY)
        c[f"grad of {name}"] = lib.grad(lambda a, g=g: (np.cos(g(a)) * 2).sum()), (A,)
    batched = onp.stack([A, A * 2, A + 1])
    c["vmap"] = lib.vmap(mm, (0, None)), (batched, W)
    c["vmap of grad"] = (
        lib.vmap(lib.grad(lambda a: (mm(a, W) ** 2).sum()), 1, 1),
        (batched.transpose(1, 0, 2),),
    )

    def loop(a, v):
        def step(carry, row):
            total, prod = carry
            return (total + lax.psum(row.sum(), "x"), prod * row[:1].sum()), lax.psum(
                row * v, "x"
            )

        (t, p), rows = lax.scan(step, (0.0, lax.pcast(1.0, "x", to="varying")), a)
        return t, p[None], rows

    lp = sm(loop, (P("x"), P()), (P(), P("x"), P()))
    c["scan"] = lp, (A, V)
    c["grad of scan"] = (
        lib.grad(lambda a, v: sum((np.sin(o)).sum() for o in lp(a, v)), (0, 1)),
        (A, V),
    )

    def trained(a, v):
        def step(v, _):
            g = lib.grad(lambda v: ((a @ v - 1.0) ** 2).mean())(v)
            return v - 0.1 * g, lax.pmean(((a @ v) ** 2).mean(), "x")

        return lax.scan(step, v, None, length=5)

    c["training inside"] = sm(trained, (P("x"), P()), (P(), P())), (A, V)

    def branches(a, v):
        big = lax.cond(lax.axis_index("x") > 1, lambda x: x * 2 + v, lambda x: x - v, a)
        end = lax.fori_loop(0, 3, lambda i, x: x * 0.5 + lax.pmean(x, "x"), big)
        return big, end

    br = sm(branches, (P("x"), P()), (P("x"), P("x")))
    c["branches"] = br, (A, V)
    c["grad of branches"] = (
        lib.grad(lambda a, v: sum((o**2).sum() for o in br(a, v)), (0, 1)),
        (A, V),
    )
    part = sm(lambda a: lax.psum(np.sin(a), "y"), P(None, "y"), P(), axis_names={"y"})
    c["one axis of two"] = lib.value_and_grad(lambda a: (part(a) ** 2).sum()), (A,)
    part2 = sm(
        lambda a: a + lax.axis_index("y"), P(None, "y"), P(None, "y"), axis_names={"y"}
    )
    c["index of one axis of two"] = part2, (A,)
    c |= groups(lib, np, lax, P, sm)
    c["captured"] = (
        lib.grad(lambda a, s: (sm(lambda a: a * s, XY, XY)(a) ** 2).sum(), (0, 1)),
        (A, onp.float32(2)),
    )
    jitted = lib.jit(lambda a, v: np.tanh(a) * v)
    c["jit inside"] = (
        lib.grad(
            lambda a, v: sm(
                lambda a, v: lax.psum(jitted(a, v).sum(), "x"), (P("x"), P()), P()
            )(a, v),
            (0, 1),
        ),
        (A, V),
    )
    ck = sm(
        lambda a, v: lax.psum(
            lib.checkpoint(lambda a, v: np.sin(np.sin(a * v)))(a, v).sum(), "x"
        ),
        (P("x"), P()),
        P(),
    )
    c["checkpoint"] = lib.grad(ck, (0, 1)), (A, V)

    @lib.custom_vjp
    def own(a, v):
        return np.sin(a) * v

    own.defvjp(
        lambda a, v: (own(a, v), (a, v)),
        lambda r, ct: (ct * np.cos(r[0]) * r[1], (ct * np.sin(r[0]))),
    )
    cv = sm(lambda a, b: lax.psum(own(a, b).sum(), "x"), (P("x"), P("x")), P())
    c["custom_vjp"] = lib.grad(cv, (0, 1)), (A, A + 1)
    tree_f = sm(
        lambda d: {"s": lax.psum(d["a"], "x"), "k": d["b"]},
        ({"a": P("x"), "b": P()},),
        {"s": P(), "k": P()},
    )
    c["trees"] = tree_f, ({"a": A, "b": V},)
    c["ints"] = (
        sm(
            lambda a: (lax.psum(a, "x"), lax.pmax(a, "x"), lax.psum(a > 3, "x")),
            P("x"),
            P(),
        ),
        (onp.arange(8, dtype="int32"),),
    )
    c["constants"] = (
        sm(
            lambda a: (
                lax.psum(1, "x") + a,
                lax.psum(np.ones(2), "y"),
                lax.ppermute(np.ones(2), "x", [(0, 1)]),
            ),
            XY,
            (XY, P(), P("x")),
        ),
        (A,),
    )
    c["out_specs of what is the same"] = (
        lib.grad(lambda v: (sm(lambda v: v * 2, P(), P("x"))(v) ** 2).sum()),
        (V,),
    )
    return c


def groups(lib, np, lax, P, sm):
    """Return cases of groups of positions, except those that JAX lacks."""
    A = onp.linspace(-1, 1, 32, dtype="float32").reshape(8, 4)
    V = onp.linspace(1, 2, 4, dtype="float32")
    XY = P("x", "y")

    def grouped(a, v):
        pairs, apart = [[0, 3], [2, 1]], [[0], [1, 2, 3]]
        g = lax.all_gather(a, "x", axis_index_groups=pairs, axis=1)
        r = lax.psum_scatter(a, "x", axis_index_groups=pairs, tiled=True)
        q = lax.all_to_all(a, "x", 0, 1, axis_index_groups=pairs, tiled=True)
        t = lax.pswapaxes(a, "x", 0, axis_index_groups=pairs)
        s = lax.psum(a * (lax.axis_index("x") + v), "x", axis_index_groups=apart)
        m = lax.pmean(a, "x", axis_index_groups=pairs) + lax.psum(
            1, "x", axis_index_groups=pairs
        )
        return g, r, q, t, s, m

    specs = (P("x", None, "y"), XY, XY, XY, XY, XY)
    gr = sm(grouped, (XY, P("y")), specs, check_vma=False)
    apart, pairs = [[1, 2, 3], [0]], [[0, 1], [3, 2]]
    most = lambda a: lax.pmax(a, "x", axis_index_groups=apart)
    least = lambda a: lax.pmin(a, "x", axis_index_groups=pairs)
    total = lambda a, v: sum((np.cos(o) * 2).sum() for o in gr(a, v))
    return {
        "groups": (gr, (A, V)),
        "grad of groups": (lib.grad(total, (0, 1)), (A, V)),
        "extremes of groups": (sm(lambda a: most(a) - least(a), XY, XY), (A,)),
    }
