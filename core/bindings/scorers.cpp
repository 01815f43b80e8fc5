#include "bindings/structures.hpp"

namespace structlearn::bindings {

void bind_scorers(nb::module_& module) {
    nb::class_<Tokens>(module, "Tokens")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, std::variant<Vector<double>, Vector<float>>,
                      std::int64_t>());
    nb::class_<TokenScorerArrays>(module, "TokenScorer")
        .def(nb::init<Vector<std::int64_t>, const std::vector<Tokens>&, Matrix<std::int64_t>, Vector<std::int64_t>,
                      Vector<std::int64_t>, Vector<double>, std::optional<Vector<std::uint8_t>>, std::optional<Matrix<double>>,
                      std::int64_t>(),
             nb::arg("offsets"), nb::arg("tokens"), nb::arg("blocks"), nb::arg("tied_at"), nb::arg("tied_sizes"),
             nb::arg("tied_factors"), nb::arg("kept").none(), nb::arg("output_features").none(), nb::arg("n_weights"));
    nb::class_<GivenScores>(module, "GivenScores")
        .def(nb::init<std::int64_t, Vector<std::int64_t>>(), nb::arg("n_shared"), nb::arg("offsets"));
}

}  // namespace structlearn::bindings
