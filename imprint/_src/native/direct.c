/* Calls kernels of XLA:CPU on memory of the host: small programs without the engine.

   `jit/versions/direct` checks and links a program, and packs what is called: for each kernel
   its address, its groups and its slices, each an offset into a place. The places are, in this
   order: parameters, results, scratch memory, the image that has code and constants. A call
   that is not plain gives None. A program never changes, so threads and forks share it. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <immintrin.h>
#include <structmember.h> /* offsets of slots */
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

enum { ALIGN = 64, SMALL = 2048, MOST = 64, MOST_DIMS = 8 };
#define ALIGNED(n) (((size_t)(n) + ALIGN - 1) & ~(size_t)(ALIGN - 1))
#define AT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

/* ---- what XLA's kernels take: xla/backends/cpu/runtime/kernel_c_api.h ---- */

typedef struct { uint64_t x, y, z; } Groups;
typedef struct { void *data; size_t size; } KernelArgument;

typedef struct {
    const Groups *counts, *at;
    size_t count;
    const KernelArgument *arguments;
} CallFrame;

typedef void *(*Kernel)(const CallFrame *); /* returns an error or NULL */

/* ---- a program, as Python packs it ---- */

typedef struct {
    PyArray_Descr *dtype;
    int64_t ndim;
    npy_intp dims[MOST_DIMS];
    int64_t size, leaf; /* of a parameter: which leaf of the call it is */
} Value;

typedef struct { int64_t place, offset, size; } Slice;

typedef struct {
    Kernel kernel;
    Groups groups;
    int64_t first, count; /* its slices */
} Step;

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyTypeObject *array;     /* the class of imprint's arrays */
    Py_ssize_t host, buffer; /* its slots */
    PyObject *host_of, *parts; /* the second keeps what the others point to */
    char *image;
    Py_ssize_t scratch;
    const Value *values; /* the parameters, then the results */
    const Step *steps;
    const Slice *slices;
    int parameters, count, count_steps, is_long;
} Program;

static PyObject *deleted_name;

/* ---- arrays of aligned memory ---- */

static PyTypeObject Memory_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "imprint._src.native._direct.Memory", /* from its first aligned address */
    .tp_basicsize = sizeof(PyVarObject),
    .tp_itemsize = 1,
    .tp_dealloc = (destructor)PyObject_Free,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

/* Return a new array, not yet written. */
static PyObject *new_array(const Value *value, int flags)
{
    PyVarObject *memory = PyObject_NewVar(PyVarObject, &Memory_Type, value->size + ALIGN);
    if (memory == NULL)
        return NULL;
    PyObject *array =
        PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)Py_NewRef(value->dtype), value->ndim,
                             value->dims, NULL, (void *)ALIGNED(memory + 1), flags, NULL);
    if (array == NULL)
        Py_DECREF(memory);
    else if (PyArray_SetBaseObject((PyArrayObject *)array, (PyObject *)memory) < 0)
        Py_CLEAR(array);
    return array;
}

/* Give an array of imprint host values that kernels can read, and return them. */
static PyObject *give_host(const Program *self, const Value *value, PyObject *array)
{
    PyObject *host = PyObject_CallOneArg(self->host_of, array), *copy = NULL;
    if (host != NULL && PyArray_CheckExact(host))
        copy = new_array(value, NPY_ARRAY_CARRAY);
    if (copy != NULL && PyArray_CopyInto((PyArrayObject *)copy, (PyArrayObject *)host) < 0)
        Py_CLEAR(copy);
    Py_XDECREF(host);
    if (copy != NULL) {
        PyArray_CLEARFLAGS((PyArrayObject *)copy, NPY_ARRAY_WRITEABLE);
        Py_XSETREF(AT(array, self->host), Py_NewRef(copy));
    }
    return copy;
}

/* ---- the call ---- */

/* Return the values of an argument as kernels read them; NULL if the engine has to. */
static PyObject *readable(const Program *self, const Value *value, PyObject *leaf)
{
    if (Py_TYPE(leaf) != self->array)
        return NULL;
    PyObject *buffer = Py_XNewRef(AT(leaf, self->buffer));
    if (buffer != NULL) { /* another array may have given it up */
        PyObject *deleted = PyObject_CallMethodNoArgs(buffer, deleted_name);
        Py_DECREF(buffer);
        Py_XDECREF(deleted);
        if (deleted != Py_False)
            return NULL;
    }
    PyArrayObject *host = (PyArrayObject *)AT(leaf, self->host);
    if (host != NULL && PyArray_CheckExact(host) && PyArray_IS_C_CONTIGUOUS(host)
        && PyArray_DESCR(host) == value->dtype && PyArray_NBYTES(host) == value->size
        && (uintptr_t)PyArray_DATA(host) % ALIGN == 0)
        return Py_NewRef(host);
    return give_host(self, value, leaf);
}

/* Run the kernels as XLA's threads do; return 0 if one reports an error. */
static int run_kernels(const Program *self, char *const *places)
{
    unsigned int before = _mm_getcsr();
    int done = 1;
    _mm_setcsr(0x1f80 | 0x8040); /* no traps, round to nearest; subnormal numbers are 0 */
    for (const Step *step = self->steps; step < self->steps + self->count_steps; step++) {
        KernelArgument arguments[MOST];
        for (int i = 0; i < step->count; i++) {
            const Slice *slice = self->slices + step->first + i;
            arguments[i] = (KernelArgument){places[slice->place] + slice->offset, slice->size};
        }
        if (step->kernel == NULL) /* a copy */
            memmove(arguments[1].data, arguments[0].data, arguments[0].size);
        Groups at;
        CallFrame frame = {&step->groups, &at, step->count, arguments};
        for (at.z = 0; at.z < step->groups.z; at.z++)
            for (at.y = 0; at.y < step->groups.y; at.y++)
                for (at.x = 0; at.x < step->groups.x; at.x++)
                    done = done && step->kernel(&frame) == NULL;
    }
    _mm_setcsr(before);
    return done;
}

static PyObject *call_program(PyObject *object, PyObject *const *leaves, size_t flags,
                              PyObject *keywords)
{
    const Program *self = (Program *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    char small[SMALL + ALIGN], *large = NULL, *places[MOST];
    PyObject *kept[MOST], *outs = NULL;
    int found = 0, done = keywords == NULL;
    if (self->scratch > SMALL && (large = PyMem_Malloc(self->scratch + ALIGN)) == NULL)
        return PyErr_NoMemory();
    for (; done && found < self->parameters; found += done) {
        const Value *value = self->values + found;
        kept[found] = value->leaf < count ? readable(self, value, leaves[value->leaf]) : NULL;
        if ((done = kept[found] != NULL))
            places[found] = PyArray_DATA((PyArrayObject *)kept[found]);
    }
    if (done)
        outs = PyList_New(self->count - found);
    for (int i = found; outs != NULL && i < self->count; i++) {
        PyObject *array = new_array(self->values + i, NPY_ARRAY_CARRAY_RO);
        if (array == NULL) {
            Py_CLEAR(outs);
            break;
        }
        places[i] = PyArray_DATA((PyArrayObject *)array);
        PyList_SET_ITEM(outs, i - found, array);
    }
    if (outs != NULL) {
        places[self->count] = (char *)ALIGNED(large ? large : small);
        places[self->count + 1] = self->image;
        PyThreadState *thread = self->is_long ? PyEval_SaveThread() : NULL;
        done = run_kernels(self, places);
        if (thread != NULL)
            PyEval_RestoreThread(thread);
        if (!done)
            Py_CLEAR(outs);
    }
    while (found > 0)
        Py_DECREF(kept[--found]);
    PyMem_Free(large);
    if (outs != NULL || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)))
        return outs;
    PyErr_Clear(); /* the engine meets it too, and reports it */
    Py_RETURN_NONE;
}

static PyObject *new_program(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kw))
{
    PyObject *array, *host, *buffer, *host_of, *values, *steps, *slices;
    Py_ssize_t image, scratch;
    int is_long, parameters;
    if (!PyArg_ParseTuple(args, "(O!O!O!OSSSO)nnpi", &PyType_Type, &array, &PyMemberDescr_Type,
                          &host, &PyMemberDescr_Type, &buffer, &host_of, &values, &steps, &slices,
                          &(PyObject *){NULL}, &image, &scratch, &is_long, &parameters))
        return NULL;
    Program *self = (Program *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->call = call_program;
        self->parts = Py_NewRef(PyTuple_GET_ITEM(args, 0));
        self->array = (PyTypeObject *)array;
        self->host = ((PyMemberDescrObject *)host)->d_member->offset;
        self->buffer = ((PyMemberDescrObject *)buffer)->d_member->offset;
        self->host_of = host_of;
        self->image = (char *)image;
        self->scratch = scratch;
        self->values = (const Value *)PyBytes_AS_STRING(values);
        self->steps = (const Step *)PyBytes_AS_STRING(steps);
        self->slices = (const Slice *)PyBytes_AS_STRING(slices);
        self->count = (int)(PyBytes_GET_SIZE(values) / sizeof(Value));
        self->count_steps = (int)(PyBytes_GET_SIZE(steps) / sizeof(Step));
        self->parameters = parameters;
        self->is_long = is_long;
    }
    return (PyObject *)self;
}

static void free_program(PyObject *program)
{
    Py_DECREF(((Program *)program)->parts);
    Py_TYPE(program)->tp_free(program);
}

static PyTypeObject Program_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "imprint._src.native._direct.Program",
    .tp_doc = "Calls the kernels of a program on leaves; returns NumPy arrays in a list, or None.",
    .tp_basicsize = sizeof(Program),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = new_program,
    .tp_dealloc = free_program,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Program, call),
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_direct", .m_doc = "Calls of kernels.", .m_size = -1};

PyMODINIT_FUNC PyInit__direct(void)
{
    import_array();
    deleted_name = PyUnicode_InternFromString("is_deleted");
    if (deleted_name == NULL || PyType_Ready(&Memory_Type) < 0 || PyType_Ready(&Program_Type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL
        && (PyModule_AddObjectRef(module, "Program", (PyObject *)&Program_Type) < 0
            || PyModule_AddStringConstant(module, "source", IMPRINT_SOURCE) < 0))
        Py_CLEAR(module);
    return module;
}
