#include "bindings/tokens.hpp"
#include "bindings/unlocked.hpp"
#include "clustering/agglomeration.hpp"
#include "clustering/scorer.hpp"
#include "clustering/spanning_forest.hpp"

namespace structlearn::bindings {

namespace {

// The pairs of several examples; holding the arrays keeps them alive.
struct BoundKinds {
    BoundKinds(Vector<std::int64_t> kind_offsets_, Vector<std::int64_t> pair_offsets_, Vector<std::int32_t> first_,
               Vector<std::int32_t> second_, Vector<std::int64_t> item_offsets_)
        : kind_offsets(std::move(kind_offsets_)),
          pair_offsets(std::move(pair_offsets_)),
          first(std::move(first_)),
          second(std::move(second_)),
          item_offsets(std::move(item_offsets_)),
          data{view(kind_offsets), view(pair_offsets), first.data(), second.data(), view(item_offsets)} {}

    Vector<std::int64_t> kind_offsets, pair_offsets;
    Vector<std::int32_t> first, second;
    Vector<std::int64_t> item_offsets;
    PairKinds data;
};

// The same with their features.
struct BoundScorer {
    BoundScorer(const BoundKinds& pairs_, const Tokens& features_)
        : pairs(pairs_), features(features_), data{pairs.data, features.matrix(), features.n_columns()} {}

    BoundKinds pairs;
    Tokens features;
    PairScorer data;
};

}  // namespace

void bind_clustering(nb::module_& module) {
    nb::class_<BoundKinds>(module, "PairKinds")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int32_t>,
                      Vector<std::int64_t>>(),
             nb::arg("kind_offsets"), nb::arg("pair_offsets"), nb::arg("first"), nb::arg("second"),
             nb::arg("item_offsets"))
        .def("forests", unlocked_method<BoundKinds>(&heaviest_forests), nb::arg(), nb::arg(), nb::arg().none(),
             nb::arg(), nb::arg(), nb::arg(), nb::arg())
        .def("forests_in_order", unlocked_method<BoundKinds>(&forests_in_order))
        .def("agglomerate", unlocked_method<BoundKinds>(&agglomerate), nb::arg(), nb::arg(), nb::arg().none(),
             nb::arg(), nb::arg(), nb::arg(), nb::arg());
    nb::class_<BoundScorer>(module, "PairScorer")
        .def(nb::init<const BoundKinds&, const Tokens&>(), nb::arg("pairs"), nb::arg("features"))
        .def("scores", unlocked_method<BoundScorer>(&kind_scores))
        .def("forest_differences", unlocked_method<BoundScorer>(&forest_differences))
        .def("cluster_differences", unlocked_method<BoundScorer>(&cluster_differences));
}

}  // namespace structlearn::bindings
