#include <algorithm>
#include <cmath>

#include "bindings/unlocked.hpp"
#include "linear/attribute_rows.hpp"
#include "linear/name_table.hpp"

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

// Reads one token. It returns false, leaving it to Python to read the token or to say what is wrong, unless all names are
// strings and all values strings, finite numbers, or lists, tuples, sets and dicts of them.
class TokenReader {
  public:
    explicit TokenReader(std::vector<Attribute>& found) : found_(found) {}

    bool read(PyObject* token) {
        found_.clear();
        if (PyList_CheckExact(token) || PyTuple_CheckExact(token)) return list(token, nb::object());
        return PyDict_CheckExact(token) && dict(token, nb::object(), 0);
    }

  private:
    static constexpr int deepest = 50;  // a dict that holds itself has no end

    // Invalid `outer` means that the name stands at the top.
    static nb::object named(const nb::object& outer, PyObject* name) {
        return outer.is_valid() ? name_and_value(outer.ptr(), name) : nb::borrow(name);
    }

    bool list(PyObject* names, const nb::object& outer) {
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(names); ++k) {
            PyObject* name = PySequence_Fast_GET_ITEM(names, k);
            if (!PyUnicode_CheckExact(name)) return false;
            found_.emplace_back(named(outer, name), 1.0);
        }
        return true;
    }

    bool set(nb::handle names, const nb::object& outer) {
        for (nb::handle name : names) {
            if (!PyUnicode_CheckExact(name.ptr())) return false;
            found_.emplace_back(named(outer, name.ptr()), 1.0);
        }
        return true;
    }

    bool dict(PyObject* features, const nb::object& outer, int depth) {
        Py_ssize_t place = 0;
        PyObject *name, *value;
        while (PyDict_Next(features, &place, &name, &value)) {
            if (!PyUnicode_CheckExact(name)) return false;
            if (!feature(named(outer, name), nb::borrow(value), depth)) return false;
        }
        return true;
    }

    bool feature(nb::object name, const nb::object& held, int depth) {
        PyObject* value = held.ptr();
        if (PyUnicode_CheckExact(value)) {
            found_.emplace_back(name_and_value(name.ptr(), value), 1.0);
            return true;
        }
        if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) return list(value, name);
        if (PyAnySet_CheckExact(value)) return set(held, name);
        if (PyDict_CheckExact(value)) return depth < deepest && dict(value, name, depth + 1);
        double number;
        if (PyFloat_CheckExact(value))
            number = PyFloat_AS_DOUBLE(value);
        else if (PyLong_CheckExact(value) || PyBool_Check(value))
            number = PyLong_AsDouble(value);
        else
            return false;
        if (number == -1.0 && PyErr_Occurred()) throw nb::python_error();
        if (!std::isfinite(number)) return false;
        found_.emplace_back(std::move(name), number);
        return true;
    }

    std::vector<Attribute>& found_;
};

// Calls work(attributes) for every token; items(token, i, t) reads it where this reader does not know how.
template <class Work>
void for_each_token(nb::handle X, const nb::callable& items, Work&& work) {
    std::vector<Attribute> found;
    for_each_item(as_list(X), [&](nb::object x, Py_ssize_t i) {
        for_each_item(as_list(x), [&](nb::object token, Py_ssize_t t) {
            if (!TokenReader(found).read(token.ptr())) {
                found.clear();
                for (nb::handle pair : items(token, i, t))
                    found.emplace_back(nb::cast<nb::str>(pair[0]), nb::cast<double>(pair[1]));
            }
            work(found);
        });
    });
}

// All different names in the order of first appearance, and a row a token with the numbers of its names as they come.
nb::tuple read_attributes(nb::handle X, const nb::callable& items) {
    nb::list names;
    NameTable known;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> numbers;
    std::vector<double> values;
    for_each_token(X, items, [&](const std::vector<Attribute>& attributes) {
        for (const Attribute& attribute : attributes) {
            const Name text = attribute.text();
            if (known.add(text)) names.append(attribute.name);
            numbers.push_back(known.find(text));
            values.push_back(attribute.number);
        }
        indptr.push_back(static_cast<std::int64_t>(numbers.size()));
    });
    return nb::make_tuple(names, to_numpy(std::move(indptr)), to_numpy(std::move(numbers)), to_numpy(std::move(values)));
}

// A table in which the number of a name is its column.
void make_vocabulary(NameTable* place, nb::handle names) {
    NameTable table;
    for (nb::handle name : names) table.add(Attribute(nb::cast<nb::str>(name), 1.0).text());
    new (place) NameTable(std::move(table));
}

// A row a token of X; names without a column are left out.
nb::tuple known_rows(const NameTable& vocabulary, nb::handle X, const nb::callable& items) {
    TokenRows rows;
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
        rows.append(row);
    });
    return to_numpy(std::move(rows).arrays());
}

}  // namespace

void bind_attributes(nb::module_& module) {
    module.def("read_attributes", &read_attributes);
    module.def("attribute_rows", unlocked(&attribute_rows));
    nb::class_<NameTable>(module, "Vocabulary")
        .def("__init__", &make_vocabulary)
        .def("__len__", &NameTable::size)
        .def("rows", &known_rows);
}

}  // namespace structlearn::bindings
