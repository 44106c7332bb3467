"""Scenarios: state of a class inside a descriptor that returns the class the same value."""

WRAPPED = {
    "method that becomes static": """
        class M:
            def step(*given): return len(given)
        m = M()
        f = lambda x: x * m.step(1)
        --- M.step = staticmethod(M.step)
        --- M.step = M.step
        """,
    "static method that becomes a plain one": """
        class M:
            @staticmethod
            def step(*given): return len(given)
        m = M()
        f = lambda x: x * m.step(1)
        --- M.step = M.step
        --- M.step = staticmethod(M.step)
        """,
    "special method that becomes static": """
        class M:
            def __call__(*given): return len(given)
        m = M()
        f = lambda x: x * m(1)
        --- M.__call__ = staticmethod(M.__call__)
        --- M.__call__ = M.__call__
        """,
    "inherited method that becomes static": """
        class Base:
            def step(*given): return len(given)
        class M(Base): rate = 1.0
        m = M()
        f = lambda x: x * m.step(1)
        --- M.step = staticmethod(Base.step)
        --- del M.step
        --- Base.step = staticmethod(Base.step)
        --- del M.rate; Base.step = Base.step
        --- M.step = staticmethod(Base.step)
        """,
    "value that a descriptor shows the class alone": """
        class Shown:
            def __init__(self, value): self.value = value
            def __get__(self, owner, cls): return self.value if owner is None else 2.0
        class M: rate = 1.0
        m = M()
        f = lambda x: x * m.rate
        --- M.rate = Shown(M.rate)
        --- M.rate = M.rate
        """,
    "static argument's method that becomes static": """
        class M:
            def step(*given): return len(given)
        S = M()
        f = lambda x, s: x * s.step(1)
        --- M.step = staticmethod(M.step)
        --- M.step = M.step
        """,
}
