#include "chain/second_order_sums.hpp"

#include "bindings/differences.hpp"
#include "bindings/problems.hpp"

namespace structlearn::bindings {

namespace {

// Runs work(k, i, scores, emission, thread) on the scores of every chosen example i = examples[k].
template <class Work>
void for_each_sequence(const SecondOrderChain& problem, const double* w, const Vector<std::int64_t>& examples,
                       int n_threads, Work&& work) {
    const ChainWeights weights(problem.data, w);
    const TripletWeights triplets(problem.data, w);
    std::vector<ChainWorkspace> workspaces(static_cast<std::size_t>(std::max(n_threads, 1)));
    parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int thread) {
        const std::int64_t i = examples.data()[k];
        ChainWorkspace& workspace = workspaces[static_cast<std::size_t>(thread)];
        const SecondOrderScores scores{weights.scores(problem.data, i, workspace), triplets.scores()};
        work(k, i, scores, workspace.emission, static_cast<std::size_t>(thread));
    });
}

void best(const SecondOrderChain& problem, Vector<double> w, Vector<std::int64_t> examples,
          MutableVector<std::int32_t> out, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = problem.data.outputs().gathered(view(examples));
    std::vector<BestOfSecondOrder> decoders(static_cast<std::size_t>(std::max(n_threads, 1)));
    for_each_sequence(problem, w.data(), examples, n_threads,
                      [&](std::int64_t k, std::int64_t, const SecondOrderScores& scores, std::vector<double>&,
                          std::size_t thread) { decoders[thread].run(scores, out.data() + at[k]); });
}

// argmax Δ + F of each example: its labels, Δ, and by how much Δ + F exceeds the truth's score.
void loss_augmented(const SecondOrderChain& problem, Vector<double> w, Vector<std::int64_t> examples,
                    Vector<std::int32_t> labels, Vector<double> weight, MutableVector<std::int32_t> out,
                    MutableVector<double> losses, MutableVector<double> violations, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = problem.data.outputs().gathered(view(examples));
    const std::int64_t L = problem.data.n_labels;
    std::vector<BestOfSecondOrder> decoders(static_cast<std::size_t>(std::max(n_threads, 1)));
    for_each_sequence(problem, w.data(), examples, n_threads,
                      [&](std::int64_t k, std::int64_t i, const SecondOrderScores& scores,
                          std::vector<double>& emission, std::size_t thread) {
                          const std::int32_t* truth = labels.data() + problem.data.outputs().begin(i);
                          std::int32_t* found = out.data() + at[k];
                          const double truth_score = scores.of(truth);
                          for (std::int64_t t = 0; t < scores.chain.length; ++t) {
                              double* here = &emission[t * L];
                              const double kept = here[truth[t]];
                              for (std::int64_t l = 0; l < L; ++l) here[l] += weight.data()[truth[t]];
                              here[truth[t]] = kept;
                          }
                          violations.data()[k] = decoders[thread].run(scores, found) - truth_score;
                          double loss = 0.0;
                          for (std::int64_t t = 0; t < scores.chain.length; ++t)
                              if (found[t] != truth[t]) loss += weight.data()[truth[t]];
                          losses.data()[k] = loss;
                      });
}

// Sequences drawn with probability P(y | x): `copies` of each chosen example, one after another.
void samples(const SecondOrderChain& problem, Vector<double> w, Vector<std::int64_t> examples, std::int64_t copies,
             Vector<double> uniform, MutableVector<std::int32_t> out, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = problem.data.outputs().gathered(view(examples), copies);
    TripletFactors factors;
    factors.set(problem.data.n_labels, TripletWeights(problem.data, w.data()).scores());
    std::vector<SecondOrderSums> sums(static_cast<std::size_t>(std::max(n_threads, 1)));
    for_each_sequence(problem, w.data(), examples, n_threads,
                      [&](std::int64_t k, std::int64_t, const SecondOrderScores& scores, std::vector<double>&,
                          std::size_t thread) {
                          sums[thread].run(scores, factors);
                          for (std::int64_t copy = 0; copy < copies; ++copy) {
                              const std::int64_t place = at[k] + copy * scores.chain.length;
                              sums[thread].sample(scores, uniform.data() + place, out.data() + place);
                          }
                      });
}

}  // namespace

nb::class_<SecondOrderChain> bind_second_order(nb::module_& module) {
    auto second_order = nb::class_<SecondOrderChain>(module, "SecondOrderChain")
                            .def(nb::init<const Chain&>())
                            .def("best", &best)
                            .def("loss_augmented", &loss_augmented)
                            .def("samples", &samples);
    bind_differences(second_order);
    return second_order;
}

}  // namespace structlearn::bindings
