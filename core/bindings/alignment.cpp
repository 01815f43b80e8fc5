#include "alignment/features.hpp"
#include "alignment/losses.hpp"
#include "alignment/scorer.hpp"
#include "alignment/structure.hpp"
#include "bindings/structures.hpp"

namespace structlearn::bindings {

namespace {

// Pairs of lengths, with the arrays.
struct AlignmentEngine {
    AlignmentEngine(Vector<std::int64_t> s_, Vector<std::int64_t> t_, int ends, std::optional<Vector<std::int32_t>> known_)
        : s(std::move(s_)),
          t(std::move(t_)),
          known(std::move(known_)),
          shape{view(s), view(t), static_cast<Ends>(ends), known ? known->data() : nullptr} {}

    Vector<std::int64_t> s, t;
    std::optional<Vector<std::int32_t>> known;
    AlignmentShape shape;
};

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

// What scores pairs of sequences.
struct AlignmentScorerArrays {
    AlignmentScorerArrays(const AlignmentSide& s_, const AlignmentSide& t_, Matrix<std::int64_t> matches_, Matrix<std::int64_t> gaps_,
              std::int64_t dense_at, Vector<double> scale_, const AlignmentEngine& engine, std::int64_t n_weights_)
        : s(s_),
          t(t_),
          matches(match_channels(view(matches_))),
          gaps(gap_channels(view(gaps_))),
          scale(std::move(scale_)),
          order(order_by_codes(s.data(), static_cast<std::int64_t>(s.codes.shape(0)))),
          data{s.data(), t.data(), matches, gaps, dense_at, scale.data(), order.data(), engine.shape},
          n_weights(n_weights_) {}
    AlignmentScorerArrays(const AlignmentScorerArrays&) = delete;

    AlignmentScorer scorer() const { return {data, n_weights}; }

    AlignmentSide s, t;
    std::vector<MatchChannel> matches;
    std::vector<GapChannel> gaps;
    Vector<double> scale;
    std::vector<std::int64_t> order;
    AlignmentData data;
    std::int64_t n_weights;
};

template <class Bound, class Scores>
void make_from(nb::class_<Bound>& problem) {
    problem.def(
        "__init__",
        [](Bound* place, const AlignmentEngine& engine, const Scores& scores) {
            new (place) Bound{{AlignmentStructure(engine.shape), scores.scorer()}};
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

}  // namespace

void bind_alignment(nb::module_& module) {
    nb::class_<AlignmentEngine>(module, "AlignmentEngine")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int64_t>, int, std::optional<Vector<std::int32_t>>>(), nb::arg("s"),
             nb::arg("t"), nb::arg("ends"), nb::arg("known").none() = nb::none());
    nb::class_<AlignmentSide>(module, "AlignmentSide")
        .def(nb::init<Vector<std::int64_t>, Matrix<std::int32_t>, Matrix<std::int32_t>, Matrix<std::int32_t>,
                      Matrix<double>>(),
             nb::arg("offsets"), nb::arg("codes"), nb::arg("gaps"), nb::arg("borders"), nb::arg("dense"));
    nb::class_<AlignmentScorerArrays>(module, "AlignmentScorer")
        .def(nb::init<const AlignmentSide&, const AlignmentSide&, Matrix<std::int64_t>, Matrix<std::int64_t>,
                      std::int64_t, Vector<double>, const AlignmentEngine&, std::int64_t>(),
             nb::arg("s"), nb::arg("t"), nb::arg("matches"), nb::arg("gaps"), nb::arg("dense_at"), nb::arg("scale"),
             nb::arg("engine"), nb::arg("n_weights"), nb::keep_alive<1, 8>())
        .def("joint_features",
             [](const AlignmentScorerArrays& scores, Vector<std::int64_t> examples, Vector<std::int32_t> codes) {
                 return run_unlocked([&] { return alignment_features(scores.data, view(examples), view(codes)); });
             });
    auto alignment = bind_composed<AlignmentStructure, AlignmentScorer>(module, "Alignment");
    make_from<BoundProblem<AlignmentStructure, AlignmentScorer>, AlignmentScorerArrays>(alignment);
    auto given = bind_engine<AlignmentStructure, GivenScorer>(module, "GivenAlignment");
    make_from<BoundProblem<AlignmentStructure, GivenScorer>, GivenScores>(given);
    nb::class_<FoundMatches, PartSteps>(module, "FoundMatches")
        .def(
            "__init__",
            [](FoundMatches* place, Vector<std::int32_t> truths, Vector<std::int64_t> s, Vector<std::int64_t> t,
               std::int64_t shift, bool along_s) {
                new (place) FoundMatches(view(truths), view(s), view(t), shift, along_s);
            },
            nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::arg(),
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
    nb::class_<MissedMatches, PartLoss>(module, "MissedMatches")
        .def(nb::init<const FoundMatches&>(), nb::keep_alive<1, 2>());
}

}  // namespace structlearn::bindings
