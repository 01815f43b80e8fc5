#include "graph/forest_moves.hpp"

#include "bindings/graphs/factor_graph.hpp"

namespace structlearn::bindings {

namespace {

struct BoundForestMoves {
    BoundForestMoves(const FactorGraphArrays& graph, std::uint64_t seed)
        : adjacency(graph.data), data(graph.data, adjacency, seed) {}

    Adjacency adjacency;
    ForestMoves data;
};

}  // namespace

void bind_forest_moves(nb::module_& module) {
    nb::class_<BoundForestMoves>(module, "ForestMoves")
        .def(nb::init<const FactorGraphArrays&, std::uint64_t>(), nb::arg("graph"), nb::arg("seed"),
             nb::keep_alive<1, 2>())
        .def("start", [](BoundForestMoves& moves, Vector<std::int32_t> labels) { moves.data.start(view(labels)); },
             nb::arg("labels"))
        .def("run",
             [](BoundForestMoves& moves, std::int64_t work) {
                 nb::gil_scoped_release unlocked;
                 return moves.data.run(work);
             },
             nb::arg("work"))
        .def("labels", [](const BoundForestMoves& moves) {
            return to_numpy(std::vector<std::int32_t>(moves.data.labels().begin(), moves.data.labels().end()));
        });
}

}  // namespace structlearn::bindings
