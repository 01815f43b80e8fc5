#include "bindings/structures.hpp"

namespace structlearn::bindings {

void bind_scorers(nb::module_& module) {
    nb::class_<Tokens>(module, "Tokens")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, std::variant<Vector<double>, Vector<float>>,
                      std::int64_t>());
    nb::class_<PairLayout>(module, "PairLayout")
        .def(nb::init<std::int64_t, std::int64_t>(), nb::arg("first"), nb::arg("n_rows"))
        .def("__init__",
             [](PairLayout* layout, std::int64_t first, Vector<std::int64_t> indptr, Vector<std::int32_t> parts) {
                 new (layout) PairLayout(first, view(indptr), view(parts));
             })
        .def_prop_ro("n_weights", &PairLayout::n_weights)
        .def_prop_ro("nbytes", &PairLayout::nbytes)
        .def("fill_rows",
             [](PairLayout& layout, Vector<std::int64_t> rows, std::int64_t width) {
                 for (const std::int64_t row : view(rows)) layout.fill_row(row, width);
             })
        .def("reserve_rows",
             [](PairLayout& layout, Vector<std::int64_t> rows, Vector<std::int64_t> capacities) {
                 for (std::size_t k = 0; k < rows.shape(0); ++k) layout.reserve_row(rows.data()[k], capacities.data()[k]);
             })
        .def("pairs",
             [](const PairLayout& layout) {
                 std::vector<std::int64_t> rows, indices;
                 std::vector<std::int32_t> parts;
                 layout.each([&](std::int64_t row, std::int32_t part, std::int64_t index) {
                     rows.push_back(row), parts.push_back(part), indices.push_back(index);
                 });
                 return to_numpy(std::tuple(std::move(rows), std::move(parts), std::move(indices)));
             })
        .def("save",
             [](const PairLayout& layout) {
                 PairLayout::Written written = layout.write();
                 return nb::make_tuple(to_numpy(std::move(written.slices)), to_numpy(std::move(written.parts)), written.reserved);
             })
        .def("restore", [](PairLayout& layout, Vector<std::int64_t> slices, Vector<std::int32_t> parts, std::int64_t reserved,
                           std::int64_t width) { return layout.read(view(slices), view(parts), reserved, width); });
    nb::class_<TokenScorerArrays>(module, "TokenScorer")
        .def(nb::init<const std::vector<Vector<std::int64_t>>&, const std::vector<Tokens>&, Matrix<std::int64_t>, Vector<std::int64_t>,
                      Vector<std::int64_t>, Vector<double>, std::optional<Vector<std::uint8_t>>, std::optional<Matrix<double>>,
                      std::int64_t, PairLayout*>(),
             nb::arg("offsets"), nb::arg("tokens"), nb::arg("blocks"), nb::arg("tied_at"), nb::arg("tied_sizes"),
             nb::arg("tied_factors"), nb::arg("kept").none(), nb::arg("output_features").none(), nb::arg("n_weights"),
             nb::arg("layout").none(), nb::keep_alive<1, 11>())
        .def("touch", [](TokenScorerArrays& scores, Vector<std::int64_t> examples, Vector<std::int32_t> moves,
                         Vector<std::int64_t> offsets) {
            run_unlocked([&] {
                const TokenScorer scorer = scores.scorer();
                for (std::size_t k = 0; k < examples.shape(0); ++k)
                    for (std::int64_t j = offsets.data()[k]; j < offsets.data()[k + 1]; ++j)
                        scorer.touch(examples.data()[k], moves.data()[j]);
            });
        });
    nb::class_<GivenScores>(module, "GivenScores")
        .def(nb::init<std::int64_t, Vector<std::int64_t>>(), nb::arg("n_shared"), nb::arg("offsets"));
}

}  // namespace structlearn::bindings
