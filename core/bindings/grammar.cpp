#include <random>
#include <tuple>

#include "grammar/k_best.hpp"
#include "grammar/levels.hpp"
#include "grammar/parts.hpp"
#include "batch/parallel.hpp"
#include "bindings/problems.hpp"

namespace structlearn::bindings {

namespace {

using Codes = std::vector<std::int32_t>;
using Trees = std::vector<Codes>;

// What a thread needs to decode sentences.
struct Worker {
    explicit Worker(const GrammarData& data_) : data(&data_), scores(data_) {}

    double best(std::int64_t i, const double* extra) {
        scores.set_sentence(i, extra);
        return chart.run(scores);
    }
    // For each cell and label of sentence i, whether there is such a true bracket.
    void read_gold(std::int64_t i) {
        const std::int64_t n = data->length(i), L = data->rules->n_labels;
        gold.assign(static_cast<std::size_t>((n + 1) * (n + 1) * L), 0);
        for (std::int64_t g = data->brackets.begin(i); g < data->brackets.end(i); ++g) {
            const std::int32_t* bracket = data->gold + 3 * g;
            if (bracket[0] >= 0) gold[(bracket[1] * (n + 1) + bracket[2]) * L + bracket[0]] = 1;
        }
    }
    // Numbers of matching and of all brackets of a tree, after `read_gold`.
    std::pair<std::int64_t, std::int64_t> match(std::int64_t i, std::span<const std::int32_t> codes) const {
        const std::int64_t n = data->length(i), L = data->rules->n_labels;
        std::pair<std::int64_t, std::int64_t> result{0, 0};
        walk_tree(*data->rules, codes, [&](std::int32_t label, std::int64_t begin, std::int64_t end) {
            if (!data->rules->counts[label]) return;
            result.first += gold[(begin * (n + 1) + end) * L + label];
            ++result.second;
        });
        return result;
    }

    const GrammarData* data;
    GrammarScores scores;
    Chart<false> chart;
    Descent<false> through;
    BestTrees trees;
    BestPerLevel levels;
    Chart<true> sums;
    Descent<true> expected;
    TreeSampler sampler;
    std::vector<std::uint8_t> gold;
    std::vector<double> extra;
};

// Runs work(k, i, worker) for every chosen sentence i = examples[k].
template <class Work>
void for_each_sentence(const Grammar& problem, const double* w, const Vector<std::int64_t>& examples, int n_threads,
                       Work&& work) {
    Worker prepared(problem.data);
    if (w) prepared.scores.set_weights(w);
    std::vector<Worker> workers(static_cast<std::size_t>(std::max(n_threads, 1)), prepared);
    parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int thread) {
        work(k, examples.data()[k], workers[static_cast<std::size_t>(thread)]);
    });
}

// The best tree of each sentence, of no codes where there is none. With a loss, of the score plus the number of missed
// and spurious brackets.
nb::tuple best(const Grammar& problem, Vector<double> w, Vector<std::int64_t> examples, bool loss, int n_threads) {
    Trees trees(examples.shape(0));
    {
        nb::gil_scoped_release unlocked;
        for_each_sentence(problem, w.data(), examples, n_threads, [&](std::int64_t k, std::int64_t i, Worker& worker) {
            if (loss) {
                worker.read_gold(i);
                worker.extra.resize(worker.gold.size());
                const auto L = static_cast<std::size_t>(problem.rules.n_labels);
                for (std::size_t c = 0; c < worker.extra.size(); ++c)
                    worker.extra[c] = problem.rules.counts[c % L] ? 1.0 - 2.0 * worker.gold[c] : 0.0;
            }
            worker.best(i, loss ? worker.extra.data() : nullptr);
            worker.chart.trace(worker.scores, trees[k]);
        });
    }
    return to_numpy(RaggedArray(trees));
}

// The k best trees of each sentence, how many there are, and their scores.
nb::tuple k_best(const Grammar& problem, Vector<double> w, Vector<std::int64_t> examples, std::int64_t count,
                 int n_threads) {
    std::vector<Trees> found(examples.shape(0));
    std::vector<std::vector<double>> values(examples.shape(0));
    {
        nb::gil_scoped_release unlocked;
        for_each_sentence(problem, w.data(), examples, n_threads, [&](std::int64_t k, std::int64_t i, Worker& worker) {
            worker.best(i, nullptr);
            worker.trees.run(worker.chart, worker.scores, count, found[k], values[k]);
        });
    }
    Trees trees;
    std::vector<double> scores;
    std::vector<std::int64_t> counts;
    for (std::size_t k = 0; k < found.size(); ++k) {
        counts.push_back(static_cast<std::int64_t>(found[k].size()));
        trees.insert(trees.end(), found[k].begin(), found[k].end());
        scores.insert(scores.end(), values[k].begin(), values[k].end());
    }
    return nb::make_tuple(to_numpy(RaggedArray(trees)), to_numpy(std::move(counts)), to_numpy(std::move(scores)));
}

// The tree of each sentence that violates most, or the truth where none does; see BestPerLevel.
nb::tuple most_violating(const Grammar& problem, Vector<double> w, Vector<std::int64_t> examples,
                         Vector<std::int32_t> truths, bool f1, bool slack, bool squared, int n_threads) {
    Trees trees(examples.shape(0));
    {
        nb::gil_scoped_release unlocked;
        for_each_sentence(problem, w.data(), examples, n_threads, [&](std::int64_t k, std::int64_t i, Worker& worker) {
            const GrammarData& data = problem.data;
            const std::span<const std::int32_t> truth= data.trees.of(view(truths), i);
            const BracketLoss loss{f1, slack, squared, data.brackets.size(i)};
            const double true_score = tree_score(data, i, truth, w.data());
            worker.read_gold(i);
            const double top = worker.best(i, nullptr);
            auto nothing = [](auto&&...) {};
            worker.through.run(worker.chart, worker.scores, nothing, nothing);
            Codes best;
            worker.chart.trace(worker.scores, best);
            const auto [m, t] = worker.match(i, best);
            const double known = loss.violation(m, t, true_score - top);
            worker.levels.run(worker.chart, worker.through, worker.scores, loss, worker.gold.data(), true_score, known,
                              trees[k]);
            if (trees[k].empty()) trees[k].assign(truth.begin(), truth.end());
        });
    }
    return to_numpy(RaggedArray(trees));
}

// The expected number of phrases of each label in every cell, (length + 1, length + 1, n_labels).
void expected_phrases(Worker& worker, std::int64_t i, double* out) {
    const std::int64_t n = worker.data->length(i), L = worker.data->rules->n_labels;
    std::fill_n(out, (n + 1) * (n + 1) * L, 0.0);
    worker.scores.set_sentence(i, nullptr);
    if (worker.sums.run(worker.scores) == no_tree) return;
    worker.expected.run(
        worker.sums, worker.scores, [](auto&&...) {},
        [&](std::int32_t label, std::int64_t begin, std::int64_t end, double value) {
            out[(begin * (n + 1) + end) * L + label] += value;
        });
}

void phrase_probabilities(const Grammar& problem, Vector<double> w, Vector<std::int64_t> examples,
                          MutableVector<double> out, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = offsets_of(view(examples), [&](std::int64_t i) {
        const std::int64_t n = problem.data.length(i) + 1;
        return n * n * problem.rules.n_labels;
    });
    for_each_sentence(problem, w.data(), examples, n_threads, [&](std::int64_t k, std::int64_t i, Worker& worker) {
        expected_phrases(worker, i, out.data() + at[k]);
    });
}

// The tree of the grammar with the fewest missed and spurious brackets in expectation: Σ 2 P(bracket) − 1 is largest.
nb::tuple least_risk(const Grammar& problem, Vector<double> w, Vector<std::int64_t> examples, int n_threads) {
    Trees trees(examples.shape(0));
    {
        nb::gil_scoped_release unlocked;
        const std::vector<double> zeros(static_cast<std::size_t>(problem.rules.n_weights()), 0.0);
        for_each_sentence(problem, w.data(), examples, n_threads, [&](std::int64_t k, std::int64_t i, Worker& worker) {
            const std::int64_t n = problem.data.length(i) + 1;
            worker.extra.resize(static_cast<std::size_t>(n * n * problem.rules.n_labels));
            expected_phrases(worker, i, worker.extra.data());
            const auto L = static_cast<std::size_t>(problem.rules.n_labels);
            for (std::size_t c = 0; c < worker.extra.size(); ++c)
                worker.extra[c] = problem.rules.counts[c % L] ? 2.0 * worker.extra[c] - 1.0 : 0.0;
            GrammarScores plain(problem.data);
            plain.set_weights(zeros.data());
            plain.set_sentence(i, worker.extra.data());
            worker.chart.run(plain);
            worker.chart.trace(plain, trees[k]);
        });
    }
    return to_numpy(RaggedArray(trees));
}

// Trees drawn with probability P(y | x), `copies` of each chosen sentence; a seed for each of them.
nb::tuple samples(const Grammar& problem, Vector<double> w, Vector<std::int64_t> examples, std::int64_t copies,
                  Vector<std::int64_t> seeds, int n_threads) {
    Trees trees(examples.shape(0) * static_cast<std::size_t>(copies));
    {
        nb::gil_scoped_release unlocked;
        for_each_sentence(problem, w.data(), examples, n_threads, [&](std::int64_t k, std::int64_t i, Worker& worker) {
            worker.scores.set_sentence(i, nullptr);
            worker.sums.run(worker.scores);
            for (std::int64_t copy = 0; copy < copies; ++copy) {
                std::mt19937_64 random(static_cast<std::uint64_t>(seeds.data()[k * copies + copy]));
                auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
                worker.sampler.run(worker.sums, worker.scores, uniform, trees[k * copies + copy]);
            }
        });
    }
    return to_numpy(RaggedArray(trees));
}

// Of trees, one for each entry of `examples`: the numbers of matching and of all brackets.
void matches(const Grammar& problem, Vector<std::int64_t> examples, Vector<std::int32_t> codes,
             Vector<std::int64_t> offsets, MutableVector<std::int64_t> matching, MutableVector<std::int64_t> all) {
    nb::gil_scoped_release unlocked;
    Worker worker(problem.data);
    for (std::size_t k = 0; k < examples.shape(0); ++k) {
        worker.read_gold(examples.data()[k]);
        const auto tree = Ragged(view(offsets)).of(view(codes), static_cast<std::int64_t>(k));
        std::tie(matching.data()[k], all.data()[k]) = worker.match(examples.data()[k], tree);
    }
}

// ⟨w, Ψ(x_i, y)⟩ of trees y, one for each entry of `examples`.
void tree_scores(const Grammar& problem, Vector<double> w, Vector<std::int64_t> examples, Vector<std::int32_t> codes,
                 Vector<std::int64_t> offsets, MutableVector<double> out) {
    nb::gil_scoped_release unlocked;
    for (std::size_t k = 0; k < examples.shape(0); ++k)
        out.data()[k] = tree_score(problem.data, examples.data()[k],
                                   Ragged(view(offsets)).of(view(codes), static_cast<std::int64_t>(k)), w.data());
}

// Rows Ψ(x_i, y_i) − Ψ(x_i, ŷ), for trees ŷ, one for each entry of `examples`.
nb::tuple differences(const Grammar& problem, Vector<std::int64_t> examples, Vector<std::int32_t> truths,
                      Vector<std::int32_t> codes, Vector<std::int64_t> offsets) {
    CsrRows rows;
    {
        nb::gil_scoped_release unlocked;
        RowBuilder row;
        for (std::size_t k = 0; k < examples.shape(0); ++k) {
            const std::int64_t i = examples.data()[k];
            row.clear();
            each_tree_feature(problem.data, i, problem.data.trees.of(view(truths), i),
                              [&](std::int64_t f) { row(f, 1.0); });
            each_tree_feature(problem.data, i, Ragged(view(offsets)).of(view(codes), static_cast<std::int64_t>(k)),
                              [&](std::int64_t f) { row(f, -1.0); });
            row.sort();
            rows.append(row);
        }
    }
    return to_numpy(std::move(rows));
}

}  // namespace

nb::class_<Grammar> bind_grammar(nb::module_& module) {
    nb::class_<Rules>(module, "GrammarRules")
        .def(nb::init<std::int32_t, std::int32_t, Vector<std::int32_t>, Vector<std::uint8_t>, Matrix<std::int32_t>,
                      Matrix<std::int32_t>, Vector<std::int32_t>, Vector<std::int32_t>, Vector<std::int32_t>, bool,
                      std::int32_t, std::int32_t, std::int32_t>(),
             nb::arg("n_symbols"), nb::arg("n_plain"), nb::arg("label"), nb::arg("counts"), nb::arg("binary"),
             nb::arg("unary"), nb::arg("starts"), nb::arg("word_begin"), nb::arg("word_tag"), nb::arg("lexical"),
             nb::arg("n_edges"), nb::arg("n_buckets"), nb::arg("longest_chain"))
        .def_prop_ro("n_weights", [](const Rules& self) { return self.rules.n_weights(); })
        .def_prop_ro("n_chains", [](const Rules& self) { return self.rules.chains.size(); });
    return nb::class_<Grammar>(module, "Grammar")
        .def(nb::init<const Rules&, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int32_t>,
                      Vector<std::int64_t>, Vector<std::int64_t>, Vector<std::int32_t>>(),
             nb::arg("rules"), nb::arg("offsets"), nb::arg("words"), nb::arg("edges"), nb::arg("tree_offsets"),
             nb::arg("gold_offsets"), nb::arg("gold"))
        .def("best", &best)
        .def("k_best", &k_best)
        .def("most_violating", &most_violating)
        .def("phrase_probabilities", &phrase_probabilities)
        .def("least_risk", &least_risk)
        .def("samples", &samples)
        .def("matches", &matches)
        .def("tree_scores", &tree_scores)
        .def("differences", &differences);
}

}  // namespace structlearn::bindings
