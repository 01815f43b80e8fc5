#include "motif/scan.hpp"

#include "batch/parallel.hpp"
#include "bindings/arrays.hpp"

namespace structlearn::bindings {

namespace {

// A bound Motif; holding the arrays keeps them alive.
struct Motif {
    Motif(Vector<std::int64_t> offsets_, Vector<std::int16_t> words_, Vector<std::int16_t> contexts_,
          Vector<std::int64_t> widths_, bool both_strands)
        : offsets(std::move(offsets_)),
          words(std::move(words_)),
          contexts(std::move(contexts_)),
          widths(std::move(widths_)),
          data{view(offsets), words.data(), contexts.data(), view(widths), both_strands} {}
    Motif(const Motif&) = delete;

    Vector<std::int64_t> offsets;
    Vector<std::int16_t> words, contexts;
    Vector<std::int64_t> widths;
    MotifData data;
};

Site site(const std::int32_t* row) { return {row[0], row[1], row[2]}; }

// The best site of each example, a row (width number, strand, start), and its score above that of no site.
void best(const Motif& motif, Vector<double> w, Vector<std::int64_t> examples, MutableVector<std::int32_t> out,
          MutableVector<double> scores, int n_threads) {
    nb::gil_scoped_release unlocked;
    const MotifScan scan(motif.data, w.data());
    std::vector<std::vector<double>> scratch(static_cast<std::size_t>(std::max(n_threads, 1)));
    parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int thread) {
        const auto [found, score] = scan.best(examples.data()[k], scratch[static_cast<std::size_t>(thread)]);
        std::int32_t* row = out.data() + 3 * k;
        row[0] = found.width, row[1] = found.strand, row[2] = found.start;
        scores.data()[k] = score;
    });
}

// Ψ(x_i, left) − Ψ(x_i, right), outputs as rows (width number, strand, start).
nb::tuple between(const Motif& motif, Vector<std::int64_t> examples, Matrix<std::int32_t> left, Matrix<std::int32_t> right) {
    CsrRows rows;
    {
        nb::gil_scoped_release unlocked;
        RowBuilder row;
        for (std::size_t k = 0; k < examples.shape(0); ++k) {
            row.clear();
            motif.data.features(examples.data()[k], site(left.data() + 3 * k), 1.0, row);
            motif.data.features(examples.data()[k], site(right.data() + 3 * k), -1.0, row);
            row.sort();
            rows.append(row);
        }
    }
    return to_numpy(std::move(rows));
}

}  // namespace

void bind_motif(nb::module_& module) {
    nb::class_<Motif>(module, "Motif")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int16_t>, Vector<std::int16_t>, Vector<std::int64_t>, bool>(),
             nb::arg("offsets"), nb::arg("words"), nb::arg("contexts"), nb::arg("widths"), nb::arg("both_strands"))
        .def("best", &best)
        .def("between", &between);
}

}  // namespace structlearn::bindings
