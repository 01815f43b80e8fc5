#include "bindings/structures.hpp"
#include "grammar/losses.hpp"
#include "grammar/rule_marginals.hpp"
#include "grammar/scorer.hpp"

namespace structlearn::bindings {

namespace {

// Sentences and their rules, with the arrays; Python keeps the rules alive.
struct GrammarEngine {
    GrammarEngine(const GrammarRules& rules, Vector<std::int64_t> offsets_, Vector<std::int32_t> words_)
        : offsets(std::move(offsets_)), words(std::move(words_)), shape{&rules, view(offsets), words.data()} {}
    // Rows of known phrases are (begin, end, label), in this order.
    GrammarEngine(const GrammarRules& rules, Vector<std::int64_t> offsets_, Vector<std::int32_t> words_,
                  Matrix<std::int32_t> phrases_, Vector<std::int64_t> known_)
        : offsets(std::move(offsets_)), words(std::move(words_)), known(std::move(known_)) {
        for (std::size_t k = 0; k < phrases_.shape(0); ++k) {
            const std::int32_t* row = view(phrases_).row(k);
            phrases.push_back({row[0], row[1], row[2]});
        }
        shape = {&rules, view(offsets), words.data(), phrases.data(), view(*known)};
    }
    GrammarEngine(const GrammarEngine&) = delete;

    Vector<std::int64_t> offsets;
    Vector<std::int32_t> words;
    std::vector<KnownPhrase> phrases;
    std::optional<Vector<std::int64_t>> known;
    GrammarShape shape;
};

}  // namespace

void bind_grammar(nb::module_& module) {
    nb::class_<GrammarRules>(module, "GrammarRules")
        .def(
            "__init__",
            [](GrammarRules* place, std::int32_t n_symbols, std::int32_t n_plain, Vector<std::int32_t> label,
               Vector<std::uint8_t> counts, Matrix<std::int32_t> binary, Matrix<std::int32_t> unary,
               Vector<std::int32_t> starts, Vector<std::int32_t> word_begin, Vector<std::int32_t> word_tag, bool lexical,
               std::int32_t n_edges, std::int32_t n_buckets, std::int32_t n_columns, std::int32_t longest_chain) {
                new (place) GrammarRules(n_symbols, n_plain, view(label), view(counts), view(binary), view(unary),
                                         view(starts), view(word_begin), view(word_tag), lexical, n_edges, n_buckets,
                                         n_columns, longest_chain);
            },
            nb::arg("n_symbols"), nb::arg("n_plain"), nb::arg("label"), nb::arg("counts"), nb::arg("binary"),
            nb::arg("unary"), nb::arg("starts"), nb::arg("word_begin"), nb::arg("word_tag"), nb::arg("lexical"),
            nb::arg("n_edges"), nb::arg("n_buckets"), nb::arg("n_columns"), nb::arg("longest_chain"))
        .def_prop_ro("n_weights", &GrammarRules::n_weights)
        .def_prop_ro("n_shared", &GrammarRules::spans_at)
        .def_prop_ro("n_chains", [](const GrammarRules& rules) { return rules.chains.size(); });
    nb::class_<GrammarEngine>(module, "GrammarEngine")
        .def(nb::init<const GrammarRules&, Vector<std::int64_t>, Vector<std::int32_t>>(), nb::arg("rules"),
             nb::arg("offsets"), nb::arg("words"), nb::keep_alive<1, 2>())
        .def(nb::init<const GrammarRules&, Vector<std::int64_t>, Vector<std::int32_t>, Matrix<std::int32_t>,
                      Vector<std::int64_t>>(),
             nb::arg("rules"), nb::arg("offsets"), nb::arg("words"), nb::arg("phrases"), nb::arg("known"),
             nb::keep_alive<1, 2>());
    using Bound = BoundProblem<GrammarStructure, GrammarScorer>;
    bind_composed<GrammarStructure, GrammarScorer>(module, "Grammar")
        .def(
            "__init__",
            [](Bound* place, const GrammarEngine& engine, Vector<std::int32_t> edges, Matrix<double> rows) {
                new (place) Bound{{GrammarStructure(engine.shape), GrammarScorer(engine.shape, edges.data(), rows.data())}};
            },
            nb::arg("engine"), nb::arg("edges").noconvert(), nb::arg("rows").noconvert(), nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
        .def("most_violating", unlocked_method<Bound>(&most_violating_trees<Bound::Problem>))
        .def("rule_marginals", unlocked_method<Bound>(&rule_marginals<Bound::Problem>));
    using Given = BoundProblem<GrammarStructure, GivenScorer>;
    bind_engine<GrammarStructure, GivenScorer>(module, "GivenGrammar")
        .def(
            "__init__",
            [](Given* place, const GrammarEngine& engine, const GivenScores& scores) {
                new (place) Given{{GrammarStructure(engine.shape), scores.scorer()}};
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    nb::class_<MissedBrackets, PartLoss>(module, "MissedBrackets")
        .def(
            "__init__",
            [](MissedBrackets* place, const GrammarEngine& engine, Vector<std::int64_t> gold,
               Vector<std::int64_t> offsets, Vector<std::int64_t> counts, double missed) {
                new (place) MissedBrackets(engine.shape, view(gold), view(offsets), view(counts), missed);
            },
            nb::arg(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
    nb::class_<MissedPhrases, PartLoss>(module, "MissedPhrases")
        .def("__init__", [](MissedPhrases* place, const GrammarEngine& engine) { new (place) MissedPhrases(engine.shape); },
             nb::keep_alive<1, 2>());
    nb::class_<MissedPhraseSteps, PartSteps>(module, "MissedPhraseSteps")
        .def(
            "__init__",
            [](MissedPhraseSteps* place, const GrammarEngine& engine, Vector<std::int64_t> widths) {
                new (place) MissedPhraseSteps(engine.shape, view(widths));
            },
            nb::arg(), nb::arg().noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

}  // namespace structlearn::bindings
