#include "relaxations/branch_and_bound.hpp"

#include "bindings/graphs/factor_graph.hpp"

namespace structlearn::bindings {

void bind_branch_and_bound(nb::module_& module) {
    nb::class_<BranchAndBound>(module, "BranchAndBound")
        .def("__init__",
             [](BranchAndBound* self, const FactorGraphArrays& graph, bool tighten) {
                 new (self) BranchAndBound(graph.data, tighten);
             },
             nb::arg("graph"), nb::arg("tighten"), nb::keep_alive<1, 2>())
        .def("step",
             [](BranchAndBound& search, double seconds) {
                 nb::gil_scoped_release unlocked;
                 return search.step(seconds);
             },
             nb::arg("seconds"))
        .def("labels",
             [](const BranchAndBound& search) {
                 return to_numpy(std::vector<std::int32_t>(search.labels().begin(), search.labels().end()));
             })
        .def_prop_ro("bound", &BranchAndBound::bound)
        .def_prop_ro("score", &BranchAndBound::score)
        .def_prop_ro("n_nodes", &BranchAndBound::n_nodes)
        .def_prop_ro("n_open", &BranchAndBound::n_open)
        .def_prop_ro("n_clusters", &BranchAndBound::n_clusters);
}

}  // namespace structlearn::bindings
