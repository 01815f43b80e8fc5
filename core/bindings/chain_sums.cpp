#include "chain/parts.hpp"
#include "batch/parallel.hpp"
#include "bindings/problems.hpp"

namespace structlearn::bindings {

namespace {

// Node marginals, edge marginals of every pair of neighbours, and log Z of one sequence whose parts are given.
double marginals(const Chain& chain, Vector<double> theta, MutableVector<double> nodes, MutableVector<double> edges) {
    nb::gil_scoped_release unlocked;
    ChainParts parts(chain.data);
    const ChainScores scores = parts.read(0, theta.data());
    TransitionFactors factors;
    if (!scores.varying) factors.set(scores.n_labels, scores.transition);
    ChainSums semiring;
    const double log_z = semiring.run(scores, scores.varying ? nullptr : &factors);
    semiring.marginals(scores, nodes.data(), edges.data(), true);
    return log_z;
}

// Sequences drawn with probability P(y | x): `copies` of each chosen example, one after another.
void samples(const Chain& chain, Vector<double> w, Vector<std::int64_t> examples, std::int64_t copies,
             Vector<double> uniform, MutableVector<std::int32_t> out, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = chain.data.outputs().gathered(view(examples), copies);
    const ChainWeights weights(chain.data, w.data());
    TransitionFactors factors;
    factors.set(chain.data.n_labels, weights.transition());
    const auto n_workers = static_cast<std::size_t>(std::max(n_threads, 1));
    std::vector<ChainWorkspace> workspaces(n_workers);
    std::vector<ChainSums> semirings(n_workers);
    parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int thread) {
        ChainSums& semiring = semirings[static_cast<std::size_t>(thread)];
        const ChainScores scores =
            weights.scores(chain.data, examples.data()[k], workspaces[static_cast<std::size_t>(thread)]);
        semiring.run(scores, scores.varying ? nullptr : &factors);
        for (std::int64_t copy = 0; copy < copies; ++copy) {
            const std::int64_t place = at[k] + copy * scores.length;
            semiring.sample(scores, uniform.data() + place, out.data() + place);
        }
    });
}

}  // namespace

void bind_chain_sums(nb::class_<Chain>& chain) {
    chain.def("marginals", &marginals).def("samples", &samples);
}

}  // namespace structlearn::bindings
