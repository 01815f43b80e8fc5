#include <algorithm>
#include <cmath>

#include "../name_table.hpp"
#include "arrays.hpp"

namespace structlearn::bindings {

namespace {

struct Attribute {
    // Strings remember their hash. That of str itself also serves its subclasses: names are told apart by their text.
    Attribute(nb::object name_, double number_)
        : name(std::move(name_)), number(number_), hash(static_cast<std::uint32_t>(PyUnicode_Type.tp_hash(name.ptr()))) {}

    Name text() const {
        const auto width = static_cast<std::uint32_t>(PyUnicode_KIND(name.ptr()));
        const auto length = static_cast<std::size_t>(PyUnicode_GET_LENGTH(name.ptr()));
        return {hash, width, {static_cast<const char*>(PyUnicode_DATA(name.ptr())), length * width}};
    }

    nb::object name;
    double number;
    std::uint32_t hash;
};

nb::object checked(PyObject* result) {
    if (result == nullptr) throw nb::python_error();
    return nb::steal(result);
}

nb::object as_list(nb::handle values) {
    if (PyList_CheckExact(values.ptr()) || PyTuple_CheckExact(values.ptr())) return nb::borrow(values);
    return checked(PySequence_List(values.ptr()));
}

// Foreign code may run meanwhile and change the list, so its length is asked for each time and the item is held.
template <class Work>
void for_each_item(nb::handle list, Work&& work) {
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(list.ptr()); ++k)
        work(nb::borrow(PySequence_Fast_GET_ITEM(list.ptr(), k)), k);
}

nb::object name_and_value(PyObject* name, PyObject* value) {
    const Py_ssize_t before = PyUnicode_GET_LENGTH(name);
    const Py_ssize_t after = PyUnicode_GET_LENGTH(value);
    const Py_UCS4 largest = std::max<Py_UCS4>(PyUnicode_MAX_CHAR_VALUE(name), PyUnicode_MAX_CHAR_VALUE(value));
    nb::object joined = checked(PyUnicode_New(before + 1 + after, largest));
    if (PyUnicode_CopyCharacters(joined.ptr(), 0, name, 0, before) < 0 ||
        PyUnicode_WriteChar(joined.ptr(), before, '=') < 0 ||
        PyUnicode_CopyCharacters(joined.ptr(), before + 1, value, 0, after) < 0)
        throw nb::python_error();
    return joined;
}

bool read_list(PyObject* token, std::vector<Attribute>& found) {
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(token); ++k) {
        PyObject* name = PySequence_Fast_GET_ITEM(token, k);
        if (!PyUnicode_CheckExact(name)) return false;
        found.emplace_back(nb::borrow(name), 1.0);
    }
    return true;
}

bool read_dict(PyObject* token, std::vector<Attribute>& found) {
    Py_ssize_t place = 0;
    PyObject *name, *value;
    while (PyDict_Next(token, &place, &name, &value)) {
        if (!PyUnicode_CheckExact(name)) return false;
        if (PyUnicode_CheckExact(value)) {
            found.emplace_back(name_and_value(name, value), 1.0);
            continue;
        }
        double number;
        if (PyFloat_CheckExact(value))
            number = PyFloat_AS_DOUBLE(value);
        else if (PyLong_CheckExact(value) || PyBool_Check(value))
            number = PyLong_AsDouble(value);
        else
            return false;
        if (number == -1.0 && PyErr_Occurred()) throw nb::python_error();
        if (!std::isfinite(number)) return false;
        found.emplace_back(nb::borrow(name), number);
    }
    return true;
}

// The common kinds of tokens: lists and tuples of strings, dicts from strings to strings and finite numbers. False
// leaves it to Python to read the token, or to say what is wrong with it.
bool read_token(PyObject* token, std::vector<Attribute>& found) {
    found.clear();
    if (PyList_CheckExact(token) || PyTuple_CheckExact(token)) return read_list(token, found);
    return PyDict_CheckExact(token) && read_dict(token, found);
}

// Calls work(attributes) for every token; items(token, i, t) reads it where this reader does not know how.
template <class Work>
void for_each_token(nb::handle X, const nb::callable& items, Work&& work) {
    std::vector<Attribute> found;
    for_each_item(as_list(X), [&](nb::object x, Py_ssize_t i) {
        for_each_item(as_list(x), [&](nb::object token, Py_ssize_t t) {
            if (!read_token(token.ptr(), found)) {
                found.clear();
                for (nb::handle pair : items(token, i, t))
                    found.emplace_back(nb::cast<nb::str>(pair[0]), nb::cast<double>(pair[1]));
            }
            work(found);
        });
    });
}

// All different names, in the order of first appearance.
nb::list attribute_names(nb::handle X, const nb::callable& items) {
    nb::list names;
    NameTable known;
    for_each_token(X, items, [&](const std::vector<Attribute>& attributes) {
        for (const Attribute& attribute : attributes)
            if (known.add(attribute.text())) names.append(attribute.name);
    });
    return names;
}

// A table in which the number of a name is its column.
void make_vocabulary(NameTable* place, nb::handle names) {
    NameTable table;
    for (nb::handle name : names) table.add(Attribute(nb::cast<nb::str>(name), 1.0).text());
    new (place) NameTable(std::move(table));
}

// A row a token with increasing columns; equal names are summed, and what is zero or has no column is left out.
nb::tuple attribute_rows(const NameTable& vocabulary, nb::handle X, const nb::callable& items) {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    RowBuilder row;
    for_each_token(X, items, [&](const std::vector<Attribute>& attributes) {
        // Most of the time would be waiting for memory, so all of a token is on its way before the first is looked at.
        for (const Attribute& attribute : attributes) vocabulary.prefetch_slot(attribute.hash);
        for (const Attribute& attribute : attributes) vocabulary.prefetch_text(attribute.hash);
        row.clear();
        for (const Attribute& attribute : attributes) {
            const std::int32_t column = vocabulary.find(attribute.text());
            if (column != NameTable::unknown) row(column, attribute.number);
        }
        row.sort();
        for (const auto& [column, number] : row.entries()) {
            columns.push_back(static_cast<std::int32_t>(column));
            values.push_back(number);
        }
        indptr.push_back(static_cast<std::int64_t>(columns.size()));
    });
    return nb::make_tuple(to_numpy(std::move(indptr)), to_numpy(std::move(columns)), to_numpy(std::move(values)));
}

}  // namespace

void bind_attributes(nb::module_& module) {
    module.def("attribute_names", &attribute_names);
    nb::class_<NameTable>(module, "Vocabulary")
        .def("__init__", &make_vocabulary)
        .def("__len__", &NameTable::size)
        .def("rows", &attribute_rows);
}

}  // namespace structlearn::bindings
