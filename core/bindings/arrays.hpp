#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "batch/ragged.hpp"
#include "linear/dense.hpp"
#include "linear/sparse.hpp"

namespace structlearn::bindings {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using MutableVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}
template <class T>
std::span<T> view(const MutableVector<T>& array) {
    return {array.data(), array.shape(0)};
}
template <class T>
MatrixView<T> view(const Matrix<T>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}

// Hands a vector to NumPy without copying it.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T> values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const std::size_t size = owned->size();
    nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {data, {size}, owner};
}

template <class T>
nb::tuple to_numpy(RaggedArray<T> lists) {
    return nb::make_tuple(to_numpy(std::move(lists.values)), to_numpy(std::move(lists.offsets)));
}

inline nb::tuple to_numpy(CsrRows rows) {
    return nb::make_tuple(to_numpy(std::move(rows.indptr)), to_numpy(std::move(rows.indices)),
                          to_numpy(std::move(rows.values)));
}

template <class... T>
nb::tuple to_numpy(std::tuple<T...> results) {
    return std::apply([](T&... result) { return nb::make_tuple(to_numpy(std::move(result))...); }, results);
}

}  // namespace structlearn::bindings
