#include "bindings/graphs/factor_graph.hpp"

#include "bindings/unlocked.hpp"
#include "graph/reduction.hpp"
#include "graph/support.hpp"

namespace structlearn::bindings {

namespace {

void scores(const FactorGraph& graph, std::span<const std::int32_t> labels, std::span<double> out) {
    graph.scores(labels, out);
}

void supported(const FactorGraph& graph, std::span<std::uint8_t> allowed) { Support(graph, allowed); }

nb::tuple reduced(const FactorGraphArrays& arrays, Vector<std::int64_t> label_offsets, Vector<std::int32_t> labels) {
    OwnedFactorGraph graph;
    {
        nb::gil_scoped_release unlocked;
        graph = std::move(Reduction(arrays.data, view(label_offsets), view(labels)).graph);
    }
    return nb::make_tuple(to_numpy(std::move(graph.constants)), to_numpy(std::move(graph.variable_offsets)),
                          to_numpy(std::move(graph.n_labels)), to_numpy(std::move(graph.unaries)), to_numpy(std::move(graph.scope_offsets)),
                          to_numpy(std::move(graph.scopes)), to_numpy(std::move(graph.kinds)),
                          to_numpy(std::move(graph.value_offsets)), to_numpy(std::move(graph.values)));
}

}  // namespace

void bind_factor_graph(nb::module_& module) {
    nb::class_<FactorGraphArrays>(module, "FactorGraph")
        .def(nb::init<Vector<double>, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int64_t>, Vector<double>,
                      Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::uint8_t>, Vector<std::int64_t>,
                      Vector<double>>(),
             nb::arg("constants"), nb::arg("variable_offsets"), nb::arg("n_labels"), nb::arg("unary_offsets"), nb::arg("unaries"),
             nb::arg("scope_offsets"), nb::arg("scopes"), nb::arg("kinds"), nb::arg("value_offsets"),
             nb::arg("values"))
        .def("scores", unlocked_method<FactorGraphArrays>(scores), nb::arg("labels"), nb::arg("out"))
        .def("sum_of_maxima", [](const FactorGraphArrays& arrays) { return arrays.data.sum_of_maxima(); })
        .def("supported", unlocked_method<FactorGraphArrays>(supported), nb::arg("allowed"))
        .def("reduced", reduced, nb::arg("label_offsets"), nb::arg("labels"));
}

}  // namespace structlearn::bindings
