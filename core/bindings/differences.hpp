#pragma once

#include "bindings/unlocked.hpp"
#include "linear/differences.hpp"

namespace structlearn::bindings {

// What FactoredRows in Python asks of a problem.
template <class Data, class Problem>
void bind_differences(nb::class_<Problem>& problem) {
    problem.def("differences", unlocked_method<Problem>(&differences<Data>))
        .def("difference_dots", unlocked_method<Problem>(&difference_dots<Data>))
        .def("add_differences", unlocked_method<Problem>(&add_differences<Data>));
}

}  // namespace structlearn::bindings
