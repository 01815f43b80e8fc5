#include "bindings/tokens.hpp"
#include "bindings/unlocked.hpp"
#include "clustering/agglomeration.hpp"
#include "clustering/differences.hpp"
#include "clustering/spanning_forest.hpp"

namespace structlearn::bindings {

namespace {

// The pairs of several examples; holding the arrays keeps them alive.
struct ItemPairs {
    ItemPairs(const Tokens& features_, Vector<std::int64_t> kind_offsets_, Vector<std::int64_t> pair_offsets_,
              Vector<std::int32_t> first_, Vector<std::int32_t> second_, Vector<std::int64_t> item_offsets_)
        : features(features_),
          kind_offsets(std::move(kind_offsets_)),
          pair_offsets(std::move(pair_offsets_)),
          first(std::move(first_)),
          second(std::move(second_)),
          item_offsets(std::move(item_offsets_)),
          data{features.matrix(), features.n_columns(), view(kind_offsets), view(pair_offsets),
               first.data(),      second.data(),        view(item_offsets)} {}

    Tokens features;
    Vector<std::int64_t> kind_offsets, pair_offsets;
    Vector<std::int32_t> first, second;
    Vector<std::int64_t> item_offsets;
    ItemPairsData data;
};

}  // namespace

void bind_clustering(nb::module_& module) {
    nb::class_<ItemPairs>(module, "ItemPairs")
        .def(nb::init<const Tokens&, Vector<std::int64_t>, Vector<std::int64_t>, Vector<std::int32_t>,
                      Vector<std::int32_t>, Vector<std::int64_t>>(),
             nb::arg("features"), nb::arg("kind_offsets"), nb::arg("pair_offsets"), nb::arg("first"), nb::arg("second"),
             nb::arg("item_offsets"))
        .def("forests", unlocked_method<ItemPairs>(&heaviest_forests), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
             nb::arg(), nb::arg(), nb::arg())
        .def("forests_in_order", unlocked_method<ItemPairs>(&forests_in_order))
        .def("forest_differences", unlocked_method<ItemPairs>(&forest_differences))
        .def("cluster_differences", unlocked_method<ItemPairs>(&cluster_differences))
        .def("agglomerate", unlocked_method<ItemPairs>(&agglomerate), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
             nb::arg(), nb::arg(), nb::arg());
}

}  // namespace structlearn::bindings
