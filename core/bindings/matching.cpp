#include "bindings/unlocked.hpp"
#include "matching/matching.hpp"
#include "matching/scans.hpp"

namespace structlearn::bindings {

void bind_matching(nb::module_& module) {
    module.def("all_scores", unlocked(&all_scores));
    module.def("best_matching", unlocked(&best_matching), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(),
               nb::arg(), nb::arg());
    module.def("unmatched_in_best", unlocked(&unmatched_in_best), nb::arg(), nb::arg().none(), nb::arg().none());
    module.def("k_best_matchings", unlocked(&k_best_matchings), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg());
}

}  // namespace structlearn::bindings
