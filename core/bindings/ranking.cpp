#include "ranking/queries.hpp"

#include "bindings/unlocked.hpp"

namespace structlearn::bindings {

void bind_ranking(nb::module_& module) {
    module.def("rank", unlocked(&rank_documents), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
    module.def("swapped_pairs", unlocked(&count_swapped_pairs));
    module.def("least_precise", unlocked(&least_precise_rankings));
    module.def("least_gain", unlocked(&least_gain_rankings));
    module.def("least_f1", unlocked(&least_f1_labels));
}

}  // namespace structlearn::bindings
