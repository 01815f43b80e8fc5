#include "alignment/best.hpp"
#include "alignment/k_best.hpp"
#include "alignment/parts.hpp"

#include "bindings/differences.hpp"
#include "bindings/problems.hpp"

namespace structlearn::bindings {

namespace {

// What a thread needs to score and decode pairs.
struct Worker {
    Worker(const AlignmentData& data, std::int64_t k) : parts(data), k_best(k) {}

    // θ = A w of pair i.
    double* scores(std::int64_t i, const double* w) {
        theta.resize(static_cast<std::size_t>(parts.size(i)));
        parts.scores(i, w, theta.data());
        return theta.data();
    }

    AlignmentParts parts;
    BestAlignment best;
    BestAlignments k_best;
    AlignmentSums sums;
    std::vector<double> theta;
};

// Runs work(k, i, worker) for every chosen example i = examples[k].
template <class Work>
void for_each_pair(const Alignment& problem, const Vector<std::int64_t>& examples, int n_threads, std::int64_t width,
                   Work&& work) {
    std::vector<Worker> workers(static_cast<std::size_t>(std::max(n_threads, 1)), Worker(problem.data, width));
    parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int thread) {
        work(k, examples.data()[k], workers[static_cast<std::size_t>(thread)]);
    });
}

// argmax F of each example, and the score; with `truth` argmax F + Δ, where Δ is the share of the true matches that have
// no match within the shift, counted along t for the same letter of s, or, if `along_s`, along s for the same letter of t.
void best(const Alignment& problem, Vector<double> w, Vector<std::int64_t> examples,
          std::optional<Vector<std::int32_t>> truth, std::int64_t shift, bool along_s, MutableVector<std::int32_t> out,
          MutableVector<double> scores, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = problem.data.outputs().gathered(view(examples));
    for_each_pair(problem, examples, n_threads, 1, [&](std::int64_t k, std::int64_t i, Worker& worker) {
        const std::int64_t m = problem.data.s.length(i), n = problem.data.t.length(i);
        double constant = 0.0;
        AlignmentScores read;
        if (truth) {
            double* theta = worker.scores(i, w.data());
            const std::int32_t* codes = truth->data() + problem.data.outputs().begin(i);
            const auto count = std::count_if(codes, codes + m, [](std::int32_t code) { return code >= 0; });
            const double share = 1.0 / static_cast<double>(std::max<std::int64_t>(count, 1));
            constant = count > 0 ? 1.0 : 0.0;
            for (std::int64_t u = 0; u < m; ++u) {
                if (codes[u] < 0) continue;
                const std::int64_t middle = along_s ? u : codes[u];
                const std::int64_t last = std::min(middle + shift, (along_s ? m : n) - 1);
                for (std::int64_t v = std::max<std::int64_t>(middle - shift, 0); v <= last; ++v)
                    theta[along_s ? v * n + codes[u] : u * n + v] -= share;
            }
            read = worker.parts.read(i, theta);
        } else {
            worker.theta.resize(static_cast<std::size_t>(worker.parts.size(i)));
            read = worker.parts.scores_to_decode(i, w.data(), worker.theta.data());
        }
        worker.best.run(read);
        worker.best.trace(out.data() + at[static_cast<std::size_t>(k)]);
        scores.data()[k] = worker.best.score() + constant;
    });
}

// The best alignment where matches score what is given, one pair after another, and gaps nothing: with the probabilities
// of matches, the alignment that has most of them right in expectation.
void most_matches(const Alignment& problem, Vector<double> match, Vector<std::int64_t> examples,
                  MutableVector<std::int32_t> out, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = problem.data.outputs().gathered(view(examples));
    const auto begin = offsets_of(
        view(examples), [&](std::int64_t i) { return problem.data.s.length(i) * problem.data.t.length(i); });
    for_each_pair(problem, examples, n_threads, 1, [&](std::int64_t k, std::int64_t i, Worker& worker) {
        worker.theta.assign(static_cast<std::size_t>(worker.parts.size(i)), 0.0);
        std::copy(match.data() + begin[static_cast<std::size_t>(k)], match.data() + begin[static_cast<std::size_t>(k) + 1],
                  worker.theta.begin());
        worker.best.run(worker.parts.read(i, worker.theta.data()));
        worker.best.trace(out.data() + at[static_cast<std::size_t>(k)]);
    });
}

// The k best alignments of each example, one after another, their scores and how many there are.
void k_best(const Alignment& problem, Vector<double> w, Vector<std::int64_t> examples, std::int64_t width,
            MutableVector<std::int32_t> out, MutableVector<double> scores, MutableVector<std::int64_t> counts,
            int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = problem.data.outputs().gathered(view(examples), width);
    for_each_pair(problem, examples, n_threads, width, [&](std::int64_t k, std::int64_t i, Worker& worker) {
        const AlignmentScores read = worker.parts.read(i, worker.scores(i, w.data()));
        counts.data()[k] = worker.k_best.run(read);
        for (std::int64_t rank = 0; rank < counts.data()[k]; ++rank) {
            worker.k_best.trace(read, rank, out.data() + at[static_cast<std::size_t>(k)] + rank * read.m);
            scores.data()[k * width + rank] = worker.k_best.score(rank);
        }
    });
}

// Alignments drawn with probability P(y | x): `copies` of each chosen example, one after another; m + n + 1 uniform
// numbers each.
void samples(const Alignment& problem, Vector<double> w, Vector<std::int64_t> examples, std::int64_t copies,
             Vector<double> uniform, MutableVector<std::int32_t> out, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = problem.data.outputs().gathered(view(examples), copies);
    const auto begin = offsets_of(view(examples), [&](std::int64_t i) {
        return copies * (problem.data.s.length(i) + problem.data.t.length(i) + 1);
    });
    for_each_pair(problem, examples, n_threads, 1, [&](std::int64_t k, std::int64_t i, Worker& worker) {
        const AlignmentScores read = worker.parts.read(i, worker.scores(i, w.data()));
        worker.sums.run(read);
        for (std::int64_t copy = 0; copy < copies; ++copy)
            worker.sums.sample(read, uniform.data() + begin[static_cast<std::size_t>(k)] + copy * (read.m + read.n + 1),
                               out.data() + at[static_cast<std::size_t>(k)] + copy * read.m);
    });
}

// Ψ(x_i, y) of the chosen examples, with the codes of one alignment each, one after another.
nb::tuple joint_features(const Alignment& problem, Vector<std::int64_t> examples, Vector<std::int32_t> codes) {
    CsrRows rows;
    {
        nb::gil_scoped_release unlocked;
        const auto at = problem.data.outputs().gathered(view(examples));
        RowBuilder row;
        for (std::size_t k = 0; k < examples.shape(0); ++k) {
            std::vector<double> dense(static_cast<std::size_t>(problem.data.s.n_dense * problem.data.t.n_dense), 0.0);
            row.clear();
            features(problem.data, examples.data()[k], codes.data() + at[k], nullptr, 1.0, dense, row);
            for (std::size_t j = 0; j < dense.size(); ++j)
                if (dense[j] != 0.0) row(problem.data.dense_at + static_cast<std::int64_t>(j), dense[j]);
            row.sort();
            rows.append(row);
        }
    }
    return to_numpy(std::move(rows));
}

}  // namespace

nb::class_<Alignment> bind_alignment(nb::module_& module) {
    nb::class_<AlignmentSide>(module, "AlignmentSide")
        .def(nb::init<Vector<std::int64_t>, Matrix<std::int32_t>, Matrix<std::int32_t>, Matrix<std::int32_t>,
                      Matrix<double>>(),
             nb::arg("offsets"), nb::arg("codes"), nb::arg("gaps"), nb::arg("borders"), nb::arg("dense"));
    auto alignment =
        nb::class_<Alignment>(module, "Alignment")
            .def(nb::init<const AlignmentSide&, const AlignmentSide&, Matrix<std::int64_t>, Matrix<std::int64_t>,
                          std::int64_t, Vector<double>, int>(),
                 nb::arg("s"), nb::arg("t"), nb::arg("matches"), nb::arg("gaps"), nb::arg("dense_at"),
                 nb::arg("scale"), nb::arg("ends"))
            .def("best", &best, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
                 nb::arg())
            .def("most_matches", &most_matches)
            .def("k_best", &k_best)
            .def("samples", &samples)
            .def("joint_features", &joint_features);
    bind_differences(alignment);
    return alignment;
}

}  // namespace structlearn::bindings
