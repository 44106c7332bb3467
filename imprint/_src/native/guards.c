/* Guards: whether everything that a trace read is unchanged. A part of `core.c`.

   A guard is a list of steps (`jit/guards/guard_steps`), each of which looks one location up
   and compares: first the pointer, then numbers and text by value. A step of kind CLASS or OWNER
   is followed by those of its group. While the version tag of a class is the one under which
   its group held last, neither the class nor a base has changed. Where a step fails Python
   decides: it compares by value. */

enum kind {
    CLASS,     /* a group: the class `holder` */
    OWNER,     /* a group: the object `holder`; it holds if that is gone */
    TYPE,      /* the class of the owner is `value` */
    ATTRIBUTE, /* `name` in the dictionary of the owner */
    SLOT,      /* the slot `name` of the owner */
    LACKS,     /* the dictionary of the owner has none of the names `name`, the set `value` */
    PART,      /* an attribute of a function or class: the owner, or `holder` */
    ITEM,      /* `name` in the dictionary `holder` */
    ABSENT,    /* nor has the dictionary `holder` */
    INDEX,     /* the item number `name` of the list `holder` */
    CELL,      /* the contents of the cell `holder` */
    NAMES,     /* the names in the dictionary `holder`, in order */
    BASES,     /* the bases of the class `holder` */
    LIST,      /* the items of `holder`; `name` says which references are weak */
    DICT,      /* its keys and items in turn */
    EMPTY,     /* `holder` is empty */
    CALL,      /* `holder` is called */
    KINDS
};

static const char *const kinds[KINDS] = {
    "class", "owner", "type", "attribute", "slot", "lacks", "part", "item", "absent",
    "index", "cell",  "names", "bases",    "list", "dict",  "empty", "call",
};

typedef struct {
    enum kind kind;
    int is_weak;      /* `value`, or the holder of a group, is a weak reference */
    unsigned int tag; /* of a class, under which the group held */
    Py_ssize_t count; /* of the steps of a group */
    PyObject *holder, *name, *value;
} Step;

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *otherwise;
    Py_ssize_t count;
    Step *steps;
} Guard;

/* The object that steps of a group are about. */
typedef struct {
    PyObject *object, *dict;
    int is_same_class; /* since the steps held */
} Owner;

/* Return whether a value is the recorded one: the same, or equal plain data. */
static int is_same(PyObject *now, PyObject *was)
{
    PyTypeObject *kind = Py_TYPE(was);
    if (now == was || Py_TYPE(now) != kind)
        return now == was;
    if (kind == &PyFloat_Type) {
        double a = PyFloat_AS_DOUBLE(now), b = PyFloat_AS_DOUBLE(was);
        return memcmp(&a, &b, sizeof a) == 0;
    }
    if (kind == &PyLong_Type || kind == &PyUnicode_Type || kind == &PyBytes_Type)
        return PyObject_RichCompareBool(now, was, Py_EQ);
    return 0;
}

/* Return whether a value, borrowed and perhaps NULL, is that of a step. */
static int is_value(PyObject *now, PyObject *was, int is_weak)
{
    if (now == NULL)
        return PyErr_Occurred() ? -1 : 0;
    if (!is_weak)
        return is_same(now, was);
    PyObject *alive = PyWeakref_GET_OBJECT(was);
    return now == alive && alive != Py_None;
}

static int is_value_owned(PyObject *now, Step *step)
{
    int holds = is_value(now, step->value, step->is_weak);
    Py_XDECREF(now);
    return holds;
}

static int is_part(Step *step, PyObject *object)
{
    PyObject *found = NULL;
    if (PyFunction_Check(object)) {
        PyFunctionObject *function = (PyFunctionObject *)object;
        if (step->name == names.code)
            found = function->func_code;
        else if (step->name == names.defaults)
            found = function->func_defaults ? function->func_defaults : Py_None;
        else if (step->name == names.kwdefaults)
            found = function->func_kwdefaults ? function->func_kwdefaults : Py_None;
    }
    if (found != NULL)
        return is_value(found, step->value, step->is_weak);
    return is_value_owned(PyObject_GetAttr(object, step->name), step);
}

/* Return the dictionary of an owner, borrowed from it. */
static PyObject *dict_of(Owner *owner)
{
    if (owner->dict == NULL) {
        owner->dict = PyObject_GenericGetDict(owner->object, NULL);
        if (owner->dict != NULL && !PyDict_Check(owner->dict)) {
            PyErr_SetString(PyExc_TypeError, "expected a dict");
            Py_CLEAR(owner->dict);
        }
    }
    return owner->dict;
}

/* Return what a class or a base has under a name, borrowed; perhaps NULL. */
static PyObject *in_class(PyTypeObject *class, PyObject *name)
{
    PyObject *found = NULL, *bases = class->tp_mro;
    for (Py_ssize_t i = 0; found == NULL && i < PyTuple_GET_SIZE(bases); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(bases, i);
#if PY_VERSION_HEX >= 0x030C0000
        PyObject *dict = PyType_GetDict(base);
#else
        PyObject *dict = Py_XNewRef(base->tp_dict);
#endif
        found = dict == NULL ? NULL : PyDict_GetItemWithError(dict, name);
        Py_XDECREF(dict); /* the class has it */
    }
    return found;
}

static int is_attribute(Step *step, Owner *owner)
{
    if (!owner->is_same_class) { /* it may have got a property of this name */
        PyObject *shown = in_class(Py_TYPE(owner->object), step->name);
        if (shown != NULL && Py_TYPE(shown)->tp_descr_set != NULL)
            return 0;
    }
    PyObject *dict = dict_of(owner);
    if (dict == NULL)
        return -1;
    return is_value(PyDict_GetItemWithError(dict, step->name), step->value, step->is_weak);
}

static int is_slot(Step *step, Owner *owner)
{
    if (!owner->is_same_class) {
        PyObject *shown = in_class(Py_TYPE(owner->object), step->name);
        if (shown == NULL || Py_TYPE(shown) != &PyMemberDescr_Type)
            return 0;
    }
    return is_value_owned(PyObject_GenericGetAttr(owner->object, step->name), step);
}

static int has_none(PyObject *dict, Step *step)
{
    if (dict == NULL)
        return -1;
    Py_ssize_t count = PyTuple_GET_SIZE(step->name), position = 0;
    PyObject *key, *value;
    int is_short = PyDict_GET_SIZE(dict) < count, found = 0;
    while (is_short && found == 0 && PyDict_Next(dict, &position, &key, &value))
        if (PyUnicode_CheckExact(key))
            found = PySet_Contains(step->value, key);
        else
            is_short = 0; /* its `==` may be of a user */
    for (Py_ssize_t i = 0; !is_short && found == 0 && i < count; i++)
        found = PyDict_Contains(dict, PyTuple_GET_ITEM(step->name, i));
    return found < 0 ? -1 : !found;
}

static int is_item_of_list(Step *step)
{
    Py_ssize_t at = PyLong_AsSsize_t(step->name), count = PyList_GET_SIZE(step->holder);
    at += at < 0 ? count : 0;
    return at >= 0 && at < count
           && is_value(PyList_GET_ITEM(step->holder, at), step->value, step->is_weak);
}

static int has_names(PyObject *dict, PyObject *recorded)
{
    Py_ssize_t count = PyTuple_GET_SIZE(recorded), position = 0;
    PyObject *name, *value;
    if (PyDict_GET_SIZE(dict) != count)
        return 0;
    for (Py_ssize_t i = 0; PyDict_Next(dict, &position, &name, &value); i++)
        if (i >= count || !is_same(name, PyTuple_GET_ITEM(recorded, i)))
            return 0;
    return 1;
}

static int has_items(Step *step)
{
    const char *weak = PyBytes_AS_STRING(step->name);
    Py_ssize_t count = PyTuple_GET_SIZE(step->value), position = 0;
    PyObject *key, *now;
    if (step->kind == LIST) {
        if (PyList_GET_SIZE(step->holder) != count)
            return 0;
        for (Py_ssize_t i = 0; i < count; i++)
            if (!is_value(PyList_GET_ITEM(step->holder, i), PyTuple_GET_ITEM(step->value, i),
                          weak[i]))
                return 0;
        return 1;
    }
    if (2 * PyDict_GET_SIZE(step->holder) != count)
        return 0;
    for (Py_ssize_t i = 0; PyDict_Next(step->holder, &position, &key, &now); i += 2)
        if (i >= count || !is_value(key, PyTuple_GET_ITEM(step->value, i), weak[i])
            || !is_value(now, PyTuple_GET_ITEM(step->value, i + 1), weak[i + 1]))
            return 0;
    return 1;
}

static int steps_hold(Step *steps, Py_ssize_t count, Owner *owner);

static int class_holds(Step *step)
{
    PyTypeObject *class = (PyTypeObject *)step->holder;
    unsigned int tag = class->tp_version_tag;
    if (tag != 0 && tag == step->tag)
        return 1;
    int holds = steps_hold(step + 1, step->count, NULL);
    if (holds == 1)
        step->tag = tag;
    return holds;
}

static int owner_holds(Step *step)
{
    PyObject *object = step->is_weak ? PyWeakref_GET_OBJECT(step->holder) : step->holder;
    if (step->is_weak && object == Py_None)
        return 1;
    unsigned int tag = Py_TYPE(object)->tp_version_tag;
    Owner owner = {Py_NewRef(object), NULL, tag != 0 && tag == step->tag};
    int holds = steps_hold(step + 1, step->count, &owner);
    if (holds == 1)
        step->tag = tag;
    Py_XDECREF(owner.dict);
    Py_DECREF(object);
    return holds;
}

static int step_holds(Step *step, Owner *owner)
{
    switch (step->kind) {
    case CLASS:
        return class_holds(step);
    case OWNER:
        return owner_holds(step);
    case TYPE:
        return (PyObject *)Py_TYPE(owner->object) == step->value;
    case ATTRIBUTE:
        return is_attribute(step, owner);
    case SLOT:
        return is_slot(step, owner);
    case LACKS:
        return has_none(dict_of(owner), step);
    case PART:
        return is_part(step, step->holder == Py_None ? owner->object : step->holder);
    case ITEM:
        return is_value(PyDict_GetItemWithError(step->holder, step->name), step->value,
                        step->is_weak);
    case ABSENT:
        return has_none(step->holder, step);
    case INDEX:
        return is_item_of_list(step);
    case CELL:
        return is_value(PyCell_GET(step->holder), step->value, step->is_weak);
    case NAMES:
        return has_names(step->holder, step->name);
    case BASES:
        return ((PyTypeObject *)step->holder)->tp_mro == step->value;
    case LIST:
    case DICT:
        return has_items(step);
    case EMPTY: {
        Py_ssize_t size = PyObject_Size(step->holder);
        return size < 0 ? -1 : size == 0;
    }
    default: {
        PyObject *result = PyObject_CallNoArgs(step->holder);
        int holds = result == NULL ? -1 : PyObject_IsTrue(result);
        Py_XDECREF(result);
        return holds;
    }
    }
}

/* Return whether the steps hold; -1 for an error. */
static int steps_hold(Step *steps, Py_ssize_t count, Owner *owner)
{
    for (Py_ssize_t i = 0; i < count; i += 1 + steps[i].count) {
        Step *step = &steps[i];
        if (step->kind == ITEM && !step->is_weak /* most are; without a call: 2 ns */
            && PyDict_GetItemWithError(step->holder, step->name) == step->value)
            continue;
        int holds = step_holds(step, owner);
        if (holds != 1)
            return holds;
    }
    return 1;
}

static int guard_holds(Guard *self)
{
    PyObject *otherwise = Py_XNewRef(self->otherwise);
    if (otherwise == NULL) /* it was cleared */
        return 0;
    int holds = steps_hold(self->steps, self->count, NULL);
    if (holds == 1) {
        Py_DECREF(otherwise);
        return 1;
    }
    if (holds < 0) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) {
            Py_DECREF(otherwise);
            return -1;
        }
        PyErr_Clear();
    }
    PyObject *result = PyObject_CallNoArgs(otherwise);
    Py_DECREF(otherwise);
    holds = result == NULL ? -1 : PyObject_IsTrue(result);
    Py_XDECREF(result);
    return holds;
}

static PyObject *call_guard(PyObject *self, PyObject *const *Py_UNUSED(args), size_t flags,
                            PyObject *keywords)
{
    if (PyVectorcall_NARGS(flags) != 0 || keywords != NULL) {
        PyErr_SetString(PyExc_TypeError, "expected no arguments");
        return NULL;
    }
    int holds = guard_holds((Guard *)self);
    return holds < 0 ? NULL : PyBool_FromLong(holds);
}

/* ---- its type ---- */

/* Return whether a step has parts of the types that it is read as. */
static int is_well_formed(Step *step, Py_ssize_t left, int is_in_group)
{
    PyObject *holder = step->holder, *name = step->name;
    switch (step->kind) {
    case CLASS:
    case OWNER:
        return step->count >= 0 && step->count <= left && !is_in_group
               && (step->kind == CLASS ? PyType_Check(holder)
                                       : !step->is_weak || PyWeakref_Check(holder));
    case TYPE:
    case ATTRIBUTE:
    case SLOT:
        return is_in_group && (step->kind == TYPE || PyUnicode_Check(name));
    case LACKS:
    case ABSENT:
        return (step->kind == LACKS ? is_in_group : PyDict_Check(holder))
               && PyTuple_Check(name) && PyAnySet_Check(step->value);
    case PART:
        return PyUnicode_Check(name) && (is_in_group || holder != Py_None);
    case ITEM:
        return PyDict_Check(holder);
    case INDEX:
        return PyList_Check(holder) && PyLong_Check(name);
    case CELL:
        return PyCell_Check(holder);
    case NAMES:
        return PyDict_Check(holder) && PyTuple_Check(name);
    case BASES:
        return PyType_Check(holder);
    case LIST:
    case DICT:
        return (step->kind == LIST ? PyList_Check(holder) : PyDict_Check(holder))
               && PyBytes_Check(name) && PyTuple_Check(step->value)
               && PyBytes_GET_SIZE(name) == PyTuple_GET_SIZE(step->value)
               && (step->kind == LIST || PyTuple_GET_SIZE(step->value) % 2 == 0);
    default:
        return 1;
    }
}

static int read_step(PyObject *given, Step *step)
{
    const char *kind;
    PyObject *holder, *name, *value;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple for each step");
        return -1;
    }
    if (!PyArg_ParseTuple(given, "sOOOp", &kind, &holder, &name, &value, &step->is_weak))
        return -1;
    while (step->kind < KINDS && strcmp(kinds[step->kind], kind) != 0)
        step->kind++;
    if (step->kind == CLASS || step->kind == OWNER)
        step->count = PyLong_AsSsize_t(name);
    step->holder = Py_NewRef(holder);
    step->name = Py_NewRef(name);
    step->value = Py_NewRef(value);
    if (PyUnicode_CheckExact(name))
        PyUnicode_InternInPlace(&step->name);
    if (step->is_weak && step->kind != OWNER && !PyWeakref_Check(value))
        step->kind = KINDS;
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *new_guard(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kw))
{
    PyObject *given, *otherwise;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &given, &otherwise))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(given), group_end = 0;
    Guard *self = (Guard *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->call = call_guard;
    self->otherwise = Py_NewRef(otherwise);
    self->steps = PyMem_Calloc(count ? count : 1, sizeof(Step));
    if (self->steps == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Step *step = &self->steps[i];
        int failed = read_step(PyTuple_GET_ITEM(given, i), step);
        self->count = i + 1;
        if (!failed
            && (step->kind == KINDS || !is_well_formed(step, count - i - 1, i < group_end))) {
            PyErr_Format(PyExc_ValueError, "step %zd is malformed: %R", i,
                         PyTuple_GET_ITEM(given, i));
            failed = 1;
        }
        if (failed) {
            Py_DECREF(self);
            return NULL;
        }
        if (step->kind == CLASS || step->kind == OWNER)
            group_end = i + 1 + step->count;
    }
    return (PyObject *)self;
}

static int traverse_guard(PyObject *object, visitproc visit, void *arg)
{
    Guard *self = (Guard *)object;
    Py_VISIT(self->otherwise);
    for (Py_ssize_t i = 0; i < self->count; i++) {
        Py_VISIT(self->steps[i].holder);
        Py_VISIT(self->steps[i].name);
        Py_VISIT(self->steps[i].value);
    }
    return 0;
}

/* Drop everything; a call of a guard that was cleared gives False. */
static int clear_guard(PyObject *object)
{
    Guard *self = (Guard *)object;
    Py_ssize_t count = self->count;
    Step *steps = self->steps;
    self->count = 0;
    self->steps = NULL;
    Py_CLEAR(self->otherwise);
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_XDECREF(steps[i].holder);
        Py_XDECREF(steps[i].name);
        Py_XDECREF(steps[i].value);
    }
    PyMem_Free(steps);
    return 0;
}

static void free_guard(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    clear_guard(object);
    Py_TYPE(object)->tp_free(object);
}

static PyTypeObject Guard_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "imprint._src.native._core.Guard",
    .tp_doc = "Whether everything that a trace read is unchanged.",
    .tp_basicsize = sizeof(Guard),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = new_guard,
    .tp_dealloc = free_guard,
    .tp_traverse = traverse_guard,
    .tp_clear = clear_guard,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Guard, call),
};
