#include "chain/viterbi.hpp"

#include "chain/k_best.hpp"
#include "chain/levels.hpp"
#include "batch/parallel.hpp"
#include "bindings/differences.hpp"
#include "bindings/problems.hpp"

namespace structlearn::bindings {

namespace {

// Runs work(k, i, scores, emission, thread) on the scores of every chosen example i = examples[k].
template <class Work>
void for_each_sequence(const Chain& chain, const double* w, const Vector<std::int64_t>& examples, int n_threads,
                       Work&& work) {
    const ChainWeights weights(chain.data, w);
    std::vector<ChainWorkspace> workspaces(static_cast<std::size_t>(std::max(n_threads, 1)));
    parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int thread) {
        const std::int64_t i = examples.data()[k];
        ChainWorkspace& workspace = workspaces[static_cast<std::size_t>(thread)];
        work(k, i, weights.scores(chain.data, i, workspace), workspace.emission, thread);
    });
}

void best(const Chain& chain, Vector<double> w, Vector<std::int64_t> examples, MutableVector<std::int32_t> out,
          int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = chain.data.outputs().gathered(view(examples));
    std::vector<BestSequence> viterbi(static_cast<std::size_t>(std::max(n_threads, 1)));
    for_each_sequence(chain, w.data(), examples, n_threads,
                      [&](std::int64_t k, std::int64_t, const ChainScores& scores, std::vector<double>&, int thread) {
                          BestSequence& semiring = viterbi[static_cast<std::size_t>(thread)];
                          forward(scores, semiring);
                          semiring.trace(scores, out.data() + at[k]);
                      });
}

// argmax Δ + F of each example: its labels, Δ, and by how much Δ + F exceeds the truth's score.
void loss_augmented(const Chain& chain, Vector<double> w, Vector<std::int64_t> examples, Vector<std::int32_t> labels,
                    Vector<double> weight, MutableVector<std::int32_t> out, MutableVector<double> losses,
                    MutableVector<double> violations, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = chain.data.outputs().gathered(view(examples));
    const std::int64_t L = chain.data.n_labels;
    std::vector<BestSequence> viterbi(static_cast<std::size_t>(std::max(n_threads, 1)));
    for_each_sequence(chain, w.data(), examples, n_threads,
                      [&](std::int64_t k, std::int64_t i, const ChainScores& scores, std::vector<double>& emission,
                          int thread) {
                          const std::int32_t* truth = labels.data() + chain.data.tokens.begin(i);
                          std::int32_t* found = out.data() + at[k];
                          const double truth_score = scores.of(truth);
                          for (std::int64_t t = 0; t < scores.length; ++t) {
                              double* here = &emission[t * L];
                              const double kept = here[truth[t]];
                              for (std::int64_t l = 0; l < L; ++l) here[l] += weight.data()[truth[t]];
                              here[truth[t]] = kept;
                          }
                          BestSequence& semiring = viterbi[static_cast<std::size_t>(thread)];
                          forward(scores, semiring);
                          violations.data()[k] = semiring.trace(scores, found) - truth_score;
                          double loss = 0.0;
                          for (std::int64_t t = 0; t < scores.length; ++t)
                              if (found[t] != truth[t]) loss += weight.data()[truth[t]];
                          losses.data()[k] = loss;
                      });
}

void k_best(const Chain& chain, Vector<double> w, Vector<std::int64_t> examples, std::int64_t n_best,
            MutableVector<std::int32_t> out, MutableVector<double> out_scores, MutableVector<std::int64_t> counts,
            int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = chain.data.outputs().gathered(view(examples), n_best);
    std::vector<KBestSequences> semirings(static_cast<std::size_t>(std::max(n_threads, 1)), KBestSequences(n_best));
    for_each_sequence(chain, w.data(), examples, n_threads,
                      [&](std::int64_t k, std::int64_t, const ChainScores& scores, std::vector<double>&, int thread) {
                          KBestSequences& semiring = semirings[static_cast<std::size_t>(thread)];
                          forward(scores, semiring);
                          counts.data()[k] =
                              semiring.trace(scores, out.data() + at[k], out_scores.data() + k * n_best);
                      });
}

// For each example the level e that maximises b[e] − a[e] (F(truth) − best score at loss e), and its labels.
void most_violating_level(const Chain& chain, Vector<double> w, Vector<std::int64_t> examples,
                          Vector<std::int32_t> labels, Vector<std::int32_t> weight, Vector<double> a, Vector<double> b,
                          MutableVector<std::int32_t> out, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = chain.data.outputs().gathered(view(examples));
    const std::size_t n_workers = static_cast<std::size_t>(std::max(n_threads, 1));
    std::vector<BestPerLossLevel> semirings(n_workers, BestPerLossLevel(weight.data(), chain.data.n_labels));
    std::vector<std::vector<double>> bests(n_workers);
    for_each_sequence(chain, w.data(), examples, n_threads,
                      [&](std::int64_t k, std::int64_t i, const ChainScores& scores, std::vector<double>&, int thread) {
                          const std::int32_t* truth = labels.data() + chain.data.tokens.begin(i);
                          BestPerLossLevel& semiring = semirings[static_cast<std::size_t>(thread)];
                          std::vector<double>& best_at = bests[static_cast<std::size_t>(thread)];
                          semiring.set_truth(truth);
                          forward(scores, semiring);
                          semiring.close(scores, best_at);
                          const double truth_score = scores.of(truth);
                          std::int64_t level = -1;
                          double top = 0.0;
                          for (std::int64_t e = 0; e < semiring.n_levels(); ++e) {
                              if (best_at[e] == minus_infinity) continue;
                              const double violation = b.data()[e] - a.data()[e] * (truth_score - best_at[e]);
                              if (violation > top) top = violation, level = e;
                          }
                          if (level < 0)
                              std::copy_n(truth, scores.length, out.data() + at[k]);
                          else
                              semiring.trace(scores, level, out.data() + at[k]);
                      });
}

// The best sequence of every loss level of one example: levels, scores, and the labels one level after another.
nb::tuple best_per_level(const Chain& chain, Vector<double> w, std::int64_t example, Vector<std::int32_t> truth,
                         Vector<std::int32_t> weight) {
    std::vector<std::int64_t> levels;
    std::vector<double> level_scores;
    std::vector<std::int32_t> labels;
    {
        nb::gil_scoped_release unlocked;
        const ChainWeights weights(chain.data, w.data());
        ChainWorkspace workspace;
        std::vector<double> best_at;
        const ChainScores scores = weights.scores(chain.data, example, workspace);
        BestPerLossLevel semiring(weight.data(), chain.data.n_labels);
        semiring.set_truth(truth.data());
        forward(scores, semiring);
        semiring.close(scores, best_at);
        for (std::int64_t e = 0; e < semiring.n_levels(); ++e) {
            if (best_at[e] == minus_infinity) continue;
            levels.push_back(e);
            level_scores.push_back(best_at[e]);
            labels.resize(labels.size() + static_cast<std::size_t>(scores.length));
            semiring.trace(scores, e, labels.data() + labels.size() - scores.length);
        }
    }
    return nb::make_tuple(to_numpy(std::move(levels)), to_numpy(std::move(level_scores)), to_numpy(std::move(labels)));
}

}  // namespace

nb::class_<Chain> bind_chain(nb::module_& module) {
    nb::class_<Tokens>(module, "Tokens")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, std::variant<Vector<double>, Vector<float>>,
                      std::int64_t>());
    nb::class_<Chain> chain(module, "Chain");
    bind_differences(chain);
    return chain
        .def(nb::init<const Tokens&, Vector<std::int64_t>, std::int64_t, double, bool, std::optional<Tokens>,
                      std::optional<Vector<std::uint8_t>>, std::optional<Vector<std::uint8_t>>,
                      std::optional<Vector<std::uint8_t>>>(),
             nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg("pair_tokens").none() = nb::none(),
             nb::arg("allowed_labels").none() = nb::none(), nb::arg("allowed_transitions").none() = nb::none(),
             nb::arg("kept").none() = nb::none())
        .def("best", &best)
        .def("loss_augmented", &loss_augmented)
        .def("k_best", &k_best)
        .def("most_violating_level", &most_violating_level)
        .def("best_per_level", &best_per_level);
}

}  // namespace structlearn::bindings
