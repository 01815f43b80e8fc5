#pragma once

#include "bindings/arrays.hpp"
#include "bindings/unlocked.hpp"
#include "dual/gram.hpp"
#include "dual/idle_planes.hpp"
#include "dual/restricted.hpp"
#include "dual/saved_planes.hpp"
#include "dual/steps.hpp"
#include "dual/working_sets.hpp"
#include "parts/planes.hpp"

namespace structlearn::bindings {

inline std::vector<double> copied(std::span<const double> values) { return {values.begin(), values.end()}; }

template <class Sets>
void bind_steps(nb::module_& module, const std::string& name) {
    using Pass = Steps<Sets>;
    nb::class_<Pass>(module, name.c_str())
        .def("begin",
             [](Pass& steps, Vector<std::int64_t> which, std::int64_t n_cached, Vector<std::int64_t> next,
                MutableVector<double> w) {
                 run_unlocked([&] { steps.begin(view(which), n_cached, view(next), w.data()); });
                 const double* before = steps.before();
                 if (before == w.data()) return nb::cast(w);
                 return nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<1>>(before, {w.size()}, nb::find(steps)));
             })
        .def("help", [](Pass& steps) { run_unlocked([&] { steps.help(); }); })
        .def("settle", [](Pass& steps) { run_unlocked([&] { steps.settle(); }); })
        .def("end",
             [](Pass& steps, MutableVector<double> w) {
                 run_unlocked([&] { steps.end(w.data()); });
                 return to_numpy(std::vector<double>(steps.gaps()));
             })
        .def("wait", [](Pass& steps) { run_unlocked([&] { steps.wait(); }); })
        .def_prop_ro("seconds", &Pass::seconds);
}

// Everything that does not depend on how planes are held.
template <class Store>
nb::class_<WorkingSets<Store>> bind_common(nb::module_& module, const char* name) {
    using Sets = WorkingSets<Store>;
    bind_steps<Sets>(module, std::string(name) + "Steps");
    return nb::class_<Sets>(module, name)
        .def(
            "steps",
            [](Sets& sets, Vector<double> gaps, std::uint64_t seed, bool beside) {
                return new Steps<Sets>(sets, view(gaps), seed, beside);
            },
            nb::keep_alive<0, 1>())
        .def("__deepcopy__", [](const Sets& sets, nb::dict) { return Sets(sets); }, nb::keep_alive<0, 1>())
        .def("set_limits", [](Sets& sets, Vector<double> u, Vector<double> r) { sets.set_limits(view(u), view(r)); })
        .def("scale", [](Sets& sets, double factor) { sets.scale(factor); })
        .def("set_nonnegative", [](Sets& sets, Vector<std::int64_t> which) { sets.set_nonnegative(view(which)); })
        .def("clip", [](Sets& sets, MutableVector<double> w) { sets.nonnegative().clip(w.data()); })
        .def("sizes", [](const Sets& sets) { return to_numpy(sets.sizes()); })
        .def("violations",
             [](Sets& sets, Vector<double> w, int n_threads) {
                 std::vector<double> largest(static_cast<std::size_t>(sets.n_blocks()));
                 std::vector<double> dual(largest.size());
                 std::vector<std::int64_t> which(largest.size());
                 run_unlocked([&] { sets.violations(w.data(), largest.data(), which.data(), dual.data(), n_threads); });
                 return to_numpy(std::tuple(std::move(largest), std::move(which), std::move(dual)));
             }, nb::arg("w"), nb::arg("n_threads") = 1)
        .def("largest_violation",
             [](Sets& sets, std::int64_t i, Vector<double> w) { return sets.largest_violation(i, w.data()); })
        .def("cut",
             [](Sets& sets, Vector<std::int64_t> which, Vector<double> weights, MutableVector<double> gradient,
                MutableVector<double> coefficients) {
                 return run_unlocked(
                     [&] { return sets.cut(view(which), view(weights), gradient.data(), coefficients.data()); });
             })
        .def("idle", [](const Sets& sets, std::int64_t i) { return to_numpy(copied(sets.dual(i).idle())); })
        .def("linear_part", &Sets::linear_part)
        .def("weights", [](Sets& sets, MutableVector<double> w) { sets.weights(w.data()); })
        .def("improve",
             [](Sets& sets, Vector<std::int64_t> which, MutableVector<double> w, MutableVector<double> gaps) {
                 return run_unlocked([&] { return sets.improve(view(which), w.data(), gaps.data()); });
             })
        .def("solve",
             [](Sets& sets, MutableVector<double> w, double relative, std::int64_t max_visits, std::uint64_t seed,
                std::int64_t cuts_from) {
                 SolveReport report;
                 run_unlocked([&] { report = solve(sets, w.data(), relative, max_visits, seed, cuts_from); });
                 return nb::make_tuple(report.gap, report.unbounded, report.cuts_from);
             },
             nb::arg("w"), nb::arg("relative"), nb::arg("max_visits"), nb::arg("seed"), nb::arg("cuts_from") = 4)
        .def("solve_alone",
             [](Sets& sets, std::int64_t i, double relative, std::int64_t max_rounds) {
                 return run_unlocked([&] { return solve_alone(sets, i, relative, max_rounds); });
             })
        .def("grow", &Sets::grow)
        .def("count_idle", &count_idle<Sets>)
        .def("mark_used", [](Sets& sets, Vector<std::int64_t> which) { mark_used(sets, view(which)); })
        .def("drop_idle",
             [](Sets& sets, std::int64_t limit, int n_threads) {
                 return run_unlocked([&] { return drop_idle(sets, limit, n_threads); });
             },
             nb::arg("limit"), nb::arg("n_threads") = 1)
        .def("limit_memory",
             [](Sets& sets, std::size_t most, MutableVector<double> w, bool spare_weight) {
                 return limit_memory(sets, most, w.data(), spare_weight);
             })
        .def("alpha", [](const Sets& sets, std::int64_t i) { return to_numpy(copied(sets.dual(i).alpha())); })
        .def("offsets", [](const Sets& sets, std::int64_t i) { return to_numpy(copied(sets.dual(i).b())); })
        .def("gram", [](Sets& sets, std::int64_t i) { return to_numpy(gram(sets, i)); })
        .def("set_alpha", [](Sets& sets, std::int64_t i, Vector<double> alpha) { sets.set_alpha(i, view(alpha)); })
        .def("radius", [](Sets& sets) { return radius(sets); })
        .def("nbytes", &Sets::nbytes)
        .def("exceeds", &Sets::exceeds)
        .def_prop_ro_static("block_nbytes", [](nb::handle) { return Sets::block_nbytes(); });
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
        saved["beta"] = to_numpy(std::move(dual.beta));
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

// What `save` gave, but for the planes.
inline DualArrays<Vector> named_dual(const nb::dict& saved) {
    return {named<std::int64_t>(saved, "sizes"), named<std::int64_t>(saved, "known"), named<double>(saved, "u"),
            named<double>(saved, "r"),           named<double>(saved, "alpha"),       named<double>(saved, "a"),
            named<double>(saved, "b"),           named<double>(saved, "idle"),        named<double>(saved, "products"),
            named<double>(saved, "beta")};
}
inline SavedDualView seen(const DualArrays<Vector>& dual) {
    return {view(dual.sizes), view(dual.known), view(dual.u),    view(dual.r),       view(dual.alpha),
            view(dual.a),     view(dual.b),     view(dual.idle), view(dual.products), view(dual.beta)};
}

// Working sets of planes between parts; `Arrays` is what Python holds of the scorer.
template <class Scorer, class Arrays>
void bind_part_sets(nb::module_& module, const char* name) {
    using Planes = PartPlanes<Scorer>;
    using PartSets = WorkingSets<Planes>;
    auto parts = bind_common<Planes>(module, name);
    parts
        .def(
            "__init__",
            [](PartSets* sets, const Arrays& scores, std::int64_t n_examples) {
                new (sets) PartSets(Planes(scores.scorer()), n_examples, scores.n_weights());
            },
            nb::keep_alive<1, 2>())
        .def("add",
             [](PartSets& sets, Vector<std::int64_t> examples, Vector<std::int32_t> moves, Vector<std::int64_t> offsets,
                Vector<std::int64_t> which, Vector<double> a, Vector<double> b) {
                 return run_unlocked([&] {
                     return sets.add_all(view(examples), view(which), view(a), view(b), [&](std::int64_t k) {
                         const auto* begin = reinterpret_cast<const Move*>(moves.data() + offsets.data()[k]);
                         const auto count = static_cast<std::size_t>(offsets.data()[k + 1] - offsets.data()[k]) / 2;
                         return sets.store().plane(examples.data()[k], {begin, count});
                     });
                 });
             })
        .def("restore", [](PartSets& sets, const nb::dict& saved) {
            const auto dual = named_dual(saved);
            const auto moves = named<std::int32_t>(saved, "moves");
            const auto counts = named<std::int64_t>(saved, "counts");
            SavedMoves<Scorer> planes(sets.store().scorer(), view(moves), view(counts));
            sets.restore(seen(dual), [&](std::int64_t i) { return sets.store().plane(i, planes.next(i)); });
        });
    bind_save(parts, [](nb::dict& saved, typename Planes::Written planes) {
        saved["moves"] = to_numpy(std::move(planes.moves));
        saved["counts"] = to_numpy(std::move(planes.counts));
    });
}

}  // namespace structlearn::bindings
