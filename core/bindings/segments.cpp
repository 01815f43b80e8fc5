#include "segments/parts.hpp"
#include "segments/viterbi.hpp"

#include "bindings/differences.hpp"
#include "bindings/problems.hpp"

namespace structlearn::bindings {

namespace {

// What a thread needs to score and decode sequences.
struct Worker {
    explicit Worker(const SegmentData& data) : parts(data) {}

    // θ = A w of sequence i.
    double* scores(std::int64_t i, const double* w) {
        theta.resize(static_cast<std::size_t>(parts.size(i)));
        parts.scores(i, w, theta.data());
        return theta.data();
    }

    SegmentParts parts;
    BestSegments decoder;
    SegmentSums sums;
    TrueSegments truth;
    std::vector<double> theta;
};

// Runs work(k, i, worker) for every chosen example i = examples[k].
template <class Work>
void for_each_sequence(const Segments& problem, const Vector<std::int64_t>& examples, int n_threads, Work&& work) {
    std::vector<Worker> workers(static_cast<std::size_t>(std::max(n_threads, 1)), Worker(problem.data));
    parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int thread) {
        work(k, examples.data()[k], workers[static_cast<std::size_t>(thread)]);
    });
}

void best(const Segments& problem, Vector<double> w, Vector<std::int64_t> examples, MutableVector<std::int32_t> out,
          int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = problem.data.outputs().gathered(view(examples));
    for_each_sequence(problem, examples, n_threads, [&](std::int64_t k, std::int64_t i, Worker& worker) {
        const SegmentScores scores = worker.parts.read(i, worker.scores(i, w.data()));
        worker.decoder.run(scores, nullptr, out.data() + at[k]);
    });
}

// argmax Δ + F of each example, with Δ the number of tokens whose label is wrong (hamming), or of segments that are
// only in one of truth and output.
void loss_augmented(const Segments& problem, Vector<double> w, Vector<std::int64_t> examples,
                    Vector<std::int32_t> codes, bool hamming, MutableVector<std::int32_t> out, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = problem.data.outputs().gathered(view(examples));
    const std::int64_t L = problem.data.n_labels;
    for_each_sequence(problem, examples, n_threads, [&](std::int64_t k, std::int64_t i, Worker& worker) {
        const std::int32_t* truth = codes.data() + problem.data.tokens.begin(i);
        const std::int64_t length = problem.data.length(i);
        double* theta = worker.scores(i, w.data());
        for (std::int64_t t = 0; hamming && t < length; ++t)
            for (std::int64_t l = 0; l < L; ++l) theta[t * L + l] += truth[t] >= 0 && truth[t] % L == l ? 0.0 : 1.0;
        if (!hamming) worker.truth.set(length, L, truth);
        worker.decoder.run(worker.parts.read(i, theta, hamming ? 0.0 : 1.0), hamming ? nullptr : &worker.truth,
                           out.data() + at[k]);
    });
}

// Segmentations drawn with probability P(y | x): `copies` of each chosen example, one after another; two uniform
// numbers a token.
void samples(const Segments& problem, Vector<double> w, Vector<std::int64_t> examples, std::int64_t copies,
             Vector<double> uniform, MutableVector<std::int32_t> out, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = problem.data.outputs().gathered(view(examples), copies);
    for_each_sequence(problem, examples, n_threads, [&](std::int64_t k, std::int64_t i, Worker& worker) {
        const SegmentScores scores = worker.parts.read(i, worker.scores(i, w.data()));
        worker.sums.run(scores);
        for (std::int64_t copy = 0; copy < copies; ++copy) {
            const std::int64_t place = at[k] + copy * scores.length;
            worker.sums.sample(scores, uniform.data() + 2 * place, out.data() + place);
        }
    });
}

}  // namespace

nb::class_<Segments> bind_segments(nb::module_& module) {
    auto segments = nb::class_<Segments>(module, "Segments")
                        .def(nb::init<const Tokens&, Vector<std::int64_t>, std::int64_t, std::int64_t, bool, bool>(),
                             nb::arg("tokens"), nb::arg("offsets"), nb::arg("n_labels"), nb::arg("max_length"),
                             nb::arg("lengths"), nb::arg("ends"))
                        .def("best", &best)
                        .def("loss_augmented", &loss_augmented)
                        .def("samples", &samples);
    bind_differences(segments);
    return segments;
}

}  // namespace structlearn::bindings
