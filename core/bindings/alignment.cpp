#include "alignment/decoding.hpp"
#include "bindings/differences.hpp"
#include "bindings/parts.hpp"

namespace structlearn::bindings {

namespace {

// One side of the pairs of a bound Alignment; holding the arrays keeps them alive.
struct AlignmentSide {
    AlignmentSide(Vector<std::int64_t> offsets_, Matrix<std::int32_t> codes_, Matrix<std::int32_t> gaps_,
                  Matrix<std::int32_t> borders_, Matrix<double> dense_)
        : offsets(std::move(offsets_)),
          codes(std::move(codes_)),
          gaps(std::move(gaps_)),
          borders(std::move(borders_)),
          dense(std::move(dense_)) {}

    AlignedSide data() const {
        return {view(offsets), codes.data(), gaps.data(), borders.data(), dense.data(),
                static_cast<std::int64_t>(dense.shape(1))};
    }

    Vector<std::int64_t> offsets;
    Matrix<std::int32_t> codes, gaps, borders;
    Matrix<double> dense;
};

// A bound Alignment.
struct Alignment {
    Alignment(const AlignmentSide& s_, const AlignmentSide& t_, Matrix<std::int64_t> matches_, Matrix<std::int64_t> gaps_,
              std::int64_t dense_at, Vector<double> scale_, int ends)
        : s(s_),
          t(t_),
          matches(match_channels(view(matches_))),
          gaps(gap_channels(view(gaps_))),
          scale(std::move(scale_)),
          order(order_by_codes(s.data(), static_cast<std::int64_t>(s.codes.shape(0)))),
          data{s.data(), t.data(), matches, gaps, dense_at, scale.data(), order.data(), static_cast<Ends>(ends)} {}
    Alignment(const Alignment&) = delete;

    AlignmentSide s, t;
    std::vector<MatchChannel> matches;
    std::vector<GapChannel> gaps;
    Vector<double> scale;
    std::vector<std::int64_t> order;
    AlignmentData data;
};

}  // namespace

void bind_alignment(nb::module_& module) {
    nb::class_<AlignmentSide>(module, "AlignmentSide")
        .def(nb::init<Vector<std::int64_t>, Matrix<std::int32_t>, Matrix<std::int32_t>, Matrix<std::int32_t>,
                      Matrix<double>>(),
             nb::arg("offsets"), nb::arg("codes"), nb::arg("gaps"), nb::arg("borders"), nb::arg("dense"));
    nb::class_<Alignment> alignment(module, "Alignment");
    alignment
        .def(nb::init<const AlignmentSide&, const AlignmentSide&, Matrix<std::int64_t>, Matrix<std::int64_t>,
                      std::int64_t, Vector<double>, int>(),
             nb::arg("s"), nb::arg("t"), nb::arg("matches"), nb::arg("gaps"), nb::arg("dense_at"), nb::arg("scale"),
             nb::arg("ends"))
        .def("best", unlocked_method<Alignment>(&best_alignments), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
             nb::arg(), nb::arg(), nb::arg(), nb::arg())
        .def("most_matches", unlocked_method<Alignment>(&most_matches))
        .def("k_best", unlocked_method<Alignment>(&k_best_alignments))
        .def("samples", unlocked_method<Alignment>(&samples<AlignmentParts, AlignmentData>))
        .def("joint_features", unlocked_method<Alignment>(&alignment_features));
    bind_differences<AlignmentData>(alignment);
    bind_parts<AlignmentParts, AlignmentData>(alignment);
}

}  // namespace structlearn::bindings
