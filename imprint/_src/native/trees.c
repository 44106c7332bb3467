/* Trees of tuples, lists and dictionaries: their leaves, and back. A part of `core.c`.

   A tree is like its template (`jit/calls/native_trees`), which has numbers for leaves. The
   keys of dictionaries are strings, so no code of users runs. Leaves are not checked: the
   caller takes leaves of known kinds only, and no node is one. */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *template;
    Py_ssize_t count; /* of its leaves */
} Tree;

/* Put the leaves of a tree into a list by their numbers; return 0 if it is another tree. */
static int take_leaves(PyObject *template, PyObject *tree, PyObject *leaves)
{
    PyTypeObject *kind = Py_TYPE(template);
    if (kind == &PyLong_Type) {
        PyList_SET_ITEM(leaves, PyLong_AsSsize_t(template), Py_NewRef(tree));
        return 1;
    }
    if (Py_TYPE(tree) != kind)
        return 0;
    if (kind == &PyDict_Type) {
        PyObject *key, *child, *part;
        Py_ssize_t position = 0;
        int found = PyDict_GET_SIZE(tree) == PyDict_GET_SIZE(template);
        while (found && PyDict_Next(tree, &position, &key, &child)) {
            part = PyUnicode_CheckExact(key) ? PyDict_GetItem(template, key) : NULL;
            found = part != NULL && take_leaves(part, child, leaves);
        }
        return found;
    }
    if (kind != &PyTuple_Type && kind != &PyList_Type)
        return 1; /* None */
    Py_ssize_t count = PySequence_Fast_GET_SIZE(template);
    if (PySequence_Fast_GET_SIZE(tree) != count)
        return 0;
    PyObject **parts = PySequence_Fast_ITEMS(template), **children = PySequence_Fast_ITEMS(tree);
    for (Py_ssize_t i = 0; i < count; i++)
        if (!take_leaves(parts[i], children[i], leaves))
            return 0;
    return 1;
}

/* Return the leaves of a tree; NULL without an error if it is another tree. */
static PyObject *leaves_of(const Tree *self, PyObject *tree)
{
    PyObject *leaves = PyList_New(self->count);
    if (leaves != NULL && !take_leaves(self->template, tree, leaves))
        Py_CLEAR(leaves);
    return leaves;
}

/* Return a tree of leaves. */
static PyObject *put_leaves(PyObject *template, PyObject *const *leaves)
{
    PyTypeObject *kind = Py_TYPE(template);
    if (kind == &PyLong_Type)
        return Py_NewRef(leaves[PyLong_AsSsize_t(template)]);
    if (kind == &PyDict_Type) {
        PyObject *tree = PyDict_New(), *key, *part;
        Py_ssize_t position = 0;
        while (tree != NULL && PyDict_Next(template, &position, &key, &part)) {
            PyObject *child = put_leaves(part, leaves);
            if (child == NULL || PyDict_SetItem(tree, key, child) < 0)
                Py_CLEAR(tree);
            Py_XDECREF(child);
        }
        return tree;
    }
    if (kind != &PyTuple_Type && kind != &PyList_Type)
        return Py_NewRef(template); /* None */
    int is_list = kind == &PyList_Type;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(template);
    PyObject *tree = is_list ? PyList_New(count) : PyTuple_New(count);
    for (Py_ssize_t i = 0; tree != NULL && i < count; i++) {
        PyObject *child = put_leaves(PySequence_Fast_GET_ITEM(template, i), leaves);
        if (child == NULL)
            Py_CLEAR(tree);
        else if (is_list)
            PyList_SET_ITEM(tree, i, child);
        else
            PyTuple_SET_ITEM(tree, i, child);
    }
    return tree;
}

/* ---- their types ---- */

static PyObject *one_argument(PyObject *const *args, size_t flags, PyObject *keywords)
{
    if (PyVectorcall_NARGS(flags) == 1 && keywords == NULL)
        return args[0];
    PyErr_SetString(PyExc_TypeError, "expected one argument");
    return NULL;
}

static PyObject *call_match(PyObject *self, PyObject *const *args, size_t flags,
                            PyObject *keywords)
{
    PyObject *tree = one_argument(args, flags, keywords);
    PyObject *leaves = tree ? leaves_of((Tree *)self, tree) : NULL;
    if (leaves == NULL && !PyErr_Occurred())
        PyErr_SetNone(PyExc_KeyError);
    return leaves;
}

static PyObject *call_unflatten(PyObject *self, PyObject *const *args, size_t flags,
                                PyObject *keywords)
{
    PyObject *given = one_argument(args, flags, keywords), *tree = NULL;
    PyObject *leaves = given ? PySequence_Tuple(given) : NULL;
    if (leaves != NULL && PyTuple_GET_SIZE(leaves) == ((Tree *)self)->count)
        tree = put_leaves(((Tree *)self)->template, ((PyTupleObject *)leaves)->ob_item);
    else if (leaves != NULL)
        PyErr_Format(PyExc_ValueError, "expected %zd leaves, got %zd", ((Tree *)self)->count,
                     PyTuple_GET_SIZE(leaves));
    Py_XDECREF(leaves);
    return tree;
}

static PyTypeObject Unflatten_Type;

static PyObject *new_tree(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kw))
{
    PyObject *template;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "On", &template, &count))
        return NULL;
    Tree *self = (Tree *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->call = type == &Unflatten_Type ? call_unflatten : call_match;
        self->template = Py_NewRef(template);
        self->count = count;
    }
    return (PyObject *)self;
}

static void free_tree(PyObject *self)
{
    Py_DECREF(((Tree *)self)->template);
    Py_TYPE(self)->tp_free(self);
}

static PyTypeObject Match_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "imprint._src.native._core.Match",
    .tp_doc = "Returns the leaves of a tree like a template; raises KeyError for another.",
    .tp_basicsize = sizeof(Tree),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = new_tree,
    .tp_dealloc = free_tree,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Tree, call),
};

static PyTypeObject Unflatten_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "imprint._src.native._core.Unflatten",
    .tp_doc = "Returns the tree of leaves that is like a template.",
    .tp_basicsize = sizeof(Tree),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = new_tree,
    .tp_dealloc = free_tree,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Tree, call),
};
