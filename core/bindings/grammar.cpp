#include "bindings/problems.hpp"
#include "bindings/unlocked.hpp"
#include "grammar/decoding.hpp"

namespace structlearn::bindings {

nb::class_<Grammar> bind_grammar(nb::module_& module) {
    nb::class_<GrammarRules>(module, "GrammarRules")
        .def(
            "__init__",
            [](GrammarRules* place, std::int32_t n_symbols, std::int32_t n_plain, Vector<std::int32_t> label,
               Vector<std::uint8_t> counts, Matrix<std::int32_t> binary, Matrix<std::int32_t> unary,
               Vector<std::int32_t> starts, Vector<std::int32_t> word_begin, Vector<std::int32_t> word_tag, bool lexical,
               std::int32_t n_edges, std::int32_t n_buckets, std::int32_t longest_chain) {
                new (place) GrammarRules(n_symbols, n_plain, view(label), view(counts), view(binary), view(unary),
                                         view(starts), view(word_begin), view(word_tag), lexical, n_edges, n_buckets,
                                         longest_chain);
            },
            nb::arg("n_symbols"), nb::arg("n_plain"), nb::arg("label"), nb::arg("counts"), nb::arg("binary"),
            nb::arg("unary"), nb::arg("starts"), nb::arg("word_begin"), nb::arg("word_tag"), nb::arg("lexical"),
            nb::arg("n_edges"), nb::arg("n_buckets"), nb::arg("longest_chain"))
        .def_prop_ro("n_weights", &GrammarRules::n_weights)
        .def_prop_ro("n_chains", [](const GrammarRules& rules) { return rules.chains.size(); });
    nb::class_<Grammar> grammar(module, "Grammar");
    grammar
        .def(nb::init<const GrammarRules&, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int32_t>,
                      Vector<std::int64_t>, Vector<std::int64_t>, Vector<std::int32_t>>(),
             nb::arg("rules"), nb::arg("offsets"), nb::arg("words"), nb::arg("edges"), nb::arg("tree_offsets"),
             nb::arg("gold_offsets"), nb::arg("gold"))
        .def("best", unlocked_method<Grammar>(&best_trees))
        .def("k_best", unlocked_method<Grammar>(&k_best_trees))
        .def("most_violating", unlocked_method<Grammar>(&most_violating_trees))
        .def("phrase_probabilities", unlocked_method<Grammar>(&phrase_probabilities))
        .def("least_risk", unlocked_method<Grammar>(&least_risk_trees))
        .def("samples", unlocked_method<Grammar>(&tree_samples))
        .def("matches", unlocked_method<Grammar>(&count_matches))
        .def("tree_scores", unlocked_method<Grammar>(&tree_scores))
        .def("differences", unlocked_method<Grammar>(&tree_differences));
    return grammar;
}

}  // namespace structlearn::bindings
