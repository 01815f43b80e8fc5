#include "bindings/working_sets.hpp"

#include "bindings/composed.hpp"
#include "dual/sparse_planes.hpp"
#include "multiclass/planes.hpp"

namespace structlearn::bindings {

void bind_working_sets(nb::module_& module) {
    using SparseSets = WorkingSets<SparsePlanes>;
    using MulticlassSets = WorkingSets<MulticlassPlanes>;

    auto sparse = bind_common<SparsePlanes>(module, "SparseSets");
    sparse
        .def("__init__", [](SparseSets* sets, std::int64_t n_blocks,
                            std::int64_t n_weights) { new (sets) SparseSets({}, n_blocks, n_weights); })
        .def("add",
             [](SparseSets& sets, Vector<std::int64_t> examples, Vector<std::int64_t> indptr,
                Vector<std::int64_t> indices, Vector<double> values, Vector<std::int64_t> which, Vector<double> a,
                Vector<double> b) {
                 const SparseRows rows{view(indptr), view(indices), view(values)};
                 return run_unlocked([&] {
                     return sets.add_all(view(examples), view(which), view(a), view(b),
                                         [&](std::int64_t k) { return rows[k]; });
                 });
             })
        .def("pin_first", &SparseSets::pin_first)
        .def("replace_first",
             [](SparseSets& sets, std::int64_t i, Vector<std::int64_t> indices, Vector<double> values, double b) {
                 sets.replace_first(i, {view(indices), view(values)}, b);
             })
        .def("rebase",
             [](SparseSets& sets, Vector<std::int64_t> indptr, Vector<std::int64_t> indices, Vector<double> values) {
                 run_unlocked([&] { sets.rebase({view(indptr), view(indices), view(values)}); });
             })
        .def("restore", [](SparseSets& sets, const nb::dict& saved) {
            const auto dual = named_dual(saved);
            const auto indptr = named<std::int64_t>(saved, "indptr");
            const auto indices = named<std::int64_t>(saved, "indices");
            const auto values = named<double>(saved, "values");
            SavedRows rows({view(indptr), view(indices), view(values)});
            sets.restore(seen(dual), [&](std::int64_t) { return rows.next(sets.n_weights()); });
        });
    bind_save(sparse, [](nb::dict& saved, CsrRows rows) {
        saved["indptr"] = to_numpy(std::move(rows.indptr));
        saved["indices"] = to_numpy(std::move(rows.indices));
        saved["values"] = to_numpy(std::move(rows.values));
    });

    bind_part_sets<TokenScorer, TokenScorerArrays>(module, "PartSets");

    auto multiclass = bind_common<MulticlassPlanes>(module, "MulticlassSets");
    multiclass
        .def(
            "__init__",
            [](MulticlassSets* sets, const TokenScorerArrays& scores, Vector<std::int32_t> labels,
               std::int64_t n_examples) {
                new (sets) MulticlassSets({scores.blocks.front(), labels.data()}, n_examples, scores.n_weights());
            },
            nb::arg(), nb::arg().noconvert(), nb::arg(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("add",
             [](MulticlassSets& sets, Vector<std::int64_t> examples, Vector<std::int32_t> others,
                Vector<std::int64_t> which, Vector<double> a, Vector<double> b) {
                 return run_unlocked([&] {
                     return sets.add_all(view(examples), view(which), view(a), view(b),
                                         [&](std::int64_t k) { return others.data()[k]; });
                 });
             })
        .def("restore", [](MulticlassSets& sets, const nb::dict& saved) {
            const auto dual = named_dual(saved);
            const auto array = named<std::int32_t>(saved, "labels");
            SavedLabels labels(view(array));
            sets.restore(seen(dual), [&](std::int64_t) { return *labels.next(1, sets.store().n_classes()); });
        });
    bind_save(multiclass, [](nb::dict& saved, std::vector<std::int32_t> labels) {
        saved["labels"] = to_numpy(std::move(labels));
    });
}

}  // namespace structlearn::bindings
