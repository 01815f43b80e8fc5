#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bindings/arrays.hpp"

namespace structlearn::bindings {

// How what a function of the core takes comes from Python: arrays for spans, everything else as it is.
template <class T>
struct Taken {
    using Type = T;
    static T of(T value) { return value; }
};
template <class T>
struct Taken<std::span<const T>> {
    using Type = Vector<T>;
    static std::span<const T> of(const Type& array) { return view(array); }
};
template <class T>
struct Taken<std::span<T>> {
    using Type = MutableVector<T>;
    static std::span<T> of(const Type& array) { return view(array); }
};
template <class T>
struct Taken<MatrixView<T>> {
    using Type = Matrix<T>;
    static MatrixView<T> of(const Type& array) { return view(array); }
};
template <class T>
struct Taken<std::optional<T>> {
    using Type = std::optional<typename Taken<T>::Type>;
    static std::optional<T> of(const Type& array) { return array ? std::optional(Taken<T>::of(*array)) : std::nullopt; }
};

template <class Call>
auto run_unlocked(Call&& call) {
    auto run = [&] {
        nb::gil_scoped_release unlocked;
        return call();
    };
    using Result = std::invoke_result_t<Call>;
    if constexpr (std::is_void_v<Result> || std::is_arithmetic_v<Result>)
        return run();
    else
        return to_numpy(run());
}

// A function of the core as Python calls it, without the interpreter's lock.
template <class Return, class... Arguments>
auto unlocked(Return (*function)(Arguments...)) {
    return [function](typename Taken<Arguments>::Type... arguments) {
        return run_unlocked([&] { return function(Taken<Arguments>::of(arguments)...); });
    };
}

// The same as a method of an object whose data it takes first.
template <class Bound, class Return, class Data, class... Arguments>
auto unlocked_method(Return (*function)(const Data&, Arguments...)) {
    return [function](const Bound& bound, typename Taken<Arguments>::Type... arguments) {
        return run_unlocked([&] { return function(bound.data, Taken<Arguments>::of(arguments)...); });
    };
}

}  // namespace structlearn::bindings
