#include "dual/working_sets.hpp"

#include "chain/planes.hpp"
#include "multiclass/planes.hpp"
#include "dual/restricted.hpp"
#include "dual/sparse_planes.hpp"
#include "bindings/arrays.hpp"
#include "bindings/problems.hpp"

namespace structlearn::bindings {

namespace {

std::vector<double> copied(std::span<const double> values) { return {values.begin(), values.end()}; }

// Everything that does not depend on how planes are held.
template <class Store>
nb::class_<WorkingSets<Store>> bind_common(nb::module_& module, const char* name) {
    using Sets = WorkingSets<Store>;
    return nb::class_<Sets>(module, name)
        .def("__deepcopy__", [](const Sets& sets, nb::dict) { return Sets(sets); }, nb::keep_alive<0, 1>())
        .def("set_limits", [](Sets& sets, Vector<double> u, Vector<double> r) { sets.set_limits(view(u), view(r)); })
        .def("sizes",
             [](const Sets& sets) {
                 std::vector<std::int64_t> sizes;
                 for (std::int64_t i = 0; i < sets.n_blocks(); ++i) sizes.push_back(sets.n_planes(i));
                 return to_numpy(std::move(sizes));
             })
        .def("violations",
             [](Sets& sets, Vector<double> w) {
                 std::vector<double> largest(static_cast<std::size_t>(sets.n_blocks()));
                 std::vector<double> dual(largest.size());
                 std::vector<std::int64_t> which(largest.size());
                 {
                     nb::gil_scoped_release unlocked;
                     sets.violations(w.data(), largest.data(), which.data(), dual.data());
                 }
                 return nb::make_tuple(to_numpy(std::move(largest)), to_numpy(std::move(which)),
                                       to_numpy(std::move(dual)));
             })
        .def("largest_violation",
             [](Sets& sets, std::int64_t i, Vector<double> w) { return sets.largest_violation(i, w.data()); })
        .def("cut",
             [](Sets& sets, Vector<std::int64_t> which, Vector<double> weights, MutableVector<double> gradient,
                MutableVector<double> coefficients) {
                 nb::gil_scoped_release unlocked;
                 double offset = 0.0;
                 std::vector<double> factors;
                 for (std::int64_t i = 0; i < sets.n_blocks(); ++i) {
                     const std::int64_t k = which.data()[i];
                     if (k < 0 || weights.data()[i] == 0.0) continue;
                     factors.assign(static_cast<std::size_t>(sets.n_planes(i)), 0.0);
                     factors[k] = weights.data()[i];
                     sets.add_rows(i, factors.data(), gradient.data());
                     offset += weights.data()[i] * sets.dual(i).b()[k];
                     coefficients.data()[i] = weights.data()[i] * sets.dual(i).a()[k];
                 }
                 return offset;
             })
        .def("idle",
             [](const Sets& sets, std::int64_t i) {
                 const auto idle = sets.dual(i).idle();
                 return to_numpy(std::vector<double>(idle.begin(), idle.end()));
             })
        .def("linear_part", &Sets::linear_part)
        .def("weights", [](Sets& sets, MutableVector<double> w) { sets.weights(w.data()); })
        .def("improve",
             [](Sets& sets, Vector<std::int64_t> which, MutableVector<double> w, MutableVector<double> gaps) {
                 nb::gil_scoped_release unlocked;
                 return sets.improve(view(which), w.data(), gaps.data());
             })
        .def("solve",
             [](Sets& sets, MutableVector<double> w, double relative, std::int64_t max_visits, std::uint64_t seed) {
                 SolveReport report;
                 {
                     nb::gil_scoped_release unlocked;
                     report = solve(sets, w.data(), relative, max_visits, seed);
                 }
                 return nb::make_tuple(report.gap, report.unbounded);
             })
        .def("solve_alone",
             [](Sets& sets, std::int64_t i, double relative, std::int64_t max_rounds) {
                 nb::gil_scoped_release unlocked;
                 return solve_alone(sets, i, relative, max_rounds);
             })
        .def("count_idle", &Sets::count_idle)
        .def("mark_used", [](Sets& sets, Vector<std::int64_t> which) { sets.mark_used(which.data()); })
        .def("drop_idle", &Sets::drop_idle)
        .def("limit_memory",
             [](Sets& sets, std::size_t most, MutableVector<double> w) { return sets.limit_memory(most, w.data()); })
        .def("alpha", [](const Sets& sets, std::int64_t i) { return to_numpy(copied(sets.dual(i).alpha())); })
        .def("offsets", [](const Sets& sets, std::int64_t i) { return to_numpy(copied(sets.dual(i).b())); })
        .def("gram",
             [](Sets& sets, std::int64_t i) {
                 sets.complete_products(i);
                 std::vector<double> gram;
                 for (std::int64_t k = 0; k < sets.n_planes(i); ++k)
                     gram.insert(gram.end(), sets.dual(i).products(k), sets.dual(i).products(k) + sets.n_planes(i));
                 return to_numpy(std::move(gram));
             })
        .def("set_alpha", [](Sets& sets, std::int64_t i, Vector<double> alpha) { sets.set_alpha(i, view(alpha)); })
        .def("radius", &Sets::radius)
        .def("nbytes", &Sets::nbytes);
}

// Adds plane(which[j]) to the block of that plane's example for every j; returns how many were new.
template <class Sets, class MakePlane>
std::int64_t add_all(Sets& sets, const Vector<std::int64_t>& examples, const Vector<std::int64_t>& which,
                     const Vector<double>& a, const Vector<double>& b, MakePlane&& plane) {
    nb::gil_scoped_release unlocked;
    std::int64_t added = 0;
    for (std::size_t j = 0; j < which.shape(0); ++j) {
        const std::int64_t k = which.data()[j];
        added += sets.add(examples.data()[k], plane(k), a.data()[j], b.data()[j]);
    }
    return added;
}

// Everything that working sets hold, by name; `name_planes` adds the planes themselves.
template <class Store, class NamePlanes>
void bind_save(nb::class_<WorkingSets<Store>>& sets_class, NamePlanes name_planes) {
    sets_class.def("save", [=](const WorkingSets<Store>& sets) {
        typename Store::Written planes;
        SavedDual dual = sets.save(planes);
        nb::dict saved;
        saved["sizes"] = to_numpy(std::move(dual.sizes));
        saved["known"] = to_numpy(std::move(dual.known));
        saved["u"] = to_numpy(std::move(dual.u));
        saved["r"] = to_numpy(std::move(dual.r));
        saved["alpha"] = to_numpy(std::move(dual.alpha));
        saved["a"] = to_numpy(std::move(dual.a));
        saved["b"] = to_numpy(std::move(dual.b));
        saved["idle"] = to_numpy(std::move(dual.idle));
        saved["products"] = to_numpy(std::move(dual.products));
        name_planes(saved, std::move(planes));
        return saved;
    });
}

// The array of that name, never converted: what was saved has the right type.
template <class T>
Vector<T> named(const nb::dict& saved, const char* name) {
    require(saved.contains(name), std::string("they lack ") + name);
    Vector<T> array;
    require(nb::try_cast<Vector<T>>(saved[name], array, false), std::string(name) + " has the wrong type");
    return array;
}

// Puts back what `save` gave; `plane_reader(saved)` makes a function that gives the next plane of a block.
template <class Store, class PlaneReader>
void bind_restore(nb::class_<WorkingSets<Store>>& sets_class, PlaneReader plane_reader) {
    sets_class.def("restore", [=](WorkingSets<Store>& sets, const nb::dict& saved) {
        const auto sizes = named<std::int64_t>(saved, "sizes");
        const auto known = named<std::int64_t>(saved, "known");
        const auto u = named<double>(saved, "u");
        const auto r = named<double>(saved, "r");
        const auto alpha = named<double>(saved, "alpha");
        const auto a = named<double>(saved, "a");
        const auto b = named<double>(saved, "b");
        const auto idle = named<double>(saved, "idle");
        const auto products = named<double>(saved, "products");
        sets.restore({view(sizes), view(known), view(u), view(r), view(alpha), view(a), view(b), view(idle), view(products)},
                     plane_reader(saved, sets));
    });
}

// The next `count` labels, which must be below `n_labels`.
auto label_reader(const nb::dict& saved) {
    const auto labels = named<std::int32_t>(saved, "labels");
    return [labels, at = std::size_t{0}](std::int64_t count, std::int64_t n_labels) mutable {
        const auto size = static_cast<std::size_t>(count);
        require(size <= labels.shape(0) - at, "planes without labels");
        const std::int32_t* next = labels.data() + at;
        for (std::size_t t = 0; t < size; ++t) require(next[t] >= 0 && next[t] < n_labels, "a label that is no class");
        at += size;
        return next;
    };
}

// The next row, which must lie within the weights.
auto row_reader(const nb::dict& saved, std::int64_t n_weights) {
    const auto indptr = named<std::int64_t>(saved, "indptr");
    const auto indices = named<std::int64_t>(saved, "indices");
    const auto values = named<double>(saved, "values");
    return [=, k = std::size_t{0}](std::int64_t) mutable -> SparseRow {
        require(k + 1 < indptr.shape(0), "planes without rows");
        const std::int64_t begin = indptr.data()[k];
        const std::int64_t end = indptr.data()[++k];
        const auto most = static_cast<std::int64_t>(std::min(indices.shape(0), values.shape(0)));
        require(0 <= begin && begin <= end && end <= most, "rows without numbers");
        std::int64_t before = -1;
        for (std::int64_t j = begin; j < end; ++j) {
            require(indices.data()[j] > before && indices.data()[j] < n_weights, "a row beyond the weights");
            require(std::isfinite(values.data()[j]), "a row that is not finite");
            before = indices.data()[j];
        }
        const auto count = static_cast<std::size_t>(end - begin);
        return {{indices.data() + begin, count}, {values.data() + begin, count}};
    };
}

}  // namespace

void bind_working_sets(nb::module_& module) {
    using SparseSets = WorkingSets<SparsePlanes>;
    using ChainSets = WorkingSets<ChainPlanes>;
    using MulticlassSets = WorkingSets<MulticlassPlanes>;

    auto sparse = bind_common<SparsePlanes>(module, "SparseSets");
    sparse
        .def("__init__", [](SparseSets* sets, std::int64_t n_blocks,
                            std::int64_t n_weights) { new (sets) SparseSets({}, n_blocks, n_weights); })
        .def("add", [](SparseSets& sets, Vector<std::int64_t> examples, Vector<std::int64_t> indptr,
                       Vector<std::int64_t> indices, Vector<double> values, Vector<std::int64_t> which, Vector<double> a,
                       Vector<double> b) {
            return add_all(sets, examples, which, a, b, [&](std::int64_t k) -> SparseRow {
                const auto begin = static_cast<std::size_t>(indptr.data()[k]);
                const auto count = static_cast<std::size_t>(indptr.data()[k + 1]) - begin;
                return {{indices.data() + begin, count}, {values.data() + begin, count}};
            });
        })
        .def("rebase", [](SparseSets& sets, Vector<std::int64_t> indptr, Vector<std::int64_t> indices, Vector<double> values) {
            nb::gil_scoped_release unlocked;
            for (std::int64_t i = 0; i < sets.n_blocks(); ++i) {
                const auto begin = static_cast<std::size_t>(indptr.data()[i]);
                const auto count = static_cast<std::size_t>(indptr.data()[i + 1]) - begin;
                if (count > 0) sets.rebase(i, {{indices.data() + begin, count}, {values.data() + begin, count}});
            }
        });
    bind_save(sparse, [](nb::dict& saved, CsrRows rows) {
        saved["indptr"] = to_numpy(std::move(rows.indptr));
        saved["indices"] = to_numpy(std::move(rows.indices));
        saved["values"] = to_numpy(std::move(rows.values));
    });
    bind_restore(sparse, [](const nb::dict& saved, const SparseSets& sets) { return row_reader(saved, sets.n_weights()); });

    auto name_labels = [](nb::dict& saved, std::vector<std::int32_t> labels) { saved["labels"] = to_numpy(std::move(labels)); };
    auto chain = bind_common<ChainPlanes>(module, "ChainSets");
    chain
        .def(
            "__init__",
            [](ChainSets* sets, const Chain& chain, Vector<std::int32_t> labels, std::int64_t n_examples) {
                new (sets) ChainSets({chain.data, labels.data()}, n_examples, chain.n_weights());
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("add", [](ChainSets& sets, Vector<std::int64_t> examples, Vector<std::int32_t> others,
                       Vector<std::int64_t> offsets, Vector<std::int64_t> which, Vector<double> a, Vector<double> b) {
            return add_all(sets, examples, which, a, b,
                           [&](std::int64_t k) { return others.data() + offsets.data()[k]; });
        });
    bind_save(chain, name_labels);
    bind_restore(chain, [](const nb::dict& saved, const ChainSets& sets) {
        return [next = label_reader(saved), &data = sets.store().data()](std::int64_t i) mutable {
            return next(data.length(i), data.n_labels);
        };
    });

    auto multiclass = bind_common<MulticlassPlanes>(module, "MulticlassSets");
    multiclass
        .def(
            "__init__",
            [](MulticlassSets* sets, const Multiclass& problem, Vector<std::int32_t> labels, std::int64_t n_examples) {
                new (sets) MulticlassSets({problem.data, labels.data()}, n_examples, problem.n_weights());
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("add", [](MulticlassSets& sets, Vector<std::int64_t> examples, Vector<std::int32_t> others,
                       Vector<std::int64_t> which, Vector<double> a, Vector<double> b) {
            return add_all(sets, examples, which, a, b, [&](std::int64_t k) { return others.data()[k]; });
        });
    bind_save(multiclass, name_labels);
    bind_restore(multiclass, [](const nb::dict& saved, const MulticlassSets& sets) {
        return [next = label_reader(saved), &data = sets.store().data()](std::int64_t) mutable { return *next(1, data.n_classes); };
    });
}

}  // namespace structlearn::bindings
