#include "network/node_moves.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/structures.hpp"

namespace structlearn::bindings {

namespace {

// A template with its arrays.
struct TemplateArrays {
    Vector<std::int64_t> factors;
    Vector<std::int32_t> scopes;
    std::int64_t arity;
    Vector<std::int32_t> columns;
    std::int64_t width;
    bool shared;

    FactorTemplate data() const { return {view(factors), view(scopes), arity, view(columns), width, shared}; }
};

// The graphs of all examples, with their arrays.
struct NetworkEngine {
    NetworkEngine(const std::vector<Vector<std::int64_t>>& nodes_, const std::vector<std::int64_t>& n_labels,
                  const std::vector<TemplateArrays>& templates_, std::optional<Vector<std::uint8_t>> allowed_, double most)
        : nodes(nodes_),
          templates(templates_),
          allowed(std::move(allowed_)),
          shape(types(n_labels), data(), allowed ? allowed->data() : nullptr, most) {}
    NetworkEngine(const NetworkEngine&) = delete;

    std::vector<NodeType> types(const std::vector<std::int64_t>& n_labels) const {
        std::vector<NodeType> found;
        for (std::size_t t = 0; t < nodes.size(); ++t) found.push_back({view(nodes[t]), n_labels[t]});
        return found;
    }
    std::vector<FactorTemplate> data() const {
        std::vector<FactorTemplate> found;
        for (const auto& one : templates) found.push_back(one.data());
        return found;
    }

    std::vector<Vector<std::int64_t>> nodes;
    std::vector<TemplateArrays> templates;
    std::optional<Vector<std::uint8_t>> allowed;
    NetworkShape shape;
};

template <class T>
auto copied(std::span<const T> values) {
    return to_numpy(std::vector<T>(values.begin(), values.end()));
}

// The arrays of an example's factor graph, given the scores of its parts: local ones, then shared ones.
nb::tuple factor_graph(const NetworkEngine& engine, std::int64_t i, Vector<double> theta) {
    NetworkStructure structure(engine.shape);
    structure.prepare(theta.data() + structure.n_local(i));
    const FactorGraph& graph = structure.read(i, theta.data());
    return nb::make_tuple(copied(graph.constants), copied(graph.variable_offsets), copied(graph.n_labels),
                          copied(graph.unaries), copied(graph.scope_offsets), copied(graph.scopes), copied(graph.kinds),
                          copied(graph.value_offsets), copied(graph.values));
}

// Coefficients of the parts of an example, from those of the labels of its variables and of the joint labels of its factors.
void fold(const NetworkEngine& engine, std::int64_t i, Vector<double> nodes, Vector<double> joint, MutableVector<double> mu) {
    const NetworkStructure structure(engine.shape);
    const std::int64_t n_local = structure.n_local(i);
    std::copy_n(nodes.data(), nodes.shape(0), mu.data());
    std::fill_n(mu.data() + n_local, structure.n_shared(), 0.0);
    structure.fold(i, joint.data(), mu.data(), mu.data() + n_local);
}

// The entries of each example's junction tree, and its width; −1 where it would be too large.
nb::tuple trees(const NetworkEngine& engine) {
    std::vector<double> entries;
    std::vector<std::int32_t> widths;
    for (std::int64_t i = 0; i < engine.shape.n_examples(); ++i) {
        const auto& tree = engine.shape.tree(i);
        entries.push_back(tree ? static_cast<double>(tree->message_offsets.back() + 2 * tree->largest) : -1.0);
        widths.push_back(tree ? tree->elimination.width : -1);
    }
    return nb::make_tuple(to_numpy(std::move(entries)), to_numpy(std::move(widths)));
}

}  // namespace

void bind_network(nb::module_& module) {
    nb::class_<TemplateArrays>(module, "FactorTemplate")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, std::int64_t, Vector<std::int32_t>, std::int64_t, bool>(),
             nb::arg("factors"), nb::arg("scopes"), nb::arg("arity"), nb::arg("columns"), nb::arg("width"), nb::arg("shared"));
    nb::class_<NetworkEngine>(module, "NetworkEngine")
        .def(nb::init<const std::vector<Vector<std::int64_t>>&, const std::vector<std::int64_t>&,
                      const std::vector<TemplateArrays>&, std::optional<Vector<std::uint8_t>>, double>(),
             nb::arg("nodes"), nb::arg("n_labels"), nb::arg("templates"), nb::arg("allowed").none(), nb::arg("most"))
        .def("factor_graph", factor_graph, nb::arg("example"), nb::arg("theta"))
        .def("fold", fold, nb::arg("example"), nb::arg("nodes"), nb::arg("joint"), nb::arg("mu"))
        .def("trees", trees);
    using Bound = BoundProblem<NetworkStructure, TokenScorer>;
    bind_composed<NetworkStructure, TokenScorer>(module, "Network")
        .def(
            "__init__",
            [](Bound* place, const NetworkEngine& engine, const TokenScorerArrays& scores) {
                new (place) Bound{{NetworkStructure(engine.shape), scores.scorer()}};
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    nb::class_<NodeMoves>(module, "NodeMoves")
        .def(
            "__init__",
            [](NodeMoves* place, const Bound& network, const PartLoss& loss) { new (place) NodeMoves(network.data, loss); },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("offsets", [](const NodeMoves& moves) { return copied(std::span(moves.offsets())); })
        .def(
            "begin",
            [](const NodeMoves& moves, std::int64_t i, Vector<std::int32_t> labels, MutableVector<double> marginals) {
                moves.begin(i, labels.data(), marginals.data());
            },
            nb::arg("example"), nb::arg("labels"), nb::arg("marginals"))
        .def(
            "rows",
            [](NodeMoves& moves, Vector<std::int64_t> examples, Vector<std::int32_t> truths, Vector<std::int64_t> truth_offsets,
               Vector<double> marginals) {
                CsrRows rows;
                std::vector<double> losses;
                const CodedOutputs outputs{view(truths), view(truth_offsets)};
                for (const std::int64_t i : view(examples))
                    losses.push_back(moves.append_row(i, outputs[i], marginals.data(), rows));
                return to_numpy(std::tuple(std::move(rows.indptr), std::move(rows.indices), std::move(rows.values), std::move(losses)));
            },
            nb::arg("examples"), nb::arg("truths"), nb::arg("truth_offsets"), nb::arg("marginals"))
        .def(
            "climb",
            [](NodeMoves& moves, Vector<std::int64_t> examples, Vector<double> masses, MutableVector<double> marginals,
               MutableVector<double> w, std::int64_t n_sweeps, std::uint64_t seed) {
                run_unlocked(
                    [&] { moves.climb(view(examples), view(masses), marginals.data(), w.data(), n_sweeps, seed); });
            },
            nb::arg("examples"), nb::arg("masses"), nb::arg("marginals"), nb::arg("w"), nb::arg("n_sweeps"), nb::arg("seed"));
}

}  // namespace structlearn::bindings
