#include <random>

#include "bindings/graphs/factor_graph.hpp"
#include "bindings/unlocked.hpp"
#include "graph/belief_propagation.hpp"
#include "graph/forests.hpp"
#include "graph/grid_pseudo.hpp"
#include "graph/local_search.hpp"
#include "graph/mean_field.hpp"

namespace structlearn::bindings {

namespace {

template <class Semiring>
void bind_propagation(nb::module_& module, const char* name) {
    using Propagation = BeliefPropagation<Semiring>;
    nb::class_<Propagation>(module, name)
        .def(
            "__init__",
            [](Propagation* place, const FactorGraphArrays& graph, Vector<double> weights, double damping) {
                nb::gil_scoped_release unlocked;
                new (place) Propagation(graph.data, view(weights), damping);
            },
            nb::keep_alive<1, 2>(), nb::arg("graph"), nb::arg("weights"), nb::arg("damping"))
        .def("run", &Propagation::run, nb::call_guard<nb::gil_scoped_release>(), nb::arg("updates"), nb::arg("tol"))
        .def(
            "labels",
            [](const Propagation& propagation, MutableVector<std::int32_t> out) { propagation.labels(view(out)); },
            nb::arg("out"))
        .def(
            "reparametrised",
            [](Propagation& propagation, MutableVector<double> unaries, Vector<std::int64_t> factor_offsets,
               MutableVector<double> factors) {
                nb::gil_scoped_release unlocked;
                propagation.reparametrised(view(unaries), view(factor_offsets), view(factors));
            },
            nb::arg("unaries"), nb::arg("factor_offsets"), nb::arg("factors"))
        .def(
            "marginals",
            [](Propagation& propagation, MutableVector<double> nodes, Vector<std::int64_t> factor_offsets,
               MutableVector<double> factors, MutableVector<double> log_z) {
                nb::gil_scoped_release unlocked;
                propagation.marginals(view(nodes), view(factor_offsets), view(factors), view(log_z));
            },
            nb::arg("nodes"), nb::arg("factor_offsets"), nb::arg("factors"), nb::arg("log_z"));
}

// Chains of labels, one after another, that are changed one label at a time.
class LocalSearch {
public:
    explicit LocalSearch(const FactorGraphArrays& graph) : graph_(graph.data), conditionals_(graph.data) {}

    std::int64_t icm(MutableVector<std::int32_t> labels) {
        nb::gil_scoped_release unlocked;
        return icm_sweep(conditionals_, view(labels));
    }

    // Sweeps of one chain; after each its labels are counted and its score is written.
    void gibbs(MutableVector<std::int32_t> labels, std::uint64_t seed, MutableVector<double> counts,
               MutableVector<double> scores) {
        nb::gil_scoped_release unlocked;
        std::mt19937_64 random(seed);
        for (double& score : view(scores)) {
            gibbs_sweep(conditionals_, random, view(labels));
            for (std::size_t i = 0; i < graph_.n_variables(); ++i)
                counts.data()[graph_.unary_offsets[i] + labels.data()[i]] += 1.0;
            score = graph_.score(view(labels));
        }
    }

private:
    const FactorGraph& graph_;
    Conditionals conditionals_;
};

}  // namespace

void bind_graph_sums(nb::module_& module) {
    bind_propagation<LogSum>(module, "SumPropagation");
    bind_propagation<MaxPlus>(module, "MaxPropagation");
    module.def(
        "acyclic_factors",
        [](const FactorGraphArrays& graph, Vector<std::int64_t> order) {
            return run_unlocked([&] { return acyclic_factors(graph.data, view(order)); });
        },
        nb::arg("graph"), nb::arg("order"));
    module.def("grid_pseudo_loss", unlocked(grid_pseudo_loss), nb::arg("rows"), nb::arg("n_labels"), nb::arg("n_features"),
               nb::arg("steps"), nb::arg("tables"), nb::arg("features"), nb::arg("unaries"), nb::arg("truth"),
               nb::arg("of_labels"), nb::arg("of_tables"), nb::arg("n_threads"));
    nb::class_<LocalSearch>(module, "LocalSearch")
        .def(nb::init<const FactorGraphArrays&>(), nb::keep_alive<1, 2>(), nb::arg("graph"))
        .def("icm", &LocalSearch::icm, nb::arg("labels"))
        .def("gibbs", &LocalSearch::gibbs, nb::arg("labels"), nb::arg("seed"), nb::arg("counts"), nb::arg("scores"));
    nb::class_<MeanField>(module, "MeanField")
        .def(
            "__init__",
            [](MeanField* place, const FactorGraphArrays& graph, Vector<double> start) {
                new (place) MeanField(graph.data, view(start));
            },
            nb::keep_alive<1, 2>(), nb::arg("graph"), nb::arg("start"))
        .def("sweep", &MeanField::sweep, nb::call_guard<nb::gil_scoped_release>())
        .def(
            "values", [](MeanField& field, MutableVector<double> out) { field.values(view(out)); }, nb::arg("out"))
        .def("probabilities", [](const MeanField& field) {
            const auto q = field.probabilities();
            return to_numpy(std::vector<double>(q.begin(), q.end()));
        });
}

}  // namespace structlearn::bindings
