#include "clustering/agglomeration.hpp"
#include "clustering/spanning_forest.hpp"

#include "batch/parallel.hpp"
#include "bindings/problems.hpp"

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
          data{features.matrix(), view(kind_offsets), view(pair_offsets), first.data(), second.data(), view(item_offsets)} {}

    Tokens features;
    Vector<std::int64_t> kind_offsets, pair_offsets;
    Vector<std::int32_t> first, second;
    Vector<std::int64_t> item_offsets;
    ItemPairsData data;
};

// The labels of an example's items, or null.
const std::int32_t* of_example(const std::optional<Vector<std::int32_t>>& labels, const ItemPairsData& data,
                               std::int64_t i) {
    return labels ? labels->data() + data.items.begin(i) : nullptr;
}

// The heaviest forest of each chosen example, as places of pairs.
nb::tuple forests(const ItemPairs& pairs, Vector<double> w, Vector<std::int64_t> examples,
                  std::optional<Vector<std::int32_t>> labels, double inside, double across, double floor,
                  int n_threads) {
    std::vector<std::vector<std::int64_t>> found(examples.shape(0));
    {
        nb::gil_scoped_release unlocked;
        std::vector<SpanningForest> workers(static_cast<std::size_t>(std::max(n_threads, 1)));
        parallel_for(static_cast<std::int64_t>(found.size()), n_threads, [&](std::int64_t k, int thread) {
            const std::int64_t i = examples.data()[k];
            workers[static_cast<std::size_t>(thread)].heaviest(pairs.data, i, w.data(), of_example(labels, pairs.data, i),
                                                               {inside, across, floor},
                                                               found[static_cast<std::size_t>(k)]);
        });
    }
    return to_numpy(RaggedArray(found));
}

// For every example a forest within its labels, of pairs taken in the order given: that of all pairs of the first example,
// then those of the second, and so on.
nb::tuple forests_in_order(const ItemPairs& pairs, Vector<std::int64_t> order, Vector<std::int32_t> labels) {
    std::vector<std::vector<std::int64_t>> found(pairs.kind_offsets.shape(0) - 1);
    {
        nb::gil_scoped_release unlocked;
        SpanningForest forest;
        for (std::size_t i = 0; i < found.size(); ++i) {
            forest.in_order(pairs.data, static_cast<std::int64_t>(i), order.data() + pairs.data.pairs.begin(pairs.data.kinds.begin(i)),
                            order.data() + pairs.data.pairs.begin(pairs.data.kinds.end(i)),
                            labels.data() + pairs.data.items.begin(i), found[i]);
        }
    }
    return to_numpy(RaggedArray(found));
}

// Σ_left x − Σ_right x over the pairs of two forests of each chosen example.
nb::tuple forest_differences(const ItemPairs& pairs, Vector<std::int64_t> left, Vector<std::int64_t> left_offsets,
                             Vector<std::int64_t> right, Vector<std::int64_t> right_offsets) {
    CsrRows rows;
    {
        nb::gil_scoped_release unlocked;
        const std::int64_t* begin = pairs.pair_offsets.data();
        const std::int64_t* end = begin + pairs.pair_offsets.shape(0);
        FeatureSums sums(pairs.features.n_columns());
        std::vector<std::pair<std::int64_t, int>> kinds;
        for (std::size_t k = 0; k + 1 < left_offsets.shape(0); ++k) {
            kinds.clear();
            auto read = [&](const Vector<std::int64_t>& places, const Vector<std::int64_t>& offsets, int sign) {
                for (std::int64_t p = offsets.data()[k]; p < offsets.data()[k + 1]; ++p)
                    kinds.emplace_back(std::upper_bound(begin, end, places.data()[p]) - begin - 1, sign);
            };
            read(left, left_offsets, 1);
            read(right, right_offsets, -1);
            // Kind by kind, so that pairs on both sides cancel exactly.
            std::sort(kinds.begin(), kinds.end());
            for (std::size_t at = 0; at < kinds.size();) {
                const std::int64_t kind = kinds[at].first;
                int count = 0;
                for (; at < kinds.size() && kinds[at].first == kind; ++at) count += kinds[at].second;
                if (count != 0) sums.add(pairs.data, kind, count);
            }
            sums.move_to(rows);
        }
    }
    return to_numpy(std::move(rows));
}

// The same over the pairs within the clusters of two clusterings, and how many pairs are within a cluster on one side only.
nb::tuple cluster_differences(const ItemPairs& pairs, Vector<std::int64_t> examples, Vector<std::int32_t> left,
                              Vector<std::int32_t> right) {
    CsrRows rows;
    std::vector<std::int64_t> disagreements(examples.shape(0), 0);
    {
        nb::gil_scoped_release unlocked;
        FeatureSums sums(pairs.features.n_columns());
        std::int64_t at = 0;
        for (std::size_t k = 0; k < examples.shape(0); ++k) {
            const std::int64_t i = examples.data()[k];
            compare(pairs.data, i, left.data() + at, right.data() + at,
                    [&](std::int64_t kind, std::int64_t difference, std::int64_t different) {
                        if (difference != 0) sums.add(pairs.data, kind, static_cast<double>(difference));
                        disagreements[k] += different;
                    });
            sums.move_to(rows);
            at += pairs.data.n_items(i);
        }
    }
    return nb::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(disagreements)));
}

// A clustering of each chosen example by best-first agglomeration: for each item the smallest item of its cluster.
void agglomerate(const ItemPairs& pairs, Vector<double> w, Vector<std::int64_t> examples,
                 std::optional<Vector<std::int32_t>> labels, Vector<double> inside, Vector<double> across,
                 MutableVector<std::int32_t> out, int n_threads) {
    nb::gil_scoped_release unlocked;
    const auto at = pairs.data.items.gathered(view(examples));
    std::vector<Agglomeration> workers(static_cast<std::size_t>(std::max(n_threads, 1)));
    parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int thread) {
        const std::int64_t i = examples.data()[k];
        workers[static_cast<std::size_t>(thread)].run(pairs.data, i, w.data(), of_example(labels, pairs.data, i),
                                                      {inside.data()[k], across.data()[k], 0.0},
                                                      out.data() + at[static_cast<std::size_t>(k)]);
    });
}

}  // namespace

void bind_item_pairs(nb::module_& module) {
    nb::class_<ItemPairs>(module, "ItemPairs")
        .def(nb::init<const Tokens&, Vector<std::int64_t>, Vector<std::int64_t>, Vector<std::int32_t>,
                      Vector<std::int32_t>, Vector<std::int64_t>>(),
             nb::arg("features"), nb::arg("kind_offsets"), nb::arg("pair_offsets"), nb::arg("first"), nb::arg("second"),
             nb::arg("item_offsets"))
        .def("forests", &forests, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg())
        .def("forests_in_order", &forests_in_order)
        .def("forest_differences", &forest_differences)
        .def("cluster_differences", &cluster_differences)
        .def("agglomerate", &agglomerate, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg());
}

}  // namespace structlearn::bindings
