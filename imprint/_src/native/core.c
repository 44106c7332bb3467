/* The warm call of a jitted function, in C: the twin of `Jitted._warm` in `jit/dispatch`.

   It answers what is plain: arrays on the device, NumPy arrays and numbers; static values; trees
   whose match is known. Anything else, and whatever fails a check, goes to the Python
   path, which is the reference and reports the errors. Only the public C API of CPython,
   the macros of NumPy's arrays (no function of NumPy) and methods of jaxlib's objects are used. The
   GIL protects all state. Slots of Python classes are read by the offsets that their
   descriptors give. References: what a function returns is owned, unless it says borrowed. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <structmember.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/ndarraytypes.h>
#if NPY_FEATURE_VERSION < NPY_2_0_API_VERSION
#error "the layout of dtypes is that of NumPy 2"
#endif
#ifdef Py_GIL_DISABLED
#error "the GIL protects the state of this extension"
#endif

#define SIZE_OF(array) (PyArray_DESCR(array)->elsize) /* bytes of an element */
#define AT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

/* ---- what `setup` gives ---- */

static struct {
    PyTypeObject *array, *version, *executable, *form, *spec, *entry, *ndarray, *generic,
        *results, *source;
    PyObject *engine_error, *collect, *explain, *static_token, *known_tokens;
    PyObject *settings, *local, *trace, *config, *host_aval, *avals, *wide_avals;
    PyObject *current_source, *replayed, *passed, *consume;
} given;

static struct {
    Py_ssize_t aval, buffer, host, padded, consumed;
} of_array;

static struct {
    Py_ssize_t guard, take, special, consts, hits, executable, handlers, out_aval,
        out_avals, unflatten, host_call, only_donates, donated, direct;
} of_version;

static struct {
    Py_ssize_t execute;
} of_executable;

static struct {
    Py_ssize_t dynamic, statics, defaults, pick, recalled;
} of_form;

static struct {
    Py_ssize_t plain;
} of_spec;

static struct {
    Py_ssize_t token;
} of_entry;

static struct {
    Py_ssize_t settings, x64;
} of_flags;

static struct {
    PyObject *base, *warm, *run, *consume, *consume_token, *nothing, *block, *execute,
        *handlers, *code, *defaults, *kwdefaults, *checked, *dtype;
} names;

static int is_ready = 0;

/* ---- small helpers ---- */

/* Clear an error that means "take the Python path"; return -1 for any other. */
static int declined(void)
{
    if (PyErr_ExceptionMatches(PyExc_KeyError) || PyErr_ExceptionMatches(PyExc_AttributeError)
        || PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear();
        return 0;
    }
    return -1;
}

/* Return the settings in force. */
static PyObject *settings_now(void)
{
    PyObject *local = NULL;
    if (PyContextVar_Get(given.local, Py_None, &local) < 0)
        return NULL;
    if (local != Py_None) {
        Py_DECREF(local);
        return PyObject_CallNoArgs(given.settings);
    }
    Py_DECREF(local);
    PyObject *base = PyDict_GetItemWithError(given.config, names.base);
    if (base == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_KeyError, "_base");
        return NULL;
    }
    return Py_NewRef(AT(base, of_flags.settings));
}

/* Return 1 if a trace is current, -1 for an error. */
static int is_tracing(void)
{
    PyObject *trace = NULL;
    if (PyContextVar_Get(given.trace, Py_None, &trace) < 0)
        return -1;
    Py_DECREF(trace);
    return trace != Py_None;
}

/* Return an array whose values, in the slot `at`, are a buffer or a NumPy array. */
static PyObject *make_array(PyObject *aval, PyObject *values, Py_ssize_t at)
{
    PyObject *made = given.array->tp_alloc(given.array, 0);
    if (made != NULL) {
        AT(made, of_array.aval) = Py_NewRef(aval);
        AT(made, at) = Py_NewRef(values);
    }
    return made;
}

#include "guards.c"
#include "trees.c"
#include "walks.c"

/* ---- avals of host values ---- */

static struct {
    PyObject *settings, *of_float, *of_bool, *of_int;
    int is_wide;
} scalars;

/* Remember the avals of numbers under these settings; they are interned, and few. */
static int remember_scalars(PyObject *settings)
{
    PyObject *zero = PyLong_FromLong(0), *half = PyFloat_FromDouble(0.5);
    PyObject *of_int = zero ? PyObject_CallOneArg(given.host_aval, zero) : NULL;
    PyObject *of_float = half && of_int ? PyObject_CallOneArg(given.host_aval, half) : NULL;
    PyObject *of_bool = of_float ? PyObject_CallOneArg(given.host_aval, Py_False) : NULL;
    Py_XDECREF(zero);
    Py_XDECREF(half);
    int is_wide = of_bool ? PyObject_IsTrue(AT(settings, of_flags.x64)) : -1;
    if (is_wide < 0) {
        Py_XDECREF(of_int);
        Py_XDECREF(of_float);
        Py_XDECREF(of_bool);
        return -1;
    }
    scalars.is_wide = is_wide;
    Py_XSETREF(scalars.of_int, of_int);
    Py_XSETREF(scalars.of_float, of_float);
    Py_XSETREF(scalars.of_bool, of_bool);
    Py_XSETREF(scalars.settings, Py_NewRef(settings));
    return 0;
}

/* Return the aval of a NumPy array or scalar; NULL without an error if it is new. */
static PyObject *numpy_aval(PyObject *value)
{
    int is_array = Py_TYPE(value) == given.ndarray, ndim = 0;
    PyObject *dtype, *shape, *key = NULL, *found = NULL;
    if (is_array) {
        dtype = Py_NewRef((PyObject *)PyArray_DESCR((PyArrayObject *)value));
        ndim = PyArray_NDIM((PyArrayObject *)value);
    } else
        dtype = PyObject_GetAttr(value, names.dtype);
    shape = dtype ? PyTuple_New(ndim) : NULL;
    for (int i = 0; shape != NULL && i < ndim; i++) {
        PyObject *n = PyLong_FromSsize_t(PyArray_DIMS((PyArrayObject *)value)[i]);
        if (n == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, i, n);
    }
    if (shape != NULL)
        key = PyTuple_Pack(2, dtype, shape);
    if (key != NULL)
        found = Py_XNewRef(PyDict_GetItemWithError(
            scalars.is_wide ? given.wide_avals : given.avals, key));
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    Py_XDECREF(key);
    return found;
}

/* Return the aval of a host value; NULL without an error if Python has to decide. */
static PyObject *host_aval(PyObject *value, PyObject *settings)
{
    PyTypeObject *kind = Py_TYPE(value);
    if (scalars.settings != settings && remember_scalars(settings) < 0)
        return NULL;
    if (kind == &PyFloat_Type)
        return Py_NewRef(scalars.of_float);
    if (kind == &PyBool_Type)
        return Py_NewRef(scalars.of_bool);
    if (kind == &PyLong_Type) {
        int overflow;
        long long n = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow || (!scalars.is_wide && n != (long long)(int32_t)n))
            return NULL;
        return Py_NewRef(scalars.of_int);
    }
    if (kind == given.ndarray || PyType_IsSubtype(kind, given.generic))
        return numpy_aval(value);
    return NULL;
}

/* ---- static values ---- */

#define REMEMBERED 64

/* The tokens of some plain values, by address; the values are held. */
static struct {
    PyObject *value, *token;
} tokens[REMEMBERED];

/* Return whether the token of a value never changes: a number, or a few of them. */
static int is_scalar(PyObject *value)
{
    PyTypeObject *kind = Py_TYPE(value);
    return kind == &PyLong_Type || kind == &PyUnicode_Type || kind == &PyFloat_Type
           || kind == &PyBool_Type || value == Py_None;
}

static int is_plain_data(PyObject *value)
{
    if (!PyTuple_CheckExact(value))
        return is_scalar(value);
    Py_ssize_t count = PyTuple_GET_SIZE(value);
    for (Py_ssize_t i = 0; i < count; i++)
        if (!is_scalar(PyTuple_GET_ITEM(value, i)))
            return 0;
    return count <= 16;
}

static PyObject *token_of(PyObject *value, PyObject *name)
{
    PyTypeObject *kind = Py_TYPE(value);
    if (kind == &PyLong_Type || kind == &PyUnicode_Type || value == Py_None)
        return Py_NewRef(value);
    size_t at = ((uintptr_t)value >> 4) % REMEMBERED;
    if (tokens[at].value == value)
        return Py_NewRef(tokens[at].token);
    PyObject *key = PyLong_FromVoidPtr(value);
    if (key == NULL)
        return NULL;
    PyObject *known = PyDict_GetItemWithError(given.known_tokens, key);
    Py_DECREF(key);
    if (known != NULL && Py_TYPE(known) == given.entry && PyWeakref_GET_OBJECT(known) == value)
        return Py_XNewRef(AT(known, of_entry.token));
    if (PyErr_Occurred())
        return NULL;
    PyObject *token = PyObject_CallFunctionObjArgs(given.static_token, value, name, NULL);
    if (token != NULL && is_plain_data(value)) {
        Py_XSETREF(tokens[at].token, Py_NewRef(token));
        Py_XSETREF(tokens[at].value, Py_NewRef(value));
    }
    return token;
}

/* ---- executions ---- */

/* Raise the error of an execution as `Version.explain` words it. */
static void explain_error(PyObject *version, PyObject *buffers)
{
    if (!PyErr_ExceptionMatches(given.engine_error))
        return;
    PyObject *kind, *err, *trace;
    PyErr_Fetch(&kind, &err, &trace);
    PyErr_NormalizeException(&kind, &err, &trace);
    if (trace != NULL)
        PyException_SetTraceback(err, trace);
    PyObject *nothing =
        PyObject_CallFunctionObjArgs(given.explain, version, buffers, err, NULL);
    Py_XDECREF(nothing); /* it raises */
    Py_XDECREF(kind);
    Py_XDECREF(err);
    Py_XDECREF(trace);
}

/* Free what the engine has released, every few executions: each leaves 80 bytes. */
static int collect_garbage(void)
{
    static unsigned int count = 0;
    if (++count % 16) /* 60 ns */
        return 0;
    PyObject *nothing = PyObject_CallNoArgs(given.collect);
    Py_XDECREF(nothing);
    return nothing == NULL ? -1 : 0;
}

/* Return the buffers of results, a list. */
static PyObject *consume_results(PyObject *results, PyObject *handlers)
{
    PyObject *args[] = {results, handlers};
    if (Py_TYPE(results) == given.results) /* the look-up: 30 ns */
        return PyObject_Vectorcall(given.consume, args, 2, NULL);
    return PyObject_VectorcallMethod(names.consume, args, 2, NULL);
}

/* Return the buffers of the results, a list. */
static PyObject *execute(PyObject *version, PyObject *buffers)
{
    PyObject *executable = Py_NewRef(AT(version, of_version.executable));
    PyObject *run = Py_XNewRef(AT(executable, of_executable.execute));
    PyObject *results = NULL, *outs = NULL;
    if (run != NULL)
        results = PyObject_CallOneArg(run, buffers);
    else
        PyErr_SetString(PyExc_AttributeError, "execute");
    Py_XDECREF(run);
    Py_DECREF(executable);
    if (results != NULL) {
        outs = consume_results(results, AT(version, of_version.handlers));
        Py_DECREF(results);
    }
    if (outs == NULL) {
        explain_error(version, buffers);
        return NULL;
    }
    if (collect_garbage() < 0)
        Py_CLEAR(outs);
    return outs;
}

/* Return the values of results, which arrays have in the slot `at`, as the result of the
   function. */
static PyObject *wrap(PyObject *version, PyObject *outs, Py_ssize_t at)
{
    PyObject *aval = AT(version, of_version.out_aval), *avals = AT(version, of_version.out_avals);
    Py_ssize_t count = PyTuple_GET_SIZE(avals);
    if (!PyList_CheckExact(outs) || PyList_GET_SIZE(outs) < count) {
        PyErr_SetString(PyExc_SystemError, "an execution gave too few results");
        return NULL;
    }
    if (aval != Py_None)
        return make_array(aval, PyList_GET_ITEM(outs, 0), at);
    PyObject *unflatten = AT(version, of_version.unflatten);
    int is_list = unflatten == (PyObject *)&PyList_Type;
    PyObject *arrays = is_list ? PyList_New(count) : PyTuple_New(count);
    if (arrays == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *array = make_array(PyTuple_GET_ITEM(avals, i), PyList_GET_ITEM(outs, i), at);
        if (array == NULL) {
            Py_DECREF(arrays);
            return NULL;
        }
        if (is_list)
            PyList_SET_ITEM(arrays, i, array);
        else
            PyTuple_SET_ITEM(arrays, i, array);
    }
    if (is_list || unflatten == (PyObject *)&PyTuple_Type)
        return arrays;
    PyObject *result;
    if (Py_TYPE(unflatten) == &Unflatten_Type && ((Tree *)unflatten)->count == count)
        result = put_leaves(((Tree *)unflatten)->template, ((PyTupleObject *)arrays)->ob_item);
    else {
        Py_INCREF(unflatten);
        result = PyObject_CallOneArg(unflatten, arrays);
        Py_DECREF(unflatten);
    }
    Py_DECREF(arrays);
    return result;
}

/* Count a call that a version answers. */
static int count_hit(PyObject *version)
{
    PyObject *before = AT(version, of_version.hits);
    long long count = PyLong_AsLongLong(before);
    PyObject *hits = count == -1 && PyErr_Occurred() ? NULL : PyLong_FromLongLong(count + 1);
    if (hits == NULL)
        return -1;
    AT(version, of_version.hits) = hits;
    Py_DECREF(before);
    return 0;
}

/* ---- donation ---- */

/* Return where the caller is, as `current_source`. */
static PyObject *source_now(void)
{
    PyObject *replayed = NULL, *source = NULL;
    if (PyContextVar_Get(given.replayed, Py_None, &replayed) < 0)
        return NULL;
    PyFrameObject *frame = PyEval_GetFrame(); /* borrowed */
    Py_DECREF(replayed);
    if (replayed != Py_None || frame == NULL)
        return PyObject_CallNoArgs(given.current_source);
    Py_INCREF(frame);
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *passed = PyObject_GetItem(given.passed, code->co_filename);
    int is_passed = passed == NULL ? -1 : PyObject_IsTrue(passed);
    if (is_passed == 0) {
        PyObject *offset = PyLong_FromLong(PyFrame_GetLasti(frame));
        source = offset ? given.source->tp_alloc(given.source, 3) : NULL; /* a named tuple */
        if (source != NULL) {
            PyTuple_SET_ITEM(source, 0, Py_NewRef(code));
            PyTuple_SET_ITEM(source, 1, offset);
            PyTuple_SET_ITEM(source, 2, Py_NewRef(names.nothing));
        } else
            Py_XDECREF(offset);
    } else if (is_passed > 0)
        source = PyObject_CallNoArgs(given.current_source);
    Py_XDECREF(passed);
    Py_DECREF(code);
    Py_DECREF(frame);
    return source;
}

/* Take the values of an array that was donated. */
static void consume(PyObject *array, PyObject *mark)
{
    PyObject *before[] = {AT(array, of_array.consumed), AT(array, of_array.buffer),
                          AT(array, of_array.host), AT(array, of_array.padded)};
    AT(array, of_array.consumed) = Py_NewRef(mark);
    AT(array, of_array.buffer) = NULL;
    AT(array, of_array.host) = NULL;
    AT(array, of_array.padded) = NULL;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        Py_XDECREF(before[i]);
}

/* Take the values of the arguments that an execution was given. */
static int consume_donated(PyObject *donated, PyObject *const *leaves)
{
    PyObject *site = source_now(), *number, *how;
    Py_ssize_t position = 0;
    if (site == NULL)
        return -1;
    while (PyDict_Next(donated, &position, &number, &how)) {
        PyObject *mark = PyTuple_Pack(2, how, site);
        if (mark == NULL)
            break;
        consume(leaves[PyLong_AsSsize_t(number)], mark);
        Py_DECREF(mark);
    }
    Py_DECREF(site);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- host values as arguments: the twin of `host_call` in `runtime/arguments` ---- */

typedef struct {
    PyObject *slots; /* by position: the shared array, its dtype and its buffer, or None */
    PyObject *token; /* of the execution that read them, or NULL */
} ArgumentArrays;

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *executable, *slot_of, *avals, *write, *collect, *engine_error;
    int idle; /* how many sets no call has */
    ArgumentArrays sets[2];
} HostCall;

static PyTypeObject HostCall_Type;

static void drop_set(ArgumentArrays *set)
{
    Py_CLEAR(set->slots);
    Py_CLEAR(set->token);
}

/* Take the least recently used set, that no execution reads any more. */
static int take_set(HostCall *self, ArgumentArrays *set)
{
    if (self->idle == 0) {
        Py_ssize_t count = PySequence_Size(self->avals);
        set->token = NULL;
        set->slots = count < 0 ? NULL : PyList_New(count);
        for (Py_ssize_t i = 0; set->slots != NULL && i < count; i++)
            PyList_SET_ITEM(set->slots, i, Py_NewRef(Py_None));
        return set->slots == NULL ? -1 : 0;
    }
    *set = self->sets[0];
    self->sets[0] = self->sets[1];
    self->sets[1] = (ArgumentArrays){0};
    self->idle--;
    if (set->token == NULL)
        return 0;
    PyObject *nothing = PyObject_CallMethodNoArgs(set->token, names.block);
    if (nothing == NULL) {
        if (!PyErr_ExceptionMatches(self->engine_error))
            return -1;
        PyErr_Clear(); /* it failed: reading its results raises */
    }
    Py_XDECREF(nothing);
    Py_CLEAR(set->token);
    return 0;
}

static void return_set(HostCall *self, ArgumentArrays *set)
{
    ArgumentArrays oldest = {0};
    if (self->idle == 2) {
        oldest = self->sets[0];
        self->sets[0] = self->sets[1];
        self->idle = 1;
    }
    self->sets[self->idle++] = *set;
    *set = (ArgumentArrays){0};
    drop_set(&oldest);
}

/* Write a number of the very kind of a scalar array; return 0 if NumPy has to. */
static int write_number(PyArrayObject *to, PyObject *value)
{
    void *data = PyArray_DATA(to);
    char kind = PyArray_DESCR(to)->kind;
    npy_intp size = SIZE_OF(to);
    if (PyArray_NDIM(to) != 0)
        return 0;
    if (PyFloat_CheckExact(value) && kind == 'f' && size == 4) {
        *(float *)data = (float)PyFloat_AS_DOUBLE(value); /* too large: infinity */
        return 1;
    }
    if (PyFloat_CheckExact(value) && kind == 'f' && size == 8) {
        *(double *)data = PyFloat_AS_DOUBLE(value);
        return 1;
    }
    if (PyBool_Check(value) && kind == 'b') {
        *(npy_bool *)data = value == Py_True;
        return 1;
    }
    if (!PyLong_CheckExact(value) || kind != 'i' || (size != 4 && size != 8))
        return 0;
    int overflow;
    long long n = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow || (size == 4 && n != (long long)(int32_t)n))
        return 0;
    if (size == 4)
        *(int32_t *)data = (int32_t)n;
    else
        *(int64_t *)data = n;
    return 1;
}

/* Write a value into a shared array; 0 if it needs a conversion, -1 for an error. */
static int write_plainly(PyObject *array, PyObject *value)
{
    PyArrayObject *to = (PyArrayObject *)array, *from = (PyArrayObject *)value;
    if (Py_TYPE(value) != Py_TYPE(array))
        return write_number(to, value);
    int ndim = PyArray_NDIM(to);
    if (PyArray_DESCR(from) != PyArray_DESCR(to))
        return 0;
    if (!(PyArray_FLAGS(from) & NPY_ARRAY_C_CONTIGUOUS) || PyArray_NDIM(from) != ndim)
        return PyObject_SetItem(array, Py_Ellipsis, value) < 0 ? -1 : 1;
    npy_intp size = SIZE_OF(to);
    for (int i = 0; i < ndim; i++) {
        if (PyArray_DIMS(from)[i] != PyArray_DIMS(to)[i])
            return PyObject_SetItem(array, Py_Ellipsis, value) < 0 ? -1 : 1;
        size *= PyArray_DIMS(to)[i];
    }
    memcpy(PyArray_DATA(to), PyArray_DATA(from), size);
    return 1;
}

/* Replace the host value at a position by a buffer; note what NumPy has to convert. */
static int place(HostCall *self, PyObject *slots, PyObject *arguments, Py_ssize_t at,
                 PyObject **converted)
{
    if (at < 0 || at >= PyList_GET_SIZE(slots) || at >= PyList_GET_SIZE(arguments)) {
        PyErr_SetString(PyExc_IndexError, "no such argument");
        return -1;
    }
    PyObject *value = Py_NewRef(PyList_GET_ITEM(arguments, at)), *buffer = NULL;
    PyObject *slot = Py_NewRef(PyList_GET_ITEM(slots, at));
    int failed = -1;
    if (slot == Py_None) {
        PyObject *number = PyLong_FromSsize_t(at);
        Py_SETREF(slot, number ? PyObject_CallOneArg(self->slot_of, number) : NULL);
        Py_XDECREF(number);
        if (slot == NULL || PyList_SetItem(slots, at, Py_NewRef(slot)) < 0)
            goto done;
    }
    PyObject *array = PyTuple_GET_ITEM(slot, 0), *given_by = PyTuple_GET_ITEM(slot, 2);
    if (array == Py_None) {
        PyObject *aval = PySequence_GetItem(self->avals, at);
        if (aval != NULL)
            buffer = PyObject_CallFunctionObjArgs(given_by, value, aval, NULL);
        Py_XDECREF(aval);
        if (buffer == NULL)
            goto done;
    } else {
        int written = write_plainly(array, value);
        if (written < 0)
            goto done;
        if (written == 0) {
            if (*converted == NULL && (*converted = PyList_New(0)) == NULL)
                goto done;
            PyObject *pair = PyTuple_Pack(2, array, value);
            int added = pair ? PyList_Append(*converted, pair) : -1;
            Py_XDECREF(pair);
            if (added < 0)
                goto done;
        }
        buffer = Py_NewRef(given_by);
    }
    failed = PyList_SetItem(arguments, at, buffer);
done:
    Py_DECREF(value);
    Py_XDECREF(slot);
    return failed;
}

/* Execute on buffers and host values, which become buffers in the list of arguments. */
static PyObject *host_execute(HostCall *self, PyObject *arguments, const Py_ssize_t *hosts,
                              Py_ssize_t count)
{
    ArgumentArrays set = {0};
    PyObject *converted = NULL, *results = NULL, *outs = NULL, *nothing = NULL;
    PyObject *execute = NULL, *handlers = NULL;
    if (take_set(self, &set) < 0)
        goto done;
    for (Py_ssize_t i = 0; i < count; i++)
        if (place(self, set.slots, arguments, hosts[i], &converted) < 0)
            goto done;
    if (converted != NULL) {
        nothing = PyObject_CallOneArg(self->write, converted);
        if (nothing == NULL)
            goto done;
        Py_CLEAR(nothing);
    }
    execute = PyObject_GetAttr(self->executable, names.execute);
    handlers = execute ? PyObject_GetAttr(self->executable, names.handlers) : NULL;
    if (handlers != NULL)
        results = PyObject_CallFunctionObjArgs(execute, arguments, Py_True, NULL);
    if (results == NULL)
        goto done;
    set.token = PyObject_CallMethodNoArgs(results, names.consume_token);
    if (set.token == NULL)
        goto done;
    return_set(self, &set);
    outs = consume_results(results, handlers);
    if (outs != NULL && (nothing = PyObject_CallNoArgs(self->collect)) == NULL)
        Py_CLEAR(outs);
done:
    Py_XDECREF(nothing);
    Py_XDECREF(results);
    Py_XDECREF(execute);
    Py_XDECREF(handlers);
    Py_XDECREF(converted);
    drop_set(&set);
    return outs;
}

static PyObject *call_host(PyObject *self, PyObject *const *args, size_t flags,
                           PyObject *keywords)
{
    if (PyVectorcall_NARGS(flags) != 2 || keywords != NULL || !PyList_CheckExact(args[0])) {
        PyErr_SetString(PyExc_TypeError, "expected a list of arguments, and positions");
        return NULL;
    }
    PyObject *given_hosts = PySequence_Fast(args[1], "expected positions"), *outs = NULL;
    if (given_hosts == NULL)
        return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(given_hosts);
    Py_ssize_t *hosts = PyMem_New(Py_ssize_t, count);
    for (Py_ssize_t i = 0; hosts != NULL && i < count; i++)
        hosts[i] = PyLong_AsSsize_t(PySequence_Fast_GET_ITEM(given_hosts, i));
    Py_DECREF(given_hosts);
    if (hosts == NULL)
        return PyErr_NoMemory();
    if (!PyErr_Occurred())
        outs = host_execute((HostCall *)self, args[0], hosts, count);
    PyMem_Free(hosts);
    return outs;
}

static PyObject *new_host_call(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kw))
{
    PyObject *executable, *slot_of, *avals, *write, *collect, *engine_error;
    if (!PyArg_ParseTuple(args, "OOOOOO", &executable, &slot_of, &avals, &write, &collect,
                          &engine_error))
        return NULL;
    HostCall *self = (HostCall *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->call = call_host;
    self->executable = Py_NewRef(executable);
    self->slot_of = Py_NewRef(slot_of);
    self->avals = Py_NewRef(avals);
    self->write = Py_NewRef(write);
    self->collect = Py_NewRef(collect);
    self->engine_error = Py_NewRef(engine_error);
    return (PyObject *)self;
}

static int traverse_host_call(PyObject *object, visitproc visit, void *arg)
{
    HostCall *self = (HostCall *)object;
    Py_VISIT(self->executable);
    Py_VISIT(self->slot_of);
    Py_VISIT(self->avals);
    Py_VISIT(self->write);
    Py_VISIT(self->collect);
    Py_VISIT(self->engine_error);
    for (int i = 0; i < self->idle; i++) {
        Py_VISIT(self->sets[i].slots);
        Py_VISIT(self->sets[i].token);
    }
    return 0;
}

/* Clear what can lead back here: not what a call of a dying object would need. */
static int clear_host_call(PyObject *object)
{
    HostCall *self = (HostCall *)object;
    while (self->idle > 0) {
        ArgumentArrays set = self->sets[--self->idle];
        self->sets[self->idle] = (ArgumentArrays){0};
        drop_set(&set);
    }
    return 0;
}

static void free_host_call(PyObject *object)
{
    HostCall *self = (HostCall *)object;
    PyObject_GC_UnTrack(object);
    clear_host_call(object);
    Py_XDECREF(self->executable);
    Py_XDECREF(self->slot_of);
    Py_XDECREF(self->avals);
    Py_XDECREF(self->write);
    Py_XDECREF(self->collect);
    Py_XDECREF(self->engine_error);
    Py_TYPE(object)->tp_free(object);
}

static PyTypeObject HostCall_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "imprint._src.native._core.HostCall",
    .tp_doc = "Executes on buffers and host values.",
    .tp_basicsize = sizeof(HostCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = new_host_call,
    .tp_dealloc = free_host_call,
    .tp_traverse = traverse_host_call,
    .tp_clear = clear_host_call,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(HostCall, call),
};

/* ---- the call ---- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *current; /* the versions by key */
    PyObject *forms;   /* of its calls */
    PyObject *bind;    /* makes a method, if it is no plain one */
    struct {
        PyObject *forms, *form;
        Py_ssize_t count;
    } last; /* the form that a call without keywords had last, and those it is of */
} WarmCall;

/* Return the result of the Python path, a method of the object. */
static PyObject *call_python(PyObject *self, PyObject *method, PyObject *const *args,
                             Py_ssize_t count, PyObject *keywords)
{
    Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    PyObject *values = PyTuple_New(count), *options = PyDict_New(), *result = NULL;
    for (Py_ssize_t i = 0; values != NULL && i < count; i++)
        PyTuple_SET_ITEM(values, i, Py_NewRef(args[i]));
    int failed = values == NULL || options == NULL;
    for (Py_ssize_t i = 0; !failed && i < named; i++)
        failed = PyDict_SetItem(options, PyTuple_GET_ITEM(keywords, i), args[count + i]) < 0;
    if (!failed)
        result = PyObject_CallMethodObjArgs(self, method, values, options, NULL);
    Py_XDECREF(values);
    Py_XDECREF(options);
    return result;
}

/* What a call was found to be. All but `leaves` is owned. */
typedef struct {
    PyObject *holder;        /* keeps the leaves */
    PyObject *const *leaves; /* borrowed */
    Py_ssize_t count;
    Py_ssize_t hosts;        /* how many are host values */
    PyObject *spec, *treedef, *statics;
} Form;

static void clear_form(Form *form)
{
    Py_CLEAR(form->holder);
    Py_CLEAR(form->spec);
    Py_CLEAR(form->treedef);
    Py_CLEAR(form->statics);
}

/* Return whether a value may be a default, in type and bits; if so, Python decides. */
static int may_be_default(PyObject *value, PyObject *plain)
{
    PyTypeObject *kind = Py_TYPE(value);
    int is_compared = kind == &PyFloat_Type || kind == &PyLong_Type || kind == &PyBool_Type
                      || kind == &PyUnicode_Type || kind != Py_TYPE(plain);
    return !is_compared || is_same(value, plain);
}

/* Return whether a value of a call may be the default of its parameter. */
static int has_default(PyObject *defaults, PyObject *const *args, Py_ssize_t total)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(defaults); i++) {
        PyObject *pair = PyTuple_GET_ITEM(defaults, i);
        Py_ssize_t at = PyLong_AsSsize_t(PyTuple_GET_ITEM(pair, 0));
        if (at < 0 || at >= total || may_be_default(args[at], PyTuple_GET_ITEM(pair, 1)))
            return 1;
    }
    return 0;
}

static PyObject *tokens_of(PyObject *statics, PyObject *const *args, Py_ssize_t total)
{
    Py_ssize_t count = PyTuple_GET_SIZE(statics);
    PyObject *tokens = PyTuple_New(count);
    for (Py_ssize_t i = 0; tokens != NULL && i < count; i++) {
        PyObject *each = PyTuple_GET_ITEM(statics, i);
        Py_ssize_t at = PyLong_AsSsize_t(PyTuple_GET_ITEM(each, 0));
        PyObject *value = at < 0 || at >= total ? PyTuple_GET_ITEM(each, 1) : args[at];
        PyObject *token = token_of(value, PyTuple_GET_ITEM(each, 2));
        if (token == NULL)
            Py_CLEAR(tokens);
        else
            PyTuple_SET_ITEM(tokens, i, token);
    }
    return tokens;
}

/* Replace the values that a call holds by their leaves; as `split`. */
static int match_leaves(PyObject *match, Form *found)
{
    PyObject *taken;
    if (Py_TYPE(match) == &Match_Type) {
        taken = leaves_of((Tree *)match, found->holder);
        if (taken == NULL && !PyErr_Occurred())
            return 0;
    } else {
        Py_INCREF(match);
        taken = PyObject_CallOneArg(match, found->holder);
        Py_DECREF(match);
    }
    if (taken == NULL)
        return declined();
    PyObject *leaves = taken;
    if (PyTuple_CheckExact(taken) && PyTuple_GET_SIZE(taken) == 2) { /* of a `Split` */
        leaves = PyTuple_GET_ITEM(taken, 0);
        Py_XSETREF(found->statics, Py_NewRef(PyTuple_GET_ITEM(taken, 1)));
    }
    Py_SETREF(found->holder, taken);
    if (!PyList_CheckExact(leaves))
        return 0;
    if (leaves != taken) /* the leaves stay alive without the pair */
        Py_SETREF(found->holder, Py_NewRef(leaves));
    found->leaves = ((PyListObject *)leaves)->ob_item;
    found->count = PyList_GET_SIZE(leaves);
    return 1;
}

/* Split a call by a form and a match of its tree; 1 if it is plain enough, 0 if Python has
   to, -1 for an error. */
static int split(PyObject *form, PyObject *match, PyObject *const *args, Py_ssize_t total,
                 Form *found)
{
    PyObject *defaults = AT(form, of_form.defaults), *dynamic = AT(form, of_form.dynamic);
    if (PyTuple_GET_SIZE(defaults) && has_default(defaults, args, total))
        return 0;
    found->statics = tokens_of(AT(form, of_form.statics), args, total);
    if (found->statics == NULL) {
        PyErr_Clear(); /* Python raises it again, from the right place */
        return 0;
    }
    int is_whole = AT(form, of_form.pick) == Py_None;
    found->leaves = args;
    found->count = total;
    if (is_whole && match == Py_None)
        return 1;
    Py_ssize_t count = is_whole ? total : PyTuple_GET_SIZE(dynamic);
    found->holder = PyTuple_New(count);
    if (found->holder == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t at = is_whole ? i : PyLong_AsSsize_t(PyTuple_GET_ITEM(dynamic, i));
        if (at < 0 || at >= total)
            return 0;
        PyTuple_SET_ITEM(found->holder, i, Py_NewRef(args[at]));
    }
    if (match == Py_None) {
        found->leaves = ((PyTupleObject *)found->holder)->ob_item;
        found->count = count;
        return 1;
    }
    return match_leaves(match, found);
}

/* Split a call as the last one of its form was. */
static int split_as_last(PyObject *form, PyObject *const *args, Py_ssize_t total, Form *found)
{
    PyObject *recalled = AT(form, of_form.recalled);
    found->spec = Py_NewRef(PyTuple_GET_ITEM(recalled, 1));
    found->treedef = Py_NewRef(PyTuple_GET_ITEM(recalled, 2));
    Py_INCREF(recalled); /* another thread may replace it */
    int is_plain = split(form, PyTuple_GET_ITEM(recalled, 0), args, total, found);
    Py_DECREF(recalled);
    return is_plain;
}

/* Return the key of a call; NULL without an error if Python has to make it. */
static PyObject *key_of(Form *form, PyObject *settings)
{
    int is_filtered = form->spec != NULL && Py_TYPE(form->spec) != given.spec;
    int is_short = form->spec == NULL
                   || (form->treedef == Py_None && AT(form->spec, of_spec.plain) == Py_True);
    Py_ssize_t start = is_short ? 1 : 4;
    PyObject *key = PyTuple_New(start + form->count);
    if (key == NULL)
        return NULL;
    if (!is_short) {
        PyTuple_SET_ITEM(key, 0, Py_NewRef(form->spec));
        PyTuple_SET_ITEM(key, 1, Py_NewRef(form->treedef));
        PyTuple_SET_ITEM(key, 2, Py_NewRef(form->statics));
    }
    PyTuple_SET_ITEM(key, start - 1, Py_NewRef(settings));
    form->hosts = 0;
    for (Py_ssize_t i = 0; i < form->count; i++) {
        PyObject *leaf = form->leaves[i], *aval = NULL;
        if (Py_TYPE(leaf) == given.array)
            aval = Py_XNewRef(AT(leaf, of_array.aval));
        else if (!is_filtered || Py_TYPE(leaf) == given.ndarray) { /* numbers are static */
            aval = host_aval(leaf, settings);
            form->hosts++;
        }
        if (aval == NULL) {
            Py_DECREF(key);
            return NULL;
        }
        PyTuple_SET_ITEM(key, start + i, aval);
    }
    return key;
}

/* Return the version of a key whose guard holds; NULL without an error if there is none. */
static PyObject *find(PyObject *current, PyObject *key)
{
    PyObject *version = PyDict_GetItemWithError(current, key);
    if (version == NULL || Py_TYPE(version) != given.version)
        return NULL;
    Py_INCREF(version);
    PyObject *guard = AT(version, of_version.guard);
    if (guard == Py_None)
        return version;
    Py_INCREF(guard);
    int is_true;
    if (Py_TYPE(guard) == &Guard_Type)
        is_true = guard_holds((Guard *)guard);
    else {
        PyObject *holds = PyObject_CallNoArgs(guard);
        is_true = holds == NULL ? -1 : PyObject_IsTrue(holds);
        Py_XDECREF(holds);
    }
    Py_DECREF(guard);
    if (is_true != 1)
        Py_CLEAR(version);
    return version;
}

/* Execute a version through its method `run`, which sorts out what is not plain. */
static PyObject *run_python(PyObject *version, Form *form)
{
    PyObject *leaves = PyList_New(form->count);
    PyObject *hosts = form->hosts ? PyList_New(0) : Py_NewRef(Py_None), *result = NULL;
    int failed = leaves == NULL || hosts == NULL;
    for (Py_ssize_t i = 0; !failed && i < form->count; i++) {
        PyList_SET_ITEM(leaves, i, Py_NewRef(form->leaves[i]));
        if (form->hosts && Py_TYPE(form->leaves[i]) != given.array) {
            PyObject *number = PyLong_FromSsize_t(i);
            failed = number == NULL || PyList_Append(hosts, number) < 0;
            Py_XDECREF(number);
        }
    }
    if (!failed && count_hit(version) == 0)
        result = PyObject_CallMethodObjArgs(version, names.run, leaves, hosts, NULL);
    Py_XDECREF(leaves);
    Py_XDECREF(hosts);
    return result;
}

/* The arguments of an execution. */
typedef struct {
    PyObject *list; /* buffers, of captured arrays first, and host values */
    Py_ssize_t *hosts, count, few[16]; /* where host values are, and how many */
} Arguments;

static void clear_arguments(Arguments *arguments)
{
    Py_CLEAR(arguments->list);
    if (arguments->hosts != arguments->few)
        PyMem_Free(arguments->hosts);
}

/* Take the arguments of an execution; 0 if an array has no buffer, -1 for an error. */
static int take_arguments(PyObject *version, const Form *form, Arguments *made)
{
    PyObject *take = AT(version, of_version.take), *consts = AT(version, of_version.consts);
    Py_ssize_t start = take == Py_None ? 0 : PyList_GET_SIZE(consts);
    Py_ssize_t kept = take == Py_None ? form->count : PyTuple_GET_SIZE(take);
    made->count = 0;
    made->list = PyList_New(start + kept);
    made->hosts = made->few;
    if (form->hosts > (Py_ssize_t)(sizeof made->few / sizeof *made->few))
        made->hosts = PyMem_New(Py_ssize_t, kept);
    if (made->list == NULL || made->hosts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < start; i++)
        PyList_SET_ITEM(made->list, i, Py_NewRef(PyList_GET_ITEM(consts, i)));
    for (Py_ssize_t i = 0; i < kept; i++) {
        Py_ssize_t at = take == Py_None ? i : PyLong_AsSsize_t(PyTuple_GET_ITEM(take, i));
        if (at < 0 || at >= form->count)
            return 0;
        PyObject *value = form->leaves[at];
        if (Py_TYPE(value) != given.array)
            made->hosts[made->count++] = start + i;
        else if ((value = AT(value, of_array.buffer)) == NULL)
            return 0;
        PyList_SET_ITEM(made->list, start + i, Py_NewRef(value));
    }
    return 1;
}

/* Return whether a buffer is there twice among the arguments; -1 for an error. */
static int has_equal_buffers(const Arguments *arguments)
{
    Py_ssize_t count = PyList_GET_SIZE(arguments->list), host = 0, i = 0;
    size_t size = 8;
    if (count < 2)
        return 0;
    while (size < 2 * (size_t)count)
        size *= 2;
    PyObject *few[64] = {NULL}, **seen = few; /* a hash table */
    if (size > sizeof few / sizeof *few && (seen = PyMem_Calloc(size, sizeof *seen)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; i < count; i++) {
        PyObject *buffer = PyList_GET_ITEM(arguments->list, i);
        size_t at = ((uintptr_t)buffer >> 4) % size;
        if (host < arguments->count && arguments->hosts[host] == i) {
            host++;
            continue;
        }
        while (seen[at] != NULL && seen[at] != buffer)
            at = (at + 1) % size;
        if (seen[at] == buffer)
            break;
        seen[at] = buffer;
    }
    if (seen != few)
        PyMem_Free(seen);
    return i < count;
}

/* Return whether a call can give what it donates: arrays, each used once; -1 for an error. */
static int can_donate(PyObject *version, const Form *form, const Arguments *arguments)
{
    PyObject *take = AT(version, of_version.take), *donated = AT(version, of_version.donated);
    PyObject *number, *how;
    Py_ssize_t position = 0;
    if (!PyTuple_CheckExact(take) || PyTuple_GET_SIZE(take) != form->count)
        return 0; /* an argument is unused: its buffer counts too */
    while (PyDict_Next(donated, &position, &number, &how)) {
        Py_ssize_t at = PyLong_AsSsize_t(number);
        if (at < 0 || at >= form->count || Py_TYPE(form->leaves[at]) != given.array)
            return 0;
    }
    int has_equal = has_equal_buffers(arguments);
    return has_equal < 0 ? -1 : !has_equal;
}

/* Execute a version; NULL without an error if Python has to. */
static PyObject *run_on_engine(PyObject *version, Form *form, int donates)
{
    PyObject *host_call = AT(version, of_version.host_call), *outs = NULL, *result = NULL;
    PyObject *donated = Py_NewRef(AT(version, of_version.donated));
    Arguments arguments;
    int is_plain = take_arguments(version, form, &arguments);
    if (is_plain > 0 && donates)
        is_plain = can_donate(version, form, &arguments);
    if (is_plain > 0 && arguments.count)
        is_plain = host_call != NULL && Py_TYPE(host_call) == &HostCall_Type;
    if (is_plain <= 0 || count_hit(version) < 0)
        goto done;
    if (arguments.count) {
        Py_INCREF(host_call);
        outs = host_execute((HostCall *)host_call, arguments.list, arguments.hosts,
                            arguments.count);
        Py_DECREF(host_call);
        if (outs == NULL)
            explain_error(version, arguments.list);
    } else
        outs = execute(version, arguments.list);
    if (outs != NULL && (!donates || consume_donated(donated, form->leaves) == 0))
        result = wrap(version, outs, of_array.buffer);
    Py_XDECREF(outs);
done:
    clear_arguments(&arguments);
    Py_DECREF(donated);
    return result;
}

/* Call the kernels of a version without the engine; NULL without an error if it has to. */
static PyObject *run_direct(PyObject *version, Form *form)
{
    PyObject *direct = Py_NewRef(AT(version, of_version.direct)), *result = NULL;
    PyObject *outs = PyObject_Vectorcall(direct, form->leaves, form->count, NULL);
    Py_DECREF(direct);
    if (outs != NULL && outs != Py_None && count_hit(version) == 0)
        result = wrap(version, outs, of_array.host);
    Py_XDECREF(outs);
    return result;
}

static PyObject *run(PyObject *version, Form *form)
{
    PyObject *result = NULL;
    if (AT(version, of_version.direct) != Py_None && !form->hosts)
        result = run_direct(version, form);
    if (result != NULL || PyErr_Occurred())
        return result;
    int donates = AT(version, of_version.only_donates) == Py_True;
    if (donates || AT(version, of_version.special) == Py_False)
        result = run_on_engine(version, form, donates);
    return result != NULL || PyErr_Occurred() ? result : run_python(version, form);
}

/* Return the form of a call, borrowed; NULL without an error if it is new. */
static PyObject *form_of(WarmCall *self, Py_ssize_t count, PyObject *keywords)
{
    PyObject *forms = self->forms;
    if (forms == NULL || !PyDict_CheckExact(forms))
        return NULL;
    Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    if (named == 0 && self->last.forms == forms && self->last.count == count)
        return self->last.form; /* a form is never replaced: 60 ns */
    PyObject *number = PyLong_FromSsize_t(count), *spelled = number;
    if (number != NULL && named) {
        spelled = PyTuple_New(1 + named);
        if (spelled == NULL) {
            Py_DECREF(number);
            return NULL;
        }
        PyTuple_SET_ITEM(spelled, 0, number);
        for (Py_ssize_t i = 0; i < named; i++)
            PyTuple_SET_ITEM(spelled, 1 + i, Py_NewRef(PyTuple_GET_ITEM(keywords, i)));
    }
    if (spelled == NULL)
        return NULL;
    PyObject *form = PyDict_GetItemWithError(forms, spelled);
    Py_DECREF(spelled);
    if (form == NULL || Py_TYPE(form) != given.form)
        return NULL;
    if (named == 0) {
        self->last.count = count;
        Py_XSETREF(self->last.form, Py_NewRef(form));
        Py_XSETREF(self->last.forms, Py_NewRef(forms));
    }
    return form;
}

static PyObject *warm_call(PyObject *callable, PyObject *const *args, size_t flags,
                           PyObject *keywords)
{
    WarmCall *self = (WarmCall *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    Py_ssize_t total = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
    PyObject *settings = NULL, *key = NULL, *version = NULL, *result = NULL;
    Form form = {0};
    int is_plain = 0, tracing = is_ready ? is_tracing() : 1;
    if (tracing < 0)
        return NULL;
    if (tracing || self->current == NULL || !PyDict_CheckExact(self->current))
        return call_python(callable, names.warm, args, count, keywords);
    PyObject *found = form_of(self, count, keywords);
    if (found != NULL) {
        Py_INCREF(found);
        is_plain = split_as_last(found, args, total, &form);
        Py_DECREF(found);
    }
    if (is_plain > 0 && (settings = settings_now()) != NULL)
        key = key_of(&form, settings);
    if (key != NULL && (self->current != NULL)) {
        PyObject *current = Py_NewRef(self->current);
        version = find(current, key);
        Py_DECREF(current);
    }
    Py_XDECREF(key);
    Py_XDECREF(settings);
    if (version != NULL) {
        result = run(version, &form);
        Py_DECREF(version);
    } else if (!PyErr_Occurred() || declined() == 0) {
        clear_form(&form);
        return call_python(callable, names.warm, args, count, keywords);
    }
    clear_form(&form);
    return result;
}

/* ---- the call of a `Compiled`, which has one version and no guard ---- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *accepted; /* an `AcceptedCall`, or None */
} CompiledCall;

enum { VERSION, FORM, MATCH, SPEC, SPELLED, KEY, ACCEPTED }; /* its fields, and their number */

/* Return whether a call has this many arguments by position, and these keywords. */
static int is_spelled(PyObject *spelled, Py_ssize_t count, PyObject *keywords)
{
    Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    if (PyTuple_GET_SIZE(spelled) != 1 + named
        || PyLong_AsSsize_t(PyTuple_GET_ITEM(spelled, 0)) != count)
        return 0;
    for (Py_ssize_t i = 0; i < named; i++) /* of one name there is mostly one object */
        if (PyTuple_GET_ITEM(spelled, 1 + i) != PyTuple_GET_ITEM(keywords, i))
            return 0;
    return 1;
}

/* Return whether a call is like one that passed; -1 for an error. */
static int is_accepted(PyObject *accepted, PyObject *const *args, Py_ssize_t count,
                       PyObject *keywords, Form *found)
{
    if (!is_spelled(PyTuple_GET_ITEM(accepted, SPELLED), count, keywords))
        return 0;
    Py_ssize_t total = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
    found->spec = Py_NewRef(PyTuple_GET_ITEM(accepted, SPEC));
    found->treedef = Py_NewRef(Py_None);
    int is_plain = split(PyTuple_GET_ITEM(accepted, FORM), PyTuple_GET_ITEM(accepted, MATCH),
                         args, total, found);
    if (is_plain <= 0)
        return is_plain;
    PyObject *settings = settings_now();
    PyObject *key = settings ? key_of(found, settings) : NULL;
    Py_XDECREF(settings);
    if (key == NULL)
        return PyErr_Occurred() ? declined() : 0;
    int is_same = PyObject_RichCompareBool(key, PyTuple_GET_ITEM(accepted, KEY), Py_EQ);
    Py_DECREF(key);
    return is_same;
}

static PyObject *compiled_call(PyObject *callable, PyObject *const *args, size_t flags,
                               PyObject *keywords)
{
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    PyObject *accepted = ((CompiledCall *)callable)->accepted, *result = NULL;
    Form form = {0};
    int is_plain = 0, tracing = is_ready ? is_tracing() : 1;
    if (tracing < 0)
        return NULL;
    if (!tracing && accepted != NULL && PyTuple_Check(accepted)
        && PyTuple_GET_SIZE(accepted) == ACCEPTED) {
        Py_INCREF(accepted);
        is_plain = is_accepted(accepted, args, count, keywords, &form);
        if (is_plain > 0)
            result = run(PyTuple_GET_ITEM(accepted, VERSION), &form);
        Py_DECREF(accepted);
    }
    clear_form(&form);
    return is_plain ? result : call_python(callable, names.checked, args, count, keywords);
}

/* ---- their types ---- */

/* Let subclasses be called, also as methods, without a tuple of arguments: 60 ns. */
static PyObject *init_subclass(PyObject *class, PyObject *Py_UNUSED(none))
{
    PyTypeObject *type = (PyTypeObject *)class;
    if (type->tp_call == PyVectorcall_Call) {
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        if (type->tp_descr_get != NULL)
            type->tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
        PyType_Modified(type);
    }
    Py_RETURN_NONE;
}

static PyMethodDef call_methods[] = {
    {"__init_subclass__", init_subclass, METH_CLASS | METH_NOARGS, NULL},
    {NULL},
};

static PyObject *new_call(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kw))
{
    WarmCall *self = (WarmCall *)type->tp_alloc(type, 0);
    if (self != NULL)
        self->call = warm_call;
    return (PyObject *)self;
}

static int traverse_call(PyObject *object, visitproc visit, void *arg)
{
    WarmCall *self = (WarmCall *)object;
    Py_VISIT(self->current);
    Py_VISIT(self->forms);
    Py_VISIT(self->bind);
    Py_VISIT(self->last.forms);
    Py_VISIT(self->last.form);
    return 0;
}

static int clear_call(PyObject *object)
{
    WarmCall *self = (WarmCall *)object;
    Py_CLEAR(self->current);
    Py_CLEAR(self->forms);
    Py_CLEAR(self->bind);
    Py_CLEAR(self->last.forms);
    Py_CLEAR(self->last.form);
    return 0;
}

static void free_call(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    clear_call(object);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *get_method(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(owner))
{
    PyObject *bind = ((WarmCall *)self)->bind;
    if (instance == NULL || instance == Py_None)
        return Py_NewRef(self);
    if (bind == NULL)
        return PyMethod_New(self, instance);
    return PyObject_CallFunctionObjArgs(bind, self, instance, NULL);
}

static PyMemberDef call_members[] = {
    {"_current", T_OBJECT_EX, offsetof(WarmCall, current), 0, "the versions by key"},
    {"_forms", T_OBJECT_EX, offsetof(WarmCall, forms), 0, "the known forms of calls"},
    {"_bind", T_OBJECT_EX, offsetof(WarmCall, bind), 0, "what makes a method of it"},
    {NULL},
};

static PyTypeObject WarmCall_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "imprint._src.native._core.WarmCall",
    .tp_doc = "A compiled function whose warm calls run in C.",
    .tp_basicsize = sizeof(WarmCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC
                | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = new_call,
    .tp_dealloc = free_call,
    .tp_traverse = traverse_call,
    .tp_clear = clear_call,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(WarmCall, call),
    .tp_descr_get = get_method,
    .tp_members = call_members,
    .tp_methods = call_methods,
};

static PyObject *new_compiled(PyTypeObject *type, PyObject *Py_UNUSED(args),
                              PyObject *Py_UNUSED(kw))
{
    CompiledCall *self = (CompiledCall *)type->tp_alloc(type, 0);
    if (self != NULL)
        self->call = compiled_call;
    return (PyObject *)self;
}

static int traverse_compiled(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(((CompiledCall *)object)->accepted);
    return 0;
}

static int clear_compiled(PyObject *object)
{
    Py_CLEAR(((CompiledCall *)object)->accepted);
    return 0;
}

static void free_compiled(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    clear_compiled(object);
    Py_TYPE(object)->tp_free(object);
}

static PyMemberDef compiled_members[] = {
    {"_accepted", T_OBJECT, offsetof(CompiledCall, accepted), 0, "a call that passed"},
    {NULL},
};

static PyTypeObject CompiledCall_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "imprint._src.native._core.CompiledCall",
    .tp_doc = "An executable whose calls run in C.",
    .tp_basicsize = sizeof(CompiledCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC
                | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = new_compiled,
    .tp_dealloc = free_compiled,
    .tp_traverse = traverse_compiled,
    .tp_clear = clear_compiled,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(CompiledCall, call),
    .tp_members = compiled_members,
    .tp_methods = call_methods,
};

/* ---- the module ---- */

static int read_offset(PyTypeObject *type, const char *name, Py_ssize_t *offset)
{
    PyObject *found = PyObject_GetAttrString((PyObject *)type, name);
    if (found == NULL)
        return -1;
    int is_slot = Py_TYPE(found) == &PyMemberDescr_Type
                  && ((PyMemberDescrObject *)found)->d_member->type == T_OBJECT_EX;
    if (is_slot)
        *offset = ((PyMemberDescrObject *)found)->d_member->offset;
    else
        PyErr_Format(PyExc_TypeError, "%s.%s: expected a slot", type->tp_name, name);
    Py_DECREF(found);
    return is_slot ? 0 : -1;
}

static int take(PyObject *parts, const char *name, void *place)
{
    PyObject *part = PyDict_GetItemString(parts, name);
    if (part == NULL) {
        PyErr_Format(PyExc_KeyError, "setup: %s is missing", name);
        return -1;
    }
    Py_XSETREF(*(PyObject **)place, Py_NewRef(part));
    return 0;
}

#define TAKE(name)                                                                        \
    if (take(parts, #name, &given.name) < 0)                                              \
        return NULL;
#define OFFSET(type, of, field, name)                                                     \
    if (read_offset(type, name, &of.field) < 0)                                           \
        return NULL;

#include "eager.c"

static PyObject *setup(PyObject *Py_UNUSED(module), PyObject *parts)
{
    PyTypeObject *flags = NULL, *values = NULL;
    if (!PyDict_CheckExact(parts)) {
        PyErr_SetString(PyExc_TypeError, "setup: expected a dict");
        return NULL;
    }
    TAKE(array) TAKE(version) TAKE(executable) TAKE(form) TAKE(spec) TAKE(entry)
    TAKE(ndarray) TAKE(generic) TAKE(engine_error) TAKE(collect) TAKE(explain) TAKE(static_token)
    TAKE(known_tokens) TAKE(settings) TAKE(local) TAKE(trace) TAKE(config)
    TAKE(host_aval) TAKE(avals) TAKE(wide_avals) TAKE(current_source)
    TAKE(replayed) TAKE(passed) TAKE(source) TAKE(results) TAKE(consume)
    if (take(parts, "flags", &flags) < 0 || take(parts, "values", &values) < 0)
        return NULL;
    OFFSET(given.array, of_array, aval, "aval")
    OFFSET(given.array, of_array, buffer, "_buffer")
    OFFSET(given.array, of_array, host, "_host")
    OFFSET(given.array, of_array, padded, "_padded")
    OFFSET(given.array, of_array, consumed, "_consumed")
    OFFSET(given.version, of_version, guard, "guard")
    OFFSET(given.version, of_version, take, "take")
    OFFSET(given.version, of_version, special, "special")
    OFFSET(given.version, of_version, consts, "consts")
    OFFSET(given.version, of_version, hits, "hits")
    OFFSET(given.version, of_version, executable, "executable")
    OFFSET(given.version, of_version, handlers, "handlers")
    OFFSET(given.version, of_version, out_aval, "out_aval")
    OFFSET(given.version, of_version, out_avals, "out_avals")
    OFFSET(given.version, of_version, unflatten, "unflatten")
    OFFSET(given.version, of_version, host_call, "host_call")
    OFFSET(given.version, of_version, only_donates, "only_donates")
    OFFSET(given.version, of_version, donated, "donated")
    OFFSET(given.version, of_version, direct, "direct")
    OFFSET(given.executable, of_executable, execute, "execute")
    OFFSET(given.form, of_form, dynamic, "dynamic")
    OFFSET(given.form, of_form, statics, "static")
    OFFSET(given.form, of_form, defaults, "defaults")
    OFFSET(given.form, of_form, pick, "pick")
    OFFSET(given.form, of_form, recalled, "recalled")
    OFFSET(given.spec, of_spec, plain, "plain")
    OFFSET(given.entry, of_entry, token, "token")
    OFFSET(values, of_flags, settings, "settings")
    OFFSET(flags, of_flags, x64, "enable_x64")
    is_ready = 1;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"setup", setup, METH_O, "Take the classes and functions that warm calls use."},
    {"setup_eager", setup_eager, METH_O, "Take what the evaluation of primitives uses."},
    {"evaluate", (PyCFunction)(void (*)(void))evaluate, METH_FASTCALL,
     "Return the results of a primitive."},
    {"setup_walks", setup_walks, METH_VARARGS, "Take the tables of `tree.walk`."},
    {"walk", (PyCFunction)(void (*)(void))walk, METH_FASTCALL,
     "Append the leaves of a tree to a list; return its shape."},
    {"nested_ids", nested_ids, METH_O, "Return the identities in a nested tuple as bytes."},
    {"map_tree", (PyCFunction)(void (*)(void))map_tree, METH_FASTCALL,
     "Apply a function to the leaves of trees; NotImplemented if Python must."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_core",
    .m_doc = "Warm calls in C.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void)
{
    names.base = PyUnicode_InternFromString("_base");
    names.warm = PyUnicode_InternFromString("_warm");
    names.run = PyUnicode_InternFromString("run");
    names.consume = PyUnicode_InternFromString("consume_with_handlers");
    names.consume_token = PyUnicode_InternFromString("consume_token");
    names.nothing = PyUnicode_InternFromString("");
    names.block = PyUnicode_InternFromString("block_until_ready");
    names.execute = PyUnicode_InternFromString("execute");
    names.handlers = PyUnicode_InternFromString("handlers");
    names.checked = PyUnicode_InternFromString("_checked");
    names.dtype = PyUnicode_InternFromString("dtype");
    names.code = PyUnicode_InternFromString("__code__");
    names.defaults = PyUnicode_InternFromString("__defaults__");
    names.kwdefaults = PyUnicode_InternFromString("__kwdefaults__");
    if (PyErr_Occurred() || PyType_Ready(&WarmCall_Type) < 0 || PyType_Ready(&HostCall_Type) < 0
        || PyType_Ready(&Guard_Type) < 0 || PyType_Ready(&CompiledCall_Type) < 0
        || PyType_Ready(&Match_Type) < 0 || PyType_Ready(&Unflatten_Type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL
        && (PyModule_AddObjectRef(module, "WarmCall", (PyObject *)&WarmCall_Type) < 0
            || PyModule_AddObjectRef(module, "CompiledCall", (PyObject *)&CompiledCall_Type) < 0
            || PyModule_AddObjectRef(module, "HostCall", (PyObject *)&HostCall_Type) < 0
            || PyModule_AddObjectRef(module, "Guard", (PyObject *)&Guard_Type) < 0
            || PyModule_AddObjectRef(module, "Match", (PyObject *)&Match_Type) < 0
            || PyModule_AddObjectRef(module, "Unflatten", (PyObject *)&Unflatten_Type) < 0
            || PyModule_AddStringConstant(module, "source", IMPRINT_SOURCE) < 0))
        Py_CLEAR(module);
    return module;
}
