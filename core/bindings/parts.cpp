#include "parts/problem.hpp"

#include "bindings/problems.hpp"
#include "bindings/unlocked.hpp"
#include "grammar/parts.hpp"

namespace structlearn::bindings {

namespace {

// What all problems whose outputs are sums of parts have in common.
template <class Parts, class Data, class Problem>
void bind(nb::class_<Problem>& problem) {
    problem.def("part_scores", unlocked_method<Problem>(&part_scores<Parts, Data>))
        .def("part_sums", unlocked_method<Problem>(&part_sums<Parts, Data>))
        .def("push", unlocked_method<Problem>(&push<Parts, Data>))
        .def("indicators", unlocked_method<Problem>(&indicators<Parts, Data>))
        .def("log_losses", unlocked_method<Problem>(&log_losses<Parts, Data>), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg())
        .def("mix", unlocked_method<Problem>(&mix<Parts, Data>))
        .def("exponentiate", unlocked_method<Problem>(&exponentiate<Parts, Data>), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace

void bind_parts(nb::class_<Grammar>& grammar) { bind<GrammarParts, GrammarData>(grammar); }

}  // namespace structlearn::bindings
