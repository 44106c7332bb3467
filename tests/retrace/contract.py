"""Which tests of change detection ask for what the contract promises, and which for more.

The contract is §1 of the design of guards. A row of `FAMILIES` sorts all tests that its
pattern fits; the first row that fits decides, so exceptions stand before their family. What
no row fits is no test of change detection, and stays. `tests/conftest.py` marks what is
outside `outside_contract`: `pytest -m "not outside_contract"` runs what stays.
"""

import re
import sys
from functools import cache
from typing import NamedTuple


class Family(NamedTuple):
    pattern: str
    """Node ids: `*` stands for any text, `{}` for each of the names."""
    inside: bool
    reason: str
    names: tuple[str, ...] = ()


# ---- reasons ----

COMPUTED = "the name is worked out at run time: by text, vars, __dict__, dir or eval"
HANDED_OUT = "only a library's call, `with` or callback hands the object out"
LIBRARY = (
    "a library reads it for itself: settings, registries, state in C, weak references"
)
ARRAYS = "contents of arrays, or of a container of more than 256 items"
BUFFERS = "contents of a buffer or of an array of objects"
THREADS = "what another thread runs or writes"
PROBES = "a second trace finds out what was not read"
MECHANISM = "tests a module of the old mechanism, and goes with it"
NOT_SEEN = "says that a hole is there, which nothing in the contract asks for"
FORBIDS = (
    "forbids a retrace that the contract promises, or asks for one that it does not"
)

BY_NAME = "read by name in the user's code"
PRECISE = "what nobody reads by name is no reason to trace"
EFFECTS = "what a trace writes is an effect; the rest, and what it filled in, counts"
SHARED = "equal functions share a trace, and are told apart where they differ"
ROBUST = "hostile, huge and dying values; no hook of the user's is asked"
KEPT = "stays as it is"

# ---- pieces of drawn programs ----

OUTSIDE_PIECES = {
    "source": (
        *("fields of a registered dataclass", "attribute that an attrgetter misses"),
        *("dict of a context variable", "list of a thread", "what a memo gave"),
        *("bytearray", "state of Python's objects", "run by a pool", "table of nodes"),
        "cell that is a value",
    ),
    "node": ("registered dataclass",),
    "holder": ("module by importlib", "Nodes"),
    "way": (
        *("name put together", "name put together, or a default"),
        *("name put together, out of all", "attrgetter of a name put together"),
        *("name put together where it is kept", "name put together in a walk"),
        "name put together elsewhere",
        "name put together of what is put somewhere",
        "name put together for another getattr",
        *("attrgetter of a global", "vars", "pool", "pool of a helper", "thread"),
    ),
}
"""By kind, as `test_edits` has them: no program of them is drawn any more."""
OUTSIDE_HOLES = (
    *(
        "masked array",
        "array of objects",
        "buffers",
        "chain of dicts",
        "weak reference",
    ),
    *("collections of Python's", "slot that a property hides"),
)
"""Sources of which a strict function does not see the `holes`; the edits are inside."""


def edits(inside, reason, kind, names, mode="*"):
    pattern = f"tests/retrace/test_edits.py::test_each_edit_is_seen[{kind}-{{}}-{mode}]"
    return Family(pattern, inside, reason, names)


def stale(reason, kind, *names):
    """Return a row of scenarios that are outside."""
    test = "tests/retrace/test_stale.py::test_an_edit_is_seen"
    return Family(f"{test}[{kind}: {{}}]", inside=False, reason=reason, names=names)


def outside(reason, pattern, *names):
    return Family(pattern, inside=False, reason=reason, names=names)


def inside(reason, pattern, *names):
    return Family(pattern, inside=True, reason=reason, names=names)


# ---- scenarios of stale answers ----

STALE = (
    stale(THREADS, "threads", "*"),
    stale(THREADS, "pools", "*"),
    stale(THREADS, "missed", "then given by another thread"),
    stale(COMPUTED, "unnamed", "*"),
    stale(
        *(COMPUTED, "forms", "getattr by partial", "attrgetter at module level"),
        "getattr under another name",
        *("attrgetter with a path", "attrgetter of two", "attrgetter of a default"),
        *(
            "methodcaller",
            "vars",
            "__dict__",
            "__dict__.get",
            "vars in a loop",
            "asdict",
        ),
    ),
    stale(
        *(COMPUTED, "holders", "property by operator.attrgetter"),
        *("proxy of what a class has", "methods in C of an object and of bytes"),
        "property over what an object holds under its name",
    ),
    stale(
        *(LIBRARY, "holders", "weakref", "partial of a method"),
        *("value of an enum's member", "list as the value of an enum's member"),
        *("aliases of generic classes", "defaults of a namedtuple"),
        "default of a dataclass of a text, without a module",
        "default of a dataclass that a function made",
    ),
    stale(LIBRARY, "dicts", "method of a dict that a class holds"),
    stale(
        *(HANDED_OUT, "holders", "iterator that repeats an object"),
        "contexts that hold a value",
    ),
    stale(COMPUTED, "modules", "vars of a module", "__dict__ of a module"),
    stale(HANDED_OUT, "modules", "importlib", "__import__"),
    stale(LIBRARY, "modules", "module in whose place an import takes another"),
    stale(COMPUTED, "names", "names in *"),
    stale(
        *(COMPUTED, "instances", "attribute without a name"),
        "attribute of a class beside one that the trace makes",
    ),
    stale(LIBRARY, "statics", "weakref", "slot hidden by a property"),
    stale(COMPUTED, "statics", "vars", "getattr with a computed name"),
    stale(ARRAYS, "statics", "array over 2 KB", "long list"),
    stale(
        *(COMPUTED, "functions", "attributes by `__dict__`", "how many attributes"),
        *("attributes of an argument", "attributes of a captured one"),
        *(
            "attributes of one that counts its calls",
            "__dict__",
            "__globals__",
            "__closure__",
        ),
        "hook in a list that a nested jit read, then one as at first",
    ),
    stale(
        *(
            LIBRARY,
            "specials",
            "a class comes to be *",
            "a class of * comes to be a node",
        ),
        *(
            "a class of Python's comes to be a node",
            "a library's class comes to be a node",
        ),
        *("a method comes that a protocol asks for", "the code of what makes a node *"),
        "the functions with which a class was registered",
    ),
    stale(
        *(LIBRARY, "led by C", "abstract methods that a class comes to have"),
        *("bound of a type variable", "object of a super"),
    ),
    stale(
        *(LIBRARY, "trees", "fields of a registered dataclass, as leaves"),
        "static field of a registered dataclass",
    ),
    stale(
        *(LIBRARY, "libraries", "chain map", "child of a chain map", "user list"),
        *("option of a ConfigParser", "section of a ConfigParser", "event"),
        *("event of a static object", "future", "defaults of a parser"),
        *("text of a template", "settings of what writes texts"),
        *("first day of a calendar", "header of a message", "sorted containers"),
    ),
    stale(
        *(LIBRARY, "heard", "function in a registry of Python"),
        "function in a registry of nodes",
        *("default of an argument", "protocol that is checked"),
    ),
    stale(
        *(
            COMPUTED,
            "asked",
            "hasattr of a name that is *",
            "name that is put together*",
        ),
        *("key that the dictionary of a module may not have", "globals().get"),
        *(
            "key in globals()",
            "key in the dictionary of *",
            "vars of a class, in a loop",
        ),
        *("dir of an object", "dir of a class", "text that is handed on, of *"),
        "names in a text and in code that a rule evaluates",
        "name that an object works out, in a rule",
    ),
    stale(
        LIBRARY, "asked", "how many subclasses *", "what the subclasses of a class *"
    ),
    stale(
        *(HANDED_OUT, "given", "result", "in a result", "yielded"),
        *("result of a classmethod", "what a with gives", "what a callback is given"),
        *("result of a closure", "held by a library's object"),
        *("result that may lack the attribute", "rule of a derivative"),
        *("generator that goes on in a library", "dict and list of a memo"),
        "list of a memo that forgets what is old",
    ),
    stale(LIBRARY, "given", "* a context variable", "of a thread", "list of a thread"),
    stale(LIBRARY, "held", "of a context variable", "of a thread"),
    stale(BUFFERS, "given", "in an array of objects"),
    stale(BUFFERS, "held", "in an array of objects"),
    stale(COMPUTED, "kept", "name that is worked out of *"),
    stale(
        *(LIBRARY, "kept", "* of Proxy", "item that refers to another of ConfigDict"),
        *("property of a library's that *", "coefficients of a polynomial"),
        *("attribute of Nodes", "comes to be of Nodes", "given to a helper of Nodes"),
        *("in an object of * of Nodes", "nested of Nodes", "static argument of Nodes"),
    ),
    stale(COMPUTED, "inherited", "attribute of a class by a name that is worked out"),
    stale(
        *(LIBRARY, "inherited", "default of a ContextVar"),
        "object of a subclass of threading.local",
    ),
    inside(
        BY_NAME,
        "tests/retrace/test_stale.py::test_an_edit_is_seen[worked out: {}]",
        "class that a metaclass of Python's makes",
        "dictionary that is its own __dict__ and says it has all",
    ),
    stale(
        *(LIBRARY, "worked out", "what pydantic hands to its serializer"),
        "class that is called into being",
        "keys that come to a mapping given with two stars",
    ),
    stale(COMPUTED, "worked out", "*"),
    inside(BY_NAME, "tests/retrace/test_stale.py::*"),
)

# ---- absence, edits, kinds, holes ----

ABSENCE = "tests/retrace/test_absence.py::"
EDITS = "tests/retrace/test_edits.py::"
KINDS = "tests/retrace/test_kinds.py::"
STRICT_KINDS = KINDS + "*_strict_function_sees_it[{}: *"
STATIC_PARTS = "*[value with parts of all kinds: {}]"
HOLES = "tests/retrace/test_holes.py::"
SEEN = HOLES + "test_what_is_seen[{}-*]"
STRICT_SEES = HOLES + "test_strict_mode_sees_it[{}]"

STATES = (
    outside(COMPUTED, ABSENCE + "*, {}, *", "name that is *", "dir", "attrgetter"),
    inside(BY_NAME, ABSENCE + "*"),
    outside(THREADS, EDITS + "test_each_edit_by_a_thread_is_seen[*"),
    outside(LIBRARY, EDITS + "test_each_edit_of_a_static_argument_is_seen[Nodes]"),
    *(
        edits(inside=False, reason=reason, kind=kind, names=OUTSIDE_PIECES[kind])
        for kind, reason in (
            ("source", LIBRARY),
            ("node", ARRAYS),
            ("holder", HANDED_OUT),
            ("way", COMPUTED),
        )
    ),
    edits(False, BUFFERS, "source", OUTSIDE_HOLES, "strict"),
    inside(BY_NAME, EDITS + "*"),
    outside(BUFFERS, STRICT_KINDS, *OUTSIDE_HOLES),
    outside(LIBRARY, STRICT_KINDS, "state of Python's objects"),
    outside(
        *(BUFFERS, KINDS + STATIC_PARTS, "S.a[0] += 1", "S.b[0] += 1"),
        "S.g[0].append(?)",
    ),
    outside(LIBRARY, KINDS + STATIC_PARTS, "S.f['a'] = ?"),
    outside(LIBRARY, KINDS + "*[member of an enum: S.value[1].append(?)]"),
    outside(MECHANISM, KINDS + "test_a_static_argument_counts_by_content_up_to_*"),
    outside(FORBIDS, KINDS + "*_tells_of_what_it_does_not_read_to_its_end"),
    inside("strict=True looks into what is captured, of any size", KINDS + "*strict*"),
    inside("static values are exact", KINDS + "*"),
    outside(
        *(COMPUTED, SEEN, "name of the module of a frame", "field of a format"),
        *("attribute by a text that formats", "globals()", "eval"),
        "name that is worked out, *",
    ),
    outside(HANDED_OUT, SEEN, "imported by a relative name"),
    outside(LIBRARY, SEEN, "cell that is a value"),
    inside(BY_NAME, HOLES + "test_what_is_seen[*"),
    inside(
        "strict=True compares contents of any size",
        *(STRICT_SEES, "object behind a thousand others", "array"),
        *("array of an object", "big list", "keywords of a partial"),
    ),
    inside(BY_NAME, STRICT_SEES, "library", "library, by its name", "imprint"),
    outside(LIBRARY, STRICT_SEES, "*"),
    inside(KEPT, HOLES + "test_a_strict_function_that_walks_over_all_modules_*"),
    outside(COMPUTED, HOLES + "test_what_a_library_is_given_later_counts_whole[*"),
    outside(LIBRARY, HOLES + "test_that_a_librarys_class_becomes_a_node_is_seen"),
    outside(NOT_SEEN, HOLES + "*"),
)

# ---- precision: counters, effects, families ----

COUNTERS = "tests/retrace/test_counters.py::"
EFFECT = "tests/retrace/test_effects.py::"
CALLS = "tests/retrace/test_calls.py::"
CALLBACKS = "tests/retrace/test_callbacks.py::"
DEFINITIONS = "tests/spec/test_definitions.py::"

PRECISION = (
    outside(PROBES, COUNTERS + "test_what_is_counted_outside_is_found_unread_*"),
    outside(PROBES, COUNTERS + "*_makes_no_version[*-same name, in a list]"),
    outside(
        THREADS, COUNTERS + "test_a_count_is_the_traces_own_whatever_runs_beside_*"
    ),
    inside(EFFECTS, COUNTERS + "test_{}[*", "a_counter_in_the_traced*", "two_shapes_*"),
    inside(PRECISE, COUNTERS + "*"),
    outside(COMPUTED, EFFECT + "test_attributes_that_come_beside_what_a_trace_sets_*"),
    outside(
        FORBIDS,
        EFFECT + "test_{}",
        "a_table_that_is_emptied_between_all_calls_is_an_effect_in_the_end",
        "another_dict_with_the_rest_is_another[*",
        "another_set_with_the_rest_is_another",
    ),
    outside(
        "the second trace writes it again, as it is false: an effect",
        *(EFFECT + "test_what_a_trace_made_once_*[{}-key]", "empty dict", "empty list"),
    ),
    inside(EFFECTS, EFFECT + "*"),
    inside(EFFECTS, "tests/retrace/test_rebuilt.py::*"),
    outside(
        "closures over models of equal state share a trace",
        "tests/retrace/test_families.py::test_equal_models_are_two",
    ),
    inside(SHARED, "tests/retrace/test_families.py::*"),
    inside(SHARED, "tests/retrace/test_models.py::*"),
    outside(
        "a version keeps the code that ran for it",
        CALLS + "test_counters_stay_effects_when_an_equal_function_goes",
    ),
    inside(KEPT, CALLS + "*"),
    outside(
        "a callback's list in the place of an equal one: not JAX's meaning either",
        *(CALLBACKS + "test_a_{}", "list_in_the_place_of_an_equal_one_is_another"),
        "global_list_in_the_place_of_an_equal_one_is_another[early]",
    ),
    outside(
        "a program with callbacks holds its own functions: each function is traced",
        *(CALLBACKS + "test_{}", "a_function_made_anew_with_the_same_variable_*"),
        *("prints_of_functions_made_anew_*", "what_callbacks_of_dead_functions_held_*"),
    ),
    inside(SHARED, CALLBACKS + "*"),
    outside(COMPUTED, DEFINITIONS + "test_an_attribute_of_a_captured_function_is_*"),
    outside(
        MECHANISM, DEFINITIONS + "test_a_{}", "captured_container_*", "counter_in_*"
    ),
    inside(SHARED, DEFINITIONS + "*"),
)

# ---- probes, captures, hostile values, settings, the oracle ----

PROBE = "tests/retrace/test_probes.py::"
CAPTURES = "tests/retrace/test_captures.py::"
BAD_INPUT = "tests/retrace/test_bad_input.py::"
SETTINGS = "tests/retrace/test_settings.py::"
NUMPY = "tests/retrace/test_numpy_code.py::"

RETRACE = (
    outside(COMPUTED, PROBE + "*_each_way_to_read[object.__getattribute__-*"),
    outside(
        COMPUTED,
        *(
            PROBE + "*_each_way_to_read_of_a_class[{}]",
            "attrgetter",
            "vars",
            "__dict__",
        ),
    ),
    outside(
        PROBES, PROBE + "test_what_nobody_reads_is_*[of another{}-*", "", " object*"
    ),
    outside(
        PROBES,
        PROBE + "test_{}",
        "what_nobody_reads_is_known_in_other_states_too",
        "one_miss_more_is_needless_and_no_version",
        "classes_are_put_back_after_an_error[*",
        "a_class_is_changed_by_probes_so_many_times[*",
        "of_many_versions_only_the_latest_are_asked_what_changed",
    ),
    outside(
        *(THREADS, PROBE + "test_{}", "what_another_thread_writes_meanwhile_stays[*"),
        "threads_that_trace_at_once_see_what_is_there",
    ),
    outside(
        COMPUTED, PROBE + "test_a_copy_of_an_object_of_which_all_counts_is_no_edit"
    ),
    inside(PRECISE, PROBE + "test_{}", "what_nobody_reads_*", "no_name_of_imprints_*"),
    inside(BY_NAME, PROBE + "*"),
    outside(
        *(THREADS, CAPTURES + "test_{}", "what_a_call_traces_after_an_edit_*"),
        "an_edit_between_the_look_at_a_function_and_its_trace",
    ),
    outside(
        "functions that only a rule's object holds are not found again: traced anew",
        CAPTURES + "test_functions_with_equal_rules_share_a_trace",
    ),
    inside(SHARED, CAPTURES + "*"),
    outside(
        *(MECHANISM, BAD_INPUT + "test_{}", "what_comes_after_is_not_*code_of_a_name*"),
        "what_comes_after_is_not_*result_of_class]",
    ),
    inside(ROBUST, BAD_INPUT + "*"),
    outside(
        LIBRARY, SETTINGS + "test_what_settings_and_a_library_keep_for_themselves_*"
    ),
    outside(
        "asks for a miss where an item is edited that nobody reads",
        SETTINGS + "test_it_is_told_that_all_counts[*",
    ),
    inside(KEPT, SETTINGS + "*"),
    outside(
        LIBRARY, NUMPY + "test_{}", "numbers_that_numpy_*", "a_function_that_draws_*"
    ),
    inside(BY_NAME, NUMPY + "*"),
    inside(BY_NAME, "tests/retrace/test_soundness.py::*"),
    outside(MECHANISM, "tests/retrace/test_exact.py::*"),
)

# ---- tests/spec ----

WATCHED = "tests/spec/test_watched.py::"
SPEC_CAPTURES = "tests/spec/test_captures.py::"
NEEDLESS = "tests/spec/test_needless.py::"
VALUES = "tests/spec/test_library_values.py::"
FILES = "tests/spec/test_library_files.py::"
WARM = "tests/spec/test_warm_start.py::"

SPEC = (
    outside(FORBIDS, WATCHED + "test_{}", "a_static_value_counts_whole"),
    outside("tells of a list of 300 as the old mechanism", WATCHED + "*_gone_is_told"),
    inside(BY_NAME, WATCHED + "*"),
    outside(
        *(MECHANISM, SPEC_CAPTURES + "test_{}", "a_captured_array_is_hashed_once_*"),
        *("an_array_that_is_captured_twice_is_hashed_once", "beyond_that_a_function_*"),
        *("what_only_objects_hold_is_not_compared", "a_function_over_a_large_array_*"),
        "an_array_of_the_library_is_compared_by_identity",
    ),
    inside(SHARED, SPEC_CAPTURES + "*"),
    inside("an audit finds what no guard sees", "tests/spec/test_audit.py::*"),
    inside(
        "calls from many threads, no edits by them", "tests/spec/test_threads.py::*"
    ),
    outside(PROBES, NEEDLESS + "test_a_call_that_may_have_to_compile_says_so_*"),
    inside(KEPT, NEEDLESS + "*"),
    inside("static values are exact", "tests/spec/test_exactness.py::*"),
    inside("static values are exact", "tests/spec/test_static_arguments.py::*"),
    outside(
        "asks for a miss where an item was appended and only G[0] is read",
        "tests/spec/test_explain.py::test_what_was_watched_is_told_as_it_was_at_the_miss",
    ),
    inside("words of explanations", "tests/spec/test_explain.py::*"),
    inside("words of explanations", "tests/spec/test_explain_functions.py::*"),
    inside("words of explanations", "tests/spec/test_recompile_warning.py::*"),
    outside(LIBRARY, "tests/spec/test_declared.py::test_a_module_in_c_of_the_users_*"),
    inside("of the disk cache, not of guards", "tests/spec/test_declared.py::*"),
    inside(KEPT, VALUES + "test_what_another_file_of_a_library_gave_at_its_import_*"),
    inside(PRECISE, VALUES + "test_what_a_library_counts_is_no_input"),
    outside(LIBRARY, VALUES + "*"),
    inside("a library that was upgraded is traced anew", FILES + "*[as it was]"),
    inside("a library that was upgraded is traced anew", FILES + "*_gone_is_another"),
    outside("stamps or RECORD tell, not the bytes of each file", FILES + "*"),
    outside(LIBRARY, WARM + "*_before_the_call_is_seen[node]"),
    outside(LIBRARY, WARM + "test_a_variable_{}", "that_the_trace_*", "counts_as_it_*"),
    outside(COMPUTED, WARM + "*_can_be_sure_of_is_not_kept[{}]", "names", "module"),
    inside("what another process edited is traced anew", WARM + "*"),
    outside(LIBRARY, "tests/spec/test_why.py::test_the_environment_is_named"),
    inside("words of `cache.why`", "tests/spec/test_why.py::*"),
    inside("of the disk cache, not of guards", "tests/spec/test_warm_kinds.py::*"),
)

# ---- tests/units ----

UNITS = (
    *(
        outside(MECHANISM, f"tests/units/{package}/*")
        for package in ("record", "watch", "definition", "static")
    ),
    outside(MECHANISM, "tests/units/core/test_unheard.py::*"),
    outside(MECHANISM, "tests/units/jitted/test_report.py::*"),
    outside(
        "tells of numbers that numpy.random drew",
        "tests/units/jit/test_bucket_dispatch.py::test_numbers_that_numpy_draws_*",
    ),
    outside(
        PROBES,
        "tests/units/cli/test_report.py::test_a_call_that_was_traced_again_*",
    ),
    outside(
        MECHANISM, "tests/units/module/test_module.py::test_a_static_list_has_an_end"
    ),
    inside(KEPT, "tests/units/jitted/*"),
    inside(KEPT, "tests/units/versions/*"),
)

# ---- what needs to know which instructions ran: Python 3.12 and later ----

UNOBSERVED = "without a hook all code that is reached counts"
UNTAKEN = "branch that is not taken"
NEEDS_TO_KNOW_WHAT_RAN = (
    outside(
        *(UNOBSERVED, COUNTERS + "test_{}", f"what_changes_beside_*-{UNTAKEN}]"),
        "a_static_dataclass_that_counts_is_traced_once",
    ),
    outside(UNOBSERVED, PROBE + "test_what_nobody_reads_*[{}*", UNTAKEN, "in grad-__"),
    outside(UNOBSERVED, CALLBACKS + "test_a_global_that_a_callback_reads_is_read_*"),
)
# Inside of the contract, and not seen yet: to be mended.
KNOWN_FAULTS = (
    outside(
        "defaults are written in place, of a function that was defined again and is data "
        "of a node",
        "tests/retrace/test_stale.py::*[equals: function of a Partial]",
    ),
    outside(
        "containers of other classes inside of a container are known by identity",
        "tests/retrace/test_kinds.py::*[subclasses of ordered containers: "
        "F[2].default_factory*",
    ),
)
UNSEEN = () if sys.version_info >= (3, 12) else NEEDS_TO_KNOW_WHAT_RAN

FAMILIES = (
    *UNSEEN,
    *KNOWN_FAULTS,
    *STALE,
    *STATES,
    *PRECISION,
    *RETRACE,
    *SPEC,
    *UNITS,
)


@cache
def _expression(pattern, names=()):
    """Return the expression of a pattern; it is compiled once by `re`."""
    each = "|".join(_expression(name) for name in names)
    whole = re.escape(pattern).replace(r"\*", ".*")
    return whole.replace(r"\{\}", f"(?:{each})") if names else whole


@cache
def _families_of(path):
    """Return the families that tests of a file may be of, each with what they match."""
    return [
        (family, re.compile(_expression(family.pattern, family.names), re.DOTALL))
        for family in FAMILIES
        if re.fullmatch(_expression(family.pattern.partition("::")[0]), path)
    ]


def family_of(nodeid):
    """Return the first family that a test is of, or None."""
    families = _families_of(nodeid.partition("::")[0])
    return next((family for family, fits in families if fits.fullmatch(nodeid)), None)


def is_outside(nodeid):
    """Tell whether a test asks for more than the contract promises."""
    family = family_of(nodeid)
    return family is not None and not family.inside
