/* Walks over trees in C, a part of `core.c`: the twins of `tree.walk.walk` and of `tree.map`.

   A tree with a node that these do not open is left to Python, which is the reference and
   reports the errors: `walk` raises KeyError, `map_tree` returns NotImplemented. Nodes are
   opened before the first call of the function that is mapped. */

static struct {
    PyObject *leaf_types, *opaque_types, *openers, *raw_openers, *rebuilders;
    PyObject *statics, *static_of, *detached, *copied, *is_named_tuple;
    PyObject *leaf;
} walks;

enum Opened { FAILED = -1, UNKNOWN, A_LEAF, A_NONE, A_NODE };

/* The twin of `tree.walk.has_plain_keys`. */
static int has_plain_keys(PyObject *dict)
{
    Py_ssize_t at = 0;
    PyObject *key, *value;
    PyTypeObject *kind = NULL;
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (kind == NULL)
            kind = Py_TYPE(key);
        if (Py_TYPE(key) != kind)
            return 0;
        if (kind == &PyTuple_Type) {
            for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++)
                if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(key, i)))
                    return 0;
        } else if (kind != &PyUnicode_Type && kind != &PyLong_Type) {
            return 0;
        }
    }
    return 1;
}

static int is_one_of(PyObject *types, PyObject *x)
{
    return PySet_Contains(types, (PyObject *)Py_TYPE(x));
}

/* Open a node: give its children as a tuple, and its data: the keys of a dict, the static
   data of a registered class as it gives it, or NULL. */
static enum Opened open_node(PyObject *node, PyObject *openers, PyObject **children,
                             PyObject **data)
{
    PyTypeObject *kind = Py_TYPE(node);
    *children = *data = NULL;
    if (node == Py_None)
        return A_NONE;
    int known = is_one_of(walks.leaf_types, node);
    if (known)
        return known < 0 ? FAILED : A_LEAF;
    if (kind == &PyTuple_Type) {
        *children = Py_NewRef(node);
    } else if (kind == &PyList_Type) {
        *children = PyList_AsTuple(node);
    } else if (kind == &PyDict_Type) {
        if (!has_plain_keys(node))
            return UNKNOWN;
        PyObject *keys = PyDict_Keys(node);
        if (keys == NULL || PyList_Sort(keys) < 0) {
            Py_XDECREF(keys);
            return FAILED;
        }
        *data = PyList_AsTuple(keys);
        Py_DECREF(keys);
        if (*data == NULL)
            return FAILED;
        Py_ssize_t size = PyTuple_GET_SIZE(*data);
        *children = PyTuple_New(size);
        for (Py_ssize_t i = 0; *children != NULL && i < size; i++) {
            PyObject *child = PyDict_GetItemWithError(node, PyTuple_GET_ITEM(*data, i));
            if (child == NULL) /* another thread removed it */
                Py_CLEAR(*children);
            else
                PyTuple_SET_ITEM(*children, i, Py_NewRef(child));
        }
        if (*children == NULL && !PyErr_Occurred())
            PyErr_SetString(PyExc_KeyError, "a key that is gone");
    } else {
        PyObject *opener = PyDict_GetItemWithError(openers, (PyObject *)kind);
        if (opener == NULL) {
            if (PyErr_Occurred())
                return FAILED;
            if (!PyTuple_Check(node))
                return UNKNOWN;
            PyObject *named = PyObject_CallOneArg(walks.is_named_tuple, (PyObject *)kind);
            int is_named = named == NULL ? -1 : PyObject_IsTrue(named);
            Py_XDECREF(named);
            if (is_named <= 0)
                return is_named < 0 ? FAILED : UNKNOWN;
            *children = PySequence_Tuple(node);
        } else {
            PyObject *opened = PyObject_CallOneArg(opener, node);
            if (opened == NULL)
                return FAILED;
            if (!PyTuple_CheckExact(opened) || PyTuple_GET_SIZE(opened) != 2) {
                Py_DECREF(opened);
                return UNKNOWN;
            }
            *children = PySequence_Tuple(PyTuple_GET_ITEM(opened, 0));
            *data = Py_NewRef(PyTuple_GET_ITEM(opened, 1));
            Py_DECREF(opened);
        }
    }
    if (*children == NULL) {
        Py_CLEAR(*data);
        return FAILED;
    }
    return A_NODE;
}

/* ---- walk ---- */

/* Return what `statics.static_of` returns; of a tuple that is known without a call. */
static PyObject *static_data(PyObject *data)
{
    if (data == Py_None)
        return Py_NewRef(data);
    if (PyTuple_CheckExact(data)) {
        Py_ssize_t size = PyTuple_GET_SIZE(data);
        PyObject *ids = PyTuple_New(size);
        for (Py_ssize_t i = 0; ids != NULL && i < size; i++) {
            PyObject *id = PyLong_FromVoidPtr(PyTuple_GET_ITEM(data, i));
            if (id == NULL)
                Py_CLEAR(ids);
            else
                PyTuple_SET_ITEM(ids, i, id);
        }
        if (ids == NULL)
            return NULL;
        PyObject *held = PyDict_GetItemWithError(walks.statics, ids);
        Py_DECREF(ids);
        if (held == NULL && PyErr_Occurred())
            return NULL;
        if (held != NULL) {
            PyObject *found = PyObject_CallNoArgs(held); /* a weak reference */
            if (found != Py_None)
                return found;
            Py_DECREF(found);
        }
    }
    return PyObject_CallOneArg(walks.static_of, data);
}

/* Append the leaves of a tree to a list; return its shape. */
static PyObject *walk_node(PyObject *node, PyObject *leaves)
{
    PyObject *children, *data, *shape = NULL;
    PyObject *kind = (PyObject *)Py_TYPE(node);
    enum Opened opened = open_node(node, walks.raw_openers, &children, &data);
    int is_raw = 1;
    if (opened == UNKNOWN) {
        opened = open_node(node, walks.openers, &children, &data);
        is_raw = 0;
    }
    switch (opened) {
    case A_LEAF:
        return PyList_Append(leaves, node) < 0 ? NULL : Py_NewRef(walks.leaf);
    case A_NONE:
        return Py_NewRef(Py_None);
    case UNKNOWN:
        PyErr_SetObject(PyExc_KeyError, kind);
        return NULL;
    case FAILED:
        return NULL;
    case A_NODE:
        break;
    }
    if (Py_EnterRecursiveCall(" in a pytree"))
        goto end;
    Py_ssize_t count = PyTuple_GET_SIZE(children), head = data == NULL ? 1 : 2;
    int all_leaves = 1;
    for (Py_ssize_t i = 0; all_leaves > 0 && i < count; i++)
        all_leaves = is_one_of(walks.leaf_types, PyTuple_GET_ITEM(children, i));
    if (all_leaves < 0)
        goto leave;
    if (data != NULL && is_raw && kind != (PyObject *)&PyDict_Type) {
        Py_SETREF(data, static_data(data));
        if (data == NULL)
            goto leave;
    }
    shape = PyTuple_New(head + (all_leaves ? 1 : count));
    if (shape == NULL)
        goto leave;
    PyTuple_SET_ITEM(shape, 0, Py_NewRef(kind));
    if (data != NULL)
        PyTuple_SET_ITEM(shape, 1, Py_NewRef(data));
    if (all_leaves) {
        for (Py_ssize_t i = 0; shape != NULL && i < count; i++)
            if (PyList_Append(leaves, PyTuple_GET_ITEM(children, i)) < 0)
                Py_CLEAR(shape);
        PyObject *size = shape == NULL ? NULL : PyLong_FromSsize_t(count);
        if (size == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, head, size);
        goto leave;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *inner = walk_node(PyTuple_GET_ITEM(children, i), leaves);
        if (inner == NULL) {
            Py_CLEAR(shape);
            break;
        }
        PyTuple_SET_ITEM(shape, head + i, inner);
    }
leave:
    Py_LeaveRecursiveCall();
end:
    Py_DECREF(children);
    Py_XDECREF(data);
    return shape;
}

static PyObject *walk(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (walks.leaf_types == NULL || count != 2 || !PyList_CheckExact(args[1])) {
        PyErr_SetString(PyExc_TypeError, "walk: expected a tree and a list");
        return NULL;
    }
    return walk_node(args[0], args[1]);
}

/* ---- map ---- */

/* A plan of a tree is 0 for a leaf, None for None, and for a node a tuple of its class, its
   data (or None) and the plans of its children. */

/* Raise what stands for a tree that is left to Python. */
static int leave_to_python(void)
{
    PyErr_SetNone(PyExc_NotImplementedError);
    return -1;
}

/* Append the leaves of a tree; return its plan. */
static PyObject *plan_of(PyObject *node, PyObject *is_leaf, PyObject *leaves)
{
    PyObject *children, *data;
    int is_opaque = is_one_of(walks.opaque_types, node);
    if (is_opaque < 0)
        return NULL;
    if (!is_opaque && is_leaf != Py_None) {
        PyObject *found = PyObject_CallOneArg(is_leaf, node);
        is_opaque = found == NULL ? -1 : PyObject_IsTrue(found);
        Py_XDECREF(found);
        if (is_opaque < 0)
            return NULL;
    }
    enum Opened opened = A_LEAF;
    if (!is_opaque)
        opened = open_node(node, walks.raw_openers, &children, &data);
    switch (opened) {
    case A_LEAF:
        return PyList_Append(leaves, node) < 0 ? NULL : Py_NewRef(walks.leaf);
    case A_NONE:
        return Py_NewRef(Py_None);
    case UNKNOWN:
        leave_to_python();
        return NULL;
    case FAILED:
        return NULL;
    case A_NODE:
        break;
    }
    PyObject *plan = NULL;
    if (Py_EnterRecursiveCall(" in a pytree") == 0) {
        Py_ssize_t count = PyTuple_GET_SIZE(children);
        plan = PyTuple_New(2 + count);
        if (plan != NULL) {
            PyTuple_SET_ITEM(plan, 0, Py_NewRef((PyObject *)Py_TYPE(node)));
            PyTuple_SET_ITEM(plan, 1, Py_NewRef(data == NULL ? Py_None : data));
        }
        for (Py_ssize_t i = 0; plan != NULL && i < count; i++) {
            PyObject *inner = plan_of(PyTuple_GET_ITEM(children, i), is_leaf, leaves);
            if (inner == NULL)
                Py_CLEAR(plan);
            else
                PyTuple_SET_ITEM(plan, 2 + i, inner);
        }
        Py_LeaveRecursiveCall();
    }
    Py_DECREF(children);
    Py_XDECREF(data);
    return plan;
}

/* Append the subtrees of a tree at the leaves of a plan. */
static int along(PyObject *plan, PyObject *node, PyObject *subtrees)
{
    if (plan == walks.leaf)
        return PyList_Append(subtrees, node);
    if (plan == Py_None)
        return node == Py_None ? 0 : leave_to_python();
    if (PyTuple_GET_ITEM(plan, 0) != (PyObject *)Py_TYPE(node))
        return leave_to_python();
    PyObject *children, *data;
    enum Opened opened = open_node(node, walks.raw_openers, &children, &data);
    if (opened == FAILED)
        return -1;
    if (opened != A_NODE)
        return leave_to_python();
    int failed = -1;
    PyObject *expected = PyTuple_GET_ITEM(plan, 1), *came = data == NULL ? Py_None : data;
    if (PyTuple_GET_SIZE(children) != PyTuple_GET_SIZE(plan) - 2) {
        leave_to_python();
        goto end;
    }
    if (expected != came) {
        int is_equal = PyObject_RichCompareBool(expected, came, Py_EQ);
        if (is_equal <= 0) { /* its `==` may raise: of arrays */
            if (is_equal < 0 && !PyErr_ExceptionMatches(PyExc_Exception))
                goto end;
            PyErr_Clear();
            leave_to_python();
            goto end;
        }
    }
    if (Py_EnterRecursiveCall(" in a pytree"))
        goto end;
    failed = 0;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(children); i++)
        failed = along(PyTuple_GET_ITEM(plan, 2 + i), PyTuple_GET_ITEM(children, i), subtrees);
    Py_LeaveRecursiveCall();
end:
    Py_DECREF(children);
    Py_XDECREF(data);
    return failed;
}

/* Return whether `statics.detached` would copy a value. */
static int is_copied(PyObject *x)
{
    int known = PyDict_Contains(walks.copied, (PyObject *)Py_TYPE(x));
    if (known || !PyTuple_Check(x))
        return known;
    if (!PyTuple_CheckExact(x))
        return 1;
    for (Py_ssize_t i = 0; known == 0 && i < PyTuple_GET_SIZE(x); i++)
        known = is_copied(PyTuple_GET_ITEM(x, i));
    return known;
}

/* Return the tree of a plan with values from a list at its leaves. */
static PyObject *rebuilt(PyObject *plan, PyObject *values, Py_ssize_t *next)
{
    if (plan == walks.leaf)
        return Py_NewRef(PyList_GET_ITEM(values, (*next)++));
    if (plan == Py_None)
        return Py_NewRef(Py_None);
    PyObject *kind = PyTuple_GET_ITEM(plan, 0), *data = PyTuple_GET_ITEM(plan, 1);
    Py_ssize_t count = PyTuple_GET_SIZE(plan) - 2;
    PyObject *children = PyTuple_New(count), *result = NULL;
    if (children == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *child = rebuilt(PyTuple_GET_ITEM(plan, 2 + i), values, next);
        if (child == NULL)
            goto end;
        PyTuple_SET_ITEM(children, i, child);
    }
    if (kind == (PyObject *)&PyTuple_Type)
        return children;
    if (kind == (PyObject *)&PyList_Type) {
        result = PySequence_List(children);
    } else if (kind == (PyObject *)&PyDict_Type) {
        result = PyDict_New();
        for (Py_ssize_t i = 0; result != NULL && i < count; i++)
            if (PyDict_SetItem(result, PyTuple_GET_ITEM(data, i), PyTuple_GET_ITEM(children, i))
                < 0)
                Py_CLEAR(result);
    } else {
        PyObject *rebuild = PyDict_GetItemWithError(walks.rebuilders, kind);
        if (rebuild == NULL) { /* a named tuple */
            if (!PyErr_Occurred())
                result = PyObject_CallObject(kind, children);
            goto end;
        }
        int copied = is_copied(data);
        if (copied < 0)
            goto end;
        PyObject *own = copied ? PyObject_CallOneArg(walks.detached, data) : Py_NewRef(data);
        if (own != NULL)
            result = PyObject_CallFunctionObjArgs(rebuild, own, children, NULL);
        Py_XDECREF(own);
    }
end:
    Py_DECREF(children);
    return result;
}

/* map_tree(f, tree, rest, is_leaf): NotImplemented if it is left to Python. */
static PyObject *map_tree(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (walks.leaf_types == NULL || count != 4 || !PyTuple_CheckExact(args[2])) {
        PyErr_SetString(PyExc_TypeError, "map_tree: expected f, tree, rest, is_leaf");
        return NULL;
    }
    PyObject *f = args[0], *rest = args[2], *plan = NULL, *result = NULL;
    Py_ssize_t others = PyTuple_GET_SIZE(rest), next = 0;
    PyObject *lists = PyTuple_New(1 + others), *values = NULL;
    for (Py_ssize_t i = 0; lists != NULL && i <= others; i++) {
        PyObject *list = PyList_New(0);
        if (list == NULL)
            Py_CLEAR(lists);
        else
            PyTuple_SET_ITEM(lists, i, list);
    }
    if (lists == NULL)
        return NULL;
    PyObject *leaves = PyTuple_GET_ITEM(lists, 0);
    plan = plan_of(args[1], args[3], leaves);
    if (plan == NULL)
        goto end;
    for (Py_ssize_t i = 0; i < others; i++)
        if (along(plan, PyTuple_GET_ITEM(rest, i), PyTuple_GET_ITEM(lists, 1 + i)) < 0)
            goto end;
    Py_ssize_t size = PyList_GET_SIZE(leaves);
    values = PyList_New(0);
    PyObject **given_to_f = PyMem_New(PyObject *, 1 + others);
    for (Py_ssize_t i = 0; given_to_f != NULL && values != NULL && i < size; i++) {
        for (Py_ssize_t j = 0; j <= others; j++)
            given_to_f[j] = PyList_GET_ITEM(PyTuple_GET_ITEM(lists, j), i);
        PyObject *value = PyObject_Vectorcall(f, given_to_f, (size_t)(1 + others), NULL);
        if (value == NULL || PyList_Append(values, value) < 0)
            Py_CLEAR(values);
        Py_XDECREF(value);
    }
    if (given_to_f == NULL)
        PyErr_NoMemory();
    else if (values != NULL)
        result = rebuilt(plan, values, &next);
    PyMem_Free(given_to_f);
    Py_XDECREF(values);
    Py_DECREF(plan);
    Py_DECREF(lists);
    return result;
end:
    Py_XDECREF(plan);
    Py_DECREF(lists);
    if (PyErr_ExceptionMatches(PyExc_NotImplementedError)
        || PyErr_ExceptionMatches(PyExc_RecursionError)) {
        PyErr_Clear();
        Py_RETURN_NOTIMPLEMENTED;
    }
    return NULL;
}

/* ---- nested tuples by identity ---- */

/* Count the words of a nested tuple; -1 if it has too many levels. */
static Py_ssize_t words_of(PyObject *tuple, int depth)
{
    Py_ssize_t count = 1 + PyTuple_GET_SIZE(tuple);
    if (depth == 0)
        return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        if (PyTuple_CheckExact(item)) {
            Py_ssize_t inner = words_of(item, depth - 1);
            if (inner < 0)
                return -1;
            count += inner - 1;
        }
    }
    return count;
}

/* Write the length of a tuple as an odd word, then the addresses of its items, which are
   even, or their words. */
static uintptr_t *write_words(PyObject *tuple, uintptr_t *at)
{
    *at++ = 2 * (uintptr_t)PyTuple_GET_SIZE(tuple) + 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        if (PyTuple_CheckExact(item))
            at = write_words(item, at);
        else
            *at++ = (uintptr_t)item;
    }
    return at;
}

/* Return bytes that equal tuples of the very same items have; None of one that is deep. */
static PyObject *nested_ids(PyObject *Py_UNUSED(module), PyObject *tuple)
{
    if (!PyTuple_CheckExact(tuple)) {
        PyErr_SetString(PyExc_TypeError, "nested_ids: expected a tuple");
        return NULL;
    }
    Py_ssize_t count = words_of(tuple, 32);
    if (count < 0)
        Py_RETURN_NONE;
    PyObject *ids = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uintptr_t));
    if (ids != NULL)
        write_words(tuple, (uintptr_t *)PyBytes_AS_STRING(ids));
    return ids;
}

static PyObject *setup_walks(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *leaf_types, *opaque_types, *openers, *raw_openers, *rebuilders, *statics,
        *static_of, *detached, *copied, *is_named_tuple;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!O!OOO!O", &PySet_Type, &leaf_types, &PySet_Type,
                          &opaque_types, &PyDict_Type, &openers, &PyDict_Type, &raw_openers,
                          &PyDict_Type, &rebuilders, &PyDict_Type, &statics, &static_of,
                          &detached, &PyDict_Type, &copied, &is_named_tuple))
        return NULL;
    Py_XSETREF(walks.leaf, PyLong_FromLong(0));
    Py_XSETREF(walks.opaque_types, Py_NewRef(opaque_types));
    Py_XSETREF(walks.openers, Py_NewRef(openers));
    Py_XSETREF(walks.raw_openers, Py_NewRef(raw_openers));
    Py_XSETREF(walks.rebuilders, Py_NewRef(rebuilders));
    Py_XSETREF(walks.statics, Py_NewRef(statics));
    Py_XSETREF(walks.static_of, Py_NewRef(static_of));
    Py_XSETREF(walks.detached, Py_NewRef(detached));
    Py_XSETREF(walks.copied, Py_NewRef(copied));
    Py_XSETREF(walks.is_named_tuple, Py_NewRef(is_named_tuple));
    Py_XSETREF(walks.leaf_types, Py_NewRef(leaf_types));
    Py_RETURN_NONE;
}
