#include "graph/junction_tree.hpp"

#include <cmath>
#include <random>

#include "bindings/graphs/factor_graph.hpp"
#include "bindings/unlocked.hpp"

namespace structlearn::bindings {

namespace {

// A junction tree, unless no order was found that keeps within the limit.
struct BoundJunctionTree {
    Elimination shape;
    std::optional<JunctionTree> tree;

    BoundJunctionTree(const FactorGraphArrays& graph, double most) {
        nb::gil_scoped_release unlocked;
        shape = best_elimination(graph.data, std::log(most));
        if (shape.finished) tree.emplace(graph.data, std::make_shared<const TreeShape>(graph.data, shape));
    }
};

template <class Semiring>
void collect(BoundJunctionTree& bound, MutableVector<double> values) {
    nb::gil_scoped_release unlocked;
    bound.tree->collect<Semiring>(view(values));
}

void best(BoundJunctionTree& bound, MutableVector<std::int32_t> labels) {
    nb::gil_scoped_release unlocked;
    bound.tree->best(view(labels));
}

nb::tuple k_best(BoundJunctionTree& bound, std::size_t k) {
    std::pair<std::vector<std::int32_t>, std::vector<double>> found;
    {
        nb::gil_scoped_release unlocked;
        found = bound.tree->k_best(k);
    }
    return nb::make_tuple(to_numpy(std::move(found.first)), to_numpy(std::move(found.second)));
}

// Rows of labels, one for each seed.
void samples(BoundJunctionTree& bound, Vector<std::int64_t> seeds, MutableVector<std::int32_t> labels) {
    nb::gil_scoped_release unlocked;
    const std::size_t n = seeds.shape(0) ? labels.shape(0) / seeds.shape(0) : 0;
    for (std::size_t k = 0; k < seeds.shape(0); ++k) {
        std::mt19937_64 random(static_cast<std::uint64_t>(seeds.data()[k]));
        std::uniform_real_distribution<double> uniform(0.0, 1.0);
        bound.tree->sample([&] { return uniform(random); }, view(labels).subspan(k * n, n));
    }
}

void marginals(BoundJunctionTree& bound, MutableVector<double> nodes, Vector<std::int64_t> factor_offsets,
               MutableVector<double> factors) {
    nb::gil_scoped_release unlocked;
    bound.tree->marginals(view(nodes), view(factor_offsets), view(factors));
}

}  // namespace

void bind_junction_tree(nb::module_& module) {
    nb::class_<BoundJunctionTree>(module, "JunctionTree")
        .def(nb::init<const FactorGraphArrays&, double>(), nb::keep_alive<1, 2>(), nb::arg("graph"), nb::arg("most"))
        .def_prop_ro("finished", [](const BoundJunctionTree& bound) { return bound.shape.finished; })
        .def_prop_ro("width", [](const BoundJunctionTree& bound) { return bound.shape.width; })
        .def_prop_ro("log_entries", [](const BoundJunctionTree& bound) { return bound.shape.log_entries; })
        .def_prop_ro("log_largest", [](const BoundJunctionTree& bound) { return bound.shape.log_largest; })
        .def("collect_max", collect<MaxPlus>, nb::arg("values"))
        .def("collect_sums", collect<LogSum>, nb::arg("values"))
        .def("best", best, nb::arg("labels"))
        .def("k_best", k_best, nb::arg("k"))
        .def("samples", samples, nb::arg("seeds"), nb::arg("labels"))
        .def("marginals", marginals, nb::arg("nodes"), nb::arg("factor_offsets"), nb::arg("factors"));
}

}  // namespace structlearn::bindings
