#include "alignment/parts.hpp"
#include "chain/parts.hpp"
#include "grammar/parts.hpp"
#include "multiclass/parts.hpp"
#include "batch/parallel.hpp"
#include "parts/ascent.hpp"
#include "chain/second_order_parts.hpp"
#include "segments/parts.hpp"
#include "bindings/problems.hpp"

namespace structlearn::bindings {

namespace {

template <class Parts>
std::vector<std::int64_t> places(const Parts& parts, const Vector<std::int64_t>& examples) {
    return offsets_of(view(examples), [&](std::int64_t i) { return parts.size(i); });
}

template <class Parts>
std::vector<Parts> workers(const Parts& parts, int n_threads) {
    return {static_cast<std::size_t>(std::max(n_threads, 1)), parts};
}

// What outputs that are sums of parts can do, see ChainParts. Values of parts are given one example after another.
template <class Parts, class Problem>
void bind(nb::class_<Problem>& problem_class) {
    // θ = A w of the chosen examples.
    problem_class.def("part_scores", [](const Problem& problem, Vector<double> w, Vector<std::int64_t> examples,
                                        MutableVector<double> theta, int n_threads) {
        nb::gil_scoped_release unlocked;
        auto parts = workers(Parts(problem.data), n_threads);
        const auto at = places(parts[0], examples);
        parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int thread) {
            parts[static_cast<std::size_t>(thread)].scores(examples.data()[k], w.data(), theta.data() + at[k]);
        });
    });
    // log Z and marginals, given the scores of the parts.
    problem_class.def("part_sums", [](const Problem& problem, Vector<double> theta, Vector<std::int64_t> examples,
                                      MutableVector<double> log_z, MutableVector<double> marginals, int n_threads) {
        nb::gil_scoped_release unlocked;
        auto parts = workers(Parts(problem.data), n_threads);
        const auto at = places(parts[0], examples);
        parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int thread) {
            log_z.data()[k] = parts[static_cast<std::size_t>(thread)].sums(
                examples.data()[k], theta.data() + at[k], marginals.data() + at[k]);
        });
    });
    // w += Σ_k coefficients[k] Aᵀ marginals_k
    problem_class.def("push", [](const Problem& problem, Vector<double> marginals, Vector<std::int64_t> examples,
                                 Vector<double> coefficients, MutableVector<double> w) {
        nb::gil_scoped_release unlocked;
        Parts parts(problem.data);
        const auto at = places(parts, examples);
        std::vector<double> change;
        for (std::size_t k = 0; k < examples.shape(0); ++k) {
            change.assign(marginals.data() + at[k], marginals.data() + at[k + 1]);
            for (double& value : change) value *= coefficients.data()[k];
            parts.push(examples.data()[k], change.data(), w.data());
        }
    });
    // The marginals of a labelling: how often it has each part.
    problem_class.def("indicators", [](const Problem& problem, Vector<std::int32_t> labels,
                                       Vector<std::int64_t> examples, MutableVector<double> marginals) {
        nb::gil_scoped_release unlocked;
        const Parts parts(problem.data);
        const auto at = places(parts, examples);
        std::fill_n(marginals.data(), at.back(), 0.0);
        for (std::size_t k = 0; k < examples.shape(0); ++k)
            parts.subtract(examples.data()[k], labels.data(), -1.0, marginals.data() + at[k]);
    });
    // −log P(y_i | x_i) of the chosen examples; the gradient, if asked for, grows by Σ_k weight[k] times theirs.
    problem_class.def(
        "log_losses",
        [](const Problem& problem, Vector<double> w, Vector<std::int64_t> examples, Vector<std::int32_t> labels,
           MutableVector<double> losses, std::optional<Vector<double>> weight,
           std::optional<MutableVector<double>> gradient, int n_threads) {
            nb::gil_scoped_release unlocked;
            Parts prepared(problem.data);
            prepared.prepare(w.data());
            auto parts = workers(prepared, n_threads);
            // Gradients are added in the order of the examples, so that they do not depend on the number of threads.
            const std::int64_t batch = n_threads > 1 ? 64 : 1;
            std::vector<std::vector<double>> changes(static_cast<std::size_t>(batch));
            const auto n = static_cast<std::int64_t>(examples.shape(0));
            for (std::int64_t begin = 0; begin < n; begin += batch) {
                const std::int64_t count = std::min(batch, n - begin);
                parallel_for(count, n_threads, [&](std::int64_t j, int thread) {
                    const std::int64_t i = examples.data()[begin + j];
                    std::vector<double>& change = changes[static_cast<std::size_t>(j)];
                    if (gradient) change.resize(static_cast<std::size_t>(prepared.size(i)));
                    losses.data()[begin + j] = parts[static_cast<std::size_t>(thread)].log_loss(
                        i, labels.data(), gradient ? change.data() : nullptr);
                });
                for (std::int64_t j = 0; gradient && j < count; ++j) {
                    for (double& value : changes[static_cast<std::size_t>(j)]) value *= weight->data()[begin + j];
                    parts[0].push(examples.data()[begin + j], changes[static_cast<std::size_t>(j)].data(),
                                  gradient->data());
                }
            }
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg());
    // PartAscent::mix for the examples in the order given; `at` says where the parts of each example begin.
    problem_class.def("mix", [](const Problem& problem, Vector<std::int64_t> order, Vector<std::int64_t> at,
                                Vector<double> u, MutableVector<double> marginals, MutableVector<double> entropies,
                                MutableVector<double> gaps, MutableVector<double> w) {
        nb::gil_scoped_release unlocked;
        PartAscent<Parts> ascent{Parts(problem.data)};
        for (std::size_t k = 0; k < order.shape(0); ++k) {
            const std::int64_t i = order.data()[k];
            gaps.data()[i] = ascent.mix(i, u.data()[i], marginals.data() + at.data()[i], entropies.data()[i], w.data());
        }
    });
    // PartAscent::exponentiate, likewise.
    problem_class.def(
        "exponentiate",
        [](const Problem& problem, Vector<std::int64_t> order, Vector<std::int64_t> at, Vector<double> u, double kappa,
           std::optional<Vector<double>> losses, MutableVector<double> theta, MutableVector<double> marginals,
           MutableVector<double> entropies, MutableVector<double> steps, MutableVector<double> w) {
            nb::gil_scoped_release unlocked;
            PartAscent<Parts> ascent{Parts(problem.data)};
            for (std::size_t k = 0; k < order.shape(0); ++k) {
                const std::int64_t i = order.data()[k];
                const std::int64_t begin = at.data()[i];
                ascent.exponentiate(i, u.data()[i], kappa, losses ? losses->data() + begin : nullptr,
                                    theta.data() + begin, marginals.data() + begin, entropies.data()[i],
                                    steps.data()[i], w.data());
            }
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg());
}

}  // namespace

void bind_parts(nb::class_<Chain>& chain, nb::class_<SecondOrderChain>& second_order,
                nb::class_<Segments>& segments, nb::class_<Multiclass>& multiclass, nb::class_<Grammar>& grammar,
                nb::class_<Alignment>& alignment) {
    bind<ChainParts>(chain);
    bind<SecondOrderParts>(second_order);
    bind<SegmentParts>(segments);
    bind<MulticlassParts>(multiclass);
    bind<AlignmentParts>(alignment);
    bind<GrammarParts>(grammar);
}

}  // namespace structlearn::bindings
