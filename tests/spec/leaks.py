"""Functions that store a tracer, for `check_tracer_leaks` to find.

A test that needs the holders re-creates the module by `fresh`: a garbage collector with a
frozen heap does not report older holders.
"""

from importlib.util import module_from_spec, spec_from_file_location

KEPT = []
GLOBAL = None


class Model:
    pass


MODEL = Model()


def into_a_list(x):
    KEPT.append(x * 2)


def into_an_attribute(x):
    MODEL.state = x


def into_a_global(x):
    global GLOBAL
    GLOBAL = x


def into_a_function(x):
    into_a_function.last = x


def into_a_closure(x):
    KEPT.append(lambda: x)


def fresh():
    spec = spec_from_file_location("leaks", __file__)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
