/* Eager evaluation of a primitive: the twin of `eager.evaluate.evaluate`. A part of `core.c`.

   It takes plain primitives, arrays with values on the host and NumPy scalars, whose avals are
   known. Anything else is left to Python, which is the reference and reports the errors. */

static struct {
    PyTypeObject *primitive;
    PyObject *python, *quiet, *asarray, *scalar_avals;
    Py_ssize_t fewest, memo, reference, size, dtype, debug_nans, debug_infs, default_device;
} eager;

/* The operands of a primitive: the callable that is given their values, the values, and avals. */
enum { MOST_OPERANDS = 8 };
typedef struct {
    PyObject *values[1 + MOST_OPERANDS], *avals;
} Operands;

/* Take an operand; 0 if Python has to, -1 for an error. */
static int take_operand(PyObject *x, PyObject *settings, PyObject **value, PyObject **aval)
{
    if (Py_TYPE(x) == given.array) {
        *aval = Py_XNewRef(AT(x, of_array.aval));
        *value = Py_XNewRef(AT(x, of_array.host));
        return *aval != NULL && *value != NULL;
    }
    if (!PyType_IsSubtype(Py_TYPE(x), given.generic))
        return 0;
    PyObject *key = PyTuple_Pack(2, (PyObject *)Py_TYPE(x), settings);
    if (key == NULL)
        return -1;
    *aval = Py_XNewRef(PyDict_GetItemWithError(eager.scalar_avals, key));
    Py_DECREF(key);
    if (*aval == NULL)
        return PyErr_Occurred() ? -1 : 0;
    *value = PyObject_CallFunctionObjArgs(eager.asarray, x, AT(*aval, eager.dtype), NULL);
    return *value == NULL ? -1 : 1;
}

static int take_operands(PyObject *operands, PyObject *settings, Operands *made)
{
    Py_ssize_t count = PyTuple_GET_SIZE(operands);
    int taken = count <= MOST_OPERANDS;
    if (taken && (made->avals = PyTuple_New(count)) == NULL)
        return -1;
    for (Py_ssize_t i = 0; taken > 0 && i < count; i++) {
        PyObject *aval = NULL;
        taken = take_operand(PyTuple_GET_ITEM(operands, i), settings, &made->values[1 + i], &aval);
        PyTuple_SET_ITEM(made->avals, i, aval);
    }
    if (taken > 0 && count) {
        PyObject *size = AT(PyTuple_GET_ITEM(made->avals, 0), eager.size);
        taken = PyLong_CheckExact(size) && PyLong_AsSsize_t(size) < eager.fewest;
    }
    return taken;
}

/* Return the only aval of the results, borrowed; NULL without an error if Python has to. */
static PyObject *known_aval(PyObject *primitive, PyObject *avals, PyObject *params)
{
    PyObject *key = Py_NewRef(avals), *name, *value;
    Py_ssize_t at = 1, position = 0;
    if (PyDict_GET_SIZE(params)) { /* as `Primitive.out_avals` */
        Py_SETREF(key, PyTuple_New(1 + PyDict_GET_SIZE(params)));
        if (key == NULL)
            return NULL;
        PyTuple_SET_ITEM(key, 0, Py_NewRef(avals));
        while (PyDict_Next(params, &position, &name, &value)) {
            PyObject *pair = PyTuple_Pack(2, name, value);
            if (pair == NULL) {
                Py_DECREF(key);
                return NULL;
            }
            PyTuple_SET_ITEM(key, at++, pair);
        }
    }
    PyObject *found = PyDict_GetItemWithError(AT(primitive, eager.memo), key);
    Py_DECREF(key);
    return found != NULL && PyTuple_GET_SIZE(found) == 1 ? PyTuple_GET_ITEM(found, 0) : NULL;
}

/* Return what a reference gives, in a context without NumPy's warnings, as an array. */
static PyObject *run_reference(PyObject *primitive, PyObject **values, Py_ssize_t count,
                               PyObject *params, PyObject *dtype)
{
    PyObject *run = PyObject_GetAttr(eager.quiet, names.run), *outs = NULL, *out = NULL;
    values[0] = Py_XNewRef(AT(primitive, eager.reference));
    if (run != NULL && values[0] != NULL)
        outs = PyObject_VectorcallDict(run, values, (size_t)(1 + count), params);
    Py_XDECREF(run);
    if (outs != NULL && PyTuple_CheckExact(outs) && PyTuple_GET_SIZE(outs) == 1)
        out = Py_NewRef(PyTuple_GET_ITEM(outs, 0));
    Py_XDECREF(outs);
    int is_ready = out != NULL && Py_TYPE(out) == given.ndarray
                   && (PyObject *)PyArray_DESCR((PyArrayObject *)out) == dtype;
    if (out != NULL && !is_ready)
        Py_SETREF(out, PyObject_CallFunctionObjArgs(eager.asarray, out, dtype, NULL));
    return out;
}

/* Return the results of a primitive; NULL without an error if Python has to. */
static PyObject *evaluate_plainly(PyObject *primitive, PyObject *operands, PyObject *params)
{
    Operands taken = {{NULL}, NULL};
    PyObject *settings = settings_now(), *aval = NULL, *out = NULL, *results = NULL;
    int is_plain = settings != NULL && AT(settings, eager.debug_nans) == Py_False
                   && AT(settings, eager.debug_infs) == Py_False
                   && AT(settings, eager.default_device) == Py_None;
    if (is_plain && take_operands(operands, settings, &taken) > 0)
        aval = Py_XNewRef(known_aval(primitive, taken.avals, params));
    if (aval != NULL)
        out = run_reference(primitive, taken.values, PyTuple_GET_SIZE(operands), params,
                            AT(aval, eager.dtype));
    if (out != NULL && (results = PyTuple_New(1)) != NULL) {
        PyObject *array = make_array(aval, out, of_array.host);
        if (array == NULL)
            Py_CLEAR(results);
        else
            PyTuple_SET_ITEM(results, 0, array);
    }
    for (int i = 0; i <= MOST_OPERANDS; i++)
        Py_XDECREF(taken.values[i]);
    Py_XDECREF(taken.avals);
    Py_XDECREF(settings);
    Py_XDECREF(aval);
    Py_XDECREF(out);
    return results;
}

/* evaluate(primitive, operands, params) */
static PyObject *evaluate(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (eager.python == NULL || count != 3) {
        PyErr_SetString(PyExc_TypeError, "evaluate: expected a primitive, operands and params");
        return NULL;
    }
    PyObject *results = NULL;
    if (is_ready && Py_TYPE(args[0]) == eager.primitive && PyTuple_CheckExact(args[1])
        && PyDict_CheckExact(args[2]))
        results = evaluate_plainly(args[0], args[1], args[2]);
    if (results != NULL || PyErr_Occurred())
        return results;
    return PyObject_Vectorcall(eager.python, args, 3, NULL);
}

/* Take what it calls and reads. */
static PyObject *setup_eager(PyObject *Py_UNUSED(module), PyObject *parts)
{
    PyTypeObject *flags = NULL, *aval = NULL;
    PyObject *fewest = NULL;
    if (take(parts, "flags", &flags) < 0 || take(parts, "aval", &aval) < 0
        || take(parts, "fewest", &fewest) < 0 || take(parts, "quiet", &eager.quiet) < 0
        || take(parts, "asarray", &eager.asarray) < 0
        || take(parts, "scalar_avals", &eager.scalar_avals) < 0
        || take(parts, "primitive", &eager.primitive) < 0
        || take(parts, "evaluate", &eager.python) < 0)
        return NULL;
    eager.fewest = PyLong_AsSsize_t(fewest);
    Py_DECREF(fewest);
    OFFSET(eager.primitive, eager, memo, "_memo")
    OFFSET(eager.primitive, eager, reference, "reference")
    OFFSET(aval, eager, size, "size")
    OFFSET(aval, eager, dtype, "dtype")
    OFFSET(flags, eager, debug_nans, "debug_nans")
    OFFSET(flags, eager, debug_infs, "debug_infs")
    OFFSET(flags, eager, default_device, "default_device")
    Py_RETURN_NONE;
}
