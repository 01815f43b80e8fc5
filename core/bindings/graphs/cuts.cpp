#include <nanobind/stl/vector.h>

#include "bindings/graphs/factor_graph.hpp"
#include "bindings/unlocked.hpp"
#include "cuts/cut.hpp"
#include "cuts/energies.hpp"
#include "cuts/fusion.hpp"
#include "cuts/roof_dual.hpp"

namespace structlearn::bindings {

namespace {

// A method of an object of the core that changes it, without the interpreter's lock.
template <class Bound, class Return, class... Arguments>
auto unlocked_change(Return (Bound::*method)(Arguments...)) {
    return [method](Bound& bound, typename Taken<Arguments>::Type... arguments) {
        return run_unlocked([&] { return (bound.*method)(Taken<Arguments>::of(arguments)...); });
    };
}

// `Bound` is made from what `Given` makes of the graph.
template <class Bound, class Given = const FactorGraph&>
void make(Bound* self, const FactorGraphArrays& graph) {
    nb::gil_scoped_release unlocked;
    new (self) Bound(Given(graph.data));
}

template <class Energy>
void bind_moves(nb::class_<Fusion<Energy>>& fusion) {
    using Moves = Fusion<Energy>;
    fusion.def("expand", unlocked_change(&Moves::expand), nb::arg("label"))
        .def("swap", unlocked_change(&Moves::swap), nb::arg("a"), nb::arg("b"))
        .def("fuse", unlocked_change(&Moves::fuse), nb::arg("others"))
        .def("take_one", unlocked_change(&Moves::take_one))
        .def("take", unlocked_change(&Moves::take), nb::arg("others"))
        .def("begin_cut", unlocked_change(&Moves::begin_cut))
        .def("advance", unlocked_change(&Moves::advance))
        .def("bound", &Moves::bound)
        .def("cut", unlocked_change(&Moves::cut))
        .def("labels", [](const Moves& moves) { return to_numpy(std::vector<std::int32_t>(moves.labels())); })
        .def("lower_bound", &Moves::lower_bound)
        .def_prop_ro("total", &Moves::total)
        .def_prop_ro("truncated", &Moves::truncated);
}

void bind_sparse_fusion(nb::module_& module) {
    nb::class_<Fusion<SparseEnergy>> moves(module, "SparseFusion");
    moves.def("__init__", make<Fusion<SparseEnergy>, SparseEnergy>, nb::keep_alive<1, 2>(), nb::arg("graph"));
    bind_moves(moves);
}

// The arrays of scores and weights are the caller's, who keeps them.
template <int n_arcs>
void make_grid(Fusion<GridEnergy<n_arcs>>* self, std::int32_t n_rows, std::int32_t n_columns, std::int32_t n_labels,
               Vector<double> scores, Vector<double> table, std::vector<Vector<double>> weights) {
    typename GridEnergy<n_arcs>::Weights views{};
    for (std::size_t d = 0; d < weights.size(); ++d) views[d] = view(weights[d]);
    nb::gil_scoped_release unlocked;
    new (self) Fusion(GridEnergy<n_arcs>(n_rows, n_columns, n_labels, view(scores), view(table), views));
}

template <int n_arcs>
void bind_grid_fusion(nb::module_& module, const char* name) {
    nb::class_<Fusion<GridEnergy<n_arcs>>> moves(module, name);
    moves.def("__init__", make_grid<n_arcs>, nb::arg("n_rows"), nb::arg("n_columns"), nb::arg("n_labels"),
              nb::arg("scores").noconvert(), nb::arg("table"), nb::arg("weights").noconvert());
    bind_moves(moves);
}

}  // namespace

void bind_cuts(nb::module_& module) {
    nb::class_<Cut>(module, "Cut")
        .def("__init__", make<Cut>, nb::arg("graph"))
        .def("set_unaries", unlocked_change(&Cut::set_unaries), nb::arg("scores"))
        .def("advance", unlocked_change(&Cut::advance))
        .def("bound", &Cut::bound)
        .def("solve", unlocked_change(&Cut::solve), nb::arg("labels"))
        .def("max_marginals", unlocked_change(&Cut::max_marginals), nb::arg("best"), nb::arg("highest"), nb::arg("out"));
    nb::class_<RoofDual>(module, "RoofDual")
        .def("__init__", make<RoofDual>, nb::keep_alive<1, 2>(), nb::arg("graph"))
        .def("solve", unlocked_change(&RoofDual::solve), nb::arg("labels"))
        .def("bound", &RoofDual::bound);
    bind_sparse_fusion(module);
    bind_grid_fusion<4>(module, "GridFusion4");
    bind_grid_fusion<8>(module, "GridFusion8");
    module.def(
        "first_not_submodular", [](const FactorGraphArrays& graph) { return first_not_submodular(graph.data); },
        nb::arg("graph"));
    module.def("complete_greedily", [](const FactorGraphArrays& graph, MutableVector<std::int32_t> labels) {
        complete_greedily(graph.data, view(labels));
    }, nb::arg("graph"), nb::arg("labels"));
}

}  // namespace structlearn::bindings
