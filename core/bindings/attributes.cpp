#include <algorithm>
#include <cmath>

#include "bindings/unlocked.hpp"
#include "linear/attribute_rows.hpp"
#include "linear/name_table.hpp"

namespace structlearn::bindings {

namespace {

Py_hash_t hash_of(PyObject* text) {
    const Py_hash_t known = reinterpret_cast<PyASCIIObject*>(text)->hash;
    return known != -1 ? known : PyUnicode_Type.tp_hash(text);
}

struct Attribute {
    // Strings remember their hash. That of str itself also serves its subclasses: names are told apart by their text.
    // A borrowed name is one that a token holds: to count references to hundreds of thousands takes longer than to find
    // them.
    Attribute(PyObject* borrowed, double number_)
        : name(borrowed), number(number_), hash(static_cast<std::uint32_t>(hash_of(borrowed))) {}

    Attribute(nb::object made, double number_) : Attribute(made.ptr(), number_) { kept = std::move(made); }

    Name text() const {
        const auto width = static_cast<std::uint32_t>(PyUnicode_KIND(name));
        const auto length = static_cast<std::size_t>(PyUnicode_GET_LENGTH(name));
        return {hash, width, {static_cast<const char*>(PyUnicode_DATA(name)), length * width}};
    }

    PyObject* name;
    double number;
    std::uint32_t hash;
    nb::object kept;
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

// Adds the attributes of one token to those found before. It returns false, leaving it to Python to read the token or to
// say what is wrong, unless all names are strings and all values strings, finite numbers, or lists, tuples, sets and dicts
// of them. No foreign code runs meanwhile, so the token holds the names that are borrowed from it.
class TokenReader {
  public:
    explicit TokenReader(std::vector<Attribute>& found) : found_(found) {}

    bool read(PyObject* token) {
        const auto before = static_cast<std::ptrdiff_t>(found_.size());
        const bool plain = PyList_CheckExact(token) || PyTuple_CheckExact(token);
        const bool known = plain ? list(token, nullptr) : PyDict_CheckExact(token) && dict(token, nullptr, 0);
        if (!known) found_.erase(found_.begin() + before, found_.end());
        return known;
    }

  private:
    static constexpr int deepest = 50;  // a dict that holds itself has no end

    // Null for `outer` means that the name stands at the top.
    void add(PyObject* outer, PyObject* name, double number) {
        if (outer == nullptr)
            found_.emplace_back(name, number);
        else
            found_.emplace_back(name_and_value(outer, name), number);
    }

    bool list(PyObject* names, PyObject* outer) {
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(names); ++k) {
            PyObject* name = PySequence_Fast_GET_ITEM(names, k);
            if (!PyUnicode_CheckExact(name)) return false;
            add(outer, name, 1.0);
        }
        return true;
    }

    bool set(nb::handle names, PyObject* outer) {
        for (nb::handle name : names) {
            if (!PyUnicode_CheckExact(name.ptr())) return false;
            add(outer, name.ptr(), 1.0);
        }
        return true;
    }

    bool dict(PyObject* features, PyObject* outer, int depth) {
        Py_ssize_t place = 0;
        PyObject *name, *value;
        while (PyDict_Next(features, &place, &name, &value)) {
            if (!PyUnicode_CheckExact(name)) return false;
            if (outer == nullptr) {
                if (!feature(name, nb::object(), value, depth)) return false;
            } else {
                nb::object joined = name_and_value(outer, name);
                PyObject* const text = joined.ptr();
                if (!feature(text, std::move(joined), value, depth)) return false;
            }
        }
        return true;
    }

    // `made` is the name itself where no token holds it.
    bool feature(PyObject* name, nb::object made, PyObject* value, int depth) {
        if (PyUnicode_CheckExact(value)) {
            found_.emplace_back(name_and_value(name, value), 1.0);
            return true;
        }
        if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) return list(value, name);
        if (PyAnySet_CheckExact(value)) return set(value, name);
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
        if (made.is_valid())
            found_.emplace_back(std::move(made), number);
        else
            found_.emplace_back(name, number);
        return true;
    }

    std::vector<Attribute>& found_;
};

// The names of the next token are on their way while this one is looked up.
void fetch_next(PyObject* tokens, Py_ssize_t t) {
    if (t + 1 >= PySequence_Fast_GET_SIZE(tokens)) return;
    PyObject* next = PySequence_Fast_GET_ITEM(tokens, t + 1);
    if (!PyList_CheckExact(next) && !PyTuple_CheckExact(next)) return;
    PyObject** const names = PySequence_Fast_ITEMS(next);
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(next); ++k) __builtin_prefetch(names[k]);
}

// The attributes of several tokens one after another; those of a token end at its entry of `ends`.
struct ReadTokens {
    std::vector<Attribute> attributes;
    std::vector<std::size_t> ends;

    void clear() {
        attributes.clear();
        ends.clear();
    }
};

// Calls work(tokens) with all tokens of X, those of a sequence at once; items(token, i, t) reads a token where this reader
// does not know how. That is foreign code, before which all borrowed names are done with.
template <class Work>
void read_tokens(nb::handle X, const nb::callable& items, Work&& work) {
    ReadTokens found;
    const auto done = [&] {
        work(found);
        found.clear();
    };
    for_each_item(as_list(X), [&](nb::object x, Py_ssize_t i) {
        const nb::object tokens = as_list(x);
        for_each_item(tokens, [&](nb::object token, Py_ssize_t t) {
            fetch_next(tokens.ptr(), t);
            if (!TokenReader(found.attributes).read(token.ptr())) {
                done();
                for (nb::handle pair : items(token, i, t))
                    found.attributes.emplace_back(nb::object(nb::cast<nb::str>(pair[0])), nb::cast<double>(pair[1]));
            }
            found.ends.push_back(found.attributes.size());
        });
        done();
    });
}

// All different names in the order of first appearance, and a row a token with the numbers of its names as they come.
nb::tuple read_attributes(nb::handle X, const nb::callable& items) {
    nb::list names;
    NameTable known;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> numbers;
    std::vector<double> values;
    read_tokens(X, items, [&](const ReadTokens& found) {
        const auto before = static_cast<std::int64_t>(numbers.size());
        for (const Attribute& attribute : found.attributes) {
            const Name text = attribute.text();
            if (known.add(text)) names.append(nb::handle(attribute.name));
            numbers.push_back(known.find(text));
            values.push_back(attribute.number);
        }
        for (const std::size_t end : found.ends) indptr.push_back(before + static_cast<std::int64_t>(end));
    });
    return nb::make_tuple(names, to_numpy(std::move(indptr)), to_numpy(std::move(numbers)), to_numpy(std::move(values)));
}

// A table in which the number of a name is its column.
void make_vocabulary(NameTable* place, nb::handle names) {
    NameTable table;
    for (nb::handle name : names) table.add(Attribute(nb::object(nb::cast<nb::str>(name)), 1.0).text());
    new (place) NameTable(std::move(table));
}

// A row for each of the n tokens of X; names without a column are left out.
nb::tuple known_rows(const NameTable& vocabulary, nb::handle X, const nb::callable& items, std::size_t n) {
    constexpr std::size_t sample = 100;
    TokenRows rows;
    TokenRow row;
    read_tokens(X, items, [&](const ReadTokens& found) {
        // Most of the time would be waiting for memory, so all of a sequence is on its way before the first is looked at.
        for (const Attribute& attribute : found.attributes) vocabulary.prefetch_slot(attribute.hash);
        for (const Attribute& attribute : found.attributes) vocabulary.prefetch_text(attribute.hash);
        std::size_t k = 0;
        for (const std::size_t end : found.ends) {
            row.clear();
            for (; k < end; ++k) row(vocabulary.find(found.attributes[k].text()), found.attributes[k].number);
            rows.append(row);
            if (rows.indptr.size() == sample) rows.expect(n);
        }
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
