#include <nanobind/stl/pair.h>

#include "bindings/structures.hpp"
#include "bindings/working_sets.hpp"
#include "dependency/features/scorer.hpp"
#include "dependency/losses.hpp"
#include "dependency/nonprojective.hpp"
#include "dependency/projective.hpp"

namespace structlearn::bindings {

namespace {

// Dependency trees of sentences, with the arrays.
struct DependencyEngine {
    DependencyEngine(Vector<std::int64_t> offsets_, std::int64_t n_labels, bool single_root, bool siblings,
                     std::optional<Matrix<std::int32_t>> known_)
        : offsets(std::move(offsets_)),
          known(std::move(known_)),
          shape{view(offsets), n_labels, single_root, siblings, known ? known->data() : nullptr} {}
    DependencyEngine(const DependencyEngine&) = delete;

    Vector<std::int64_t> offsets;
    std::optional<Matrix<std::int32_t>> known;
    DependencyShape shape;
};

// Features, and the values of the tokens that they are made of.
struct DependencyScores {
    DependencyScores(const DependencyEngine& engine, const DependencyFeatures& features_, Matrix<std::int32_t> values_)
        : shape(engine.shape), features(&features_), values(std::move(values_)) {}

    std::int64_t n_weights() const { return features->n_weights(); }
    DependencyScorer scorer() const {
        return {shape, *features, values.data(), static_cast<std::int64_t>(values.shape(1))};
    }

    DependencyShape shape;
    const DependencyFeatures* features;
    Matrix<std::int32_t> values;
};

template <class Structure, class Scorer, class Arrays>
void make_from(nb::class_<BoundProblem<Structure, Scorer>>&& problem) {
    using Bound = BoundProblem<Structure, Scorer>;
    problem.def(
        "__init__",
        [](Bound* place, const DependencyEngine& engine, const Arrays& scores) {
            new (place) Bound{{Structure(engine.shape), scores.scorer()}};
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

template <class Structure>
void bind_trees(nb::module_& module, const char* name, const char* given) {
    make_from<Structure, DependencyScorer, DependencyScores>(bind_composed<Structure, DependencyScorer>(module, name));
    make_from<Structure, GivenScorer, GivenScores>(bind_engine<Structure, GivenScorer>(module, given));
}

FeatureGroup empty_group(const std::pair<Matrix<std::int32_t>, std::int64_t>& templates, std::int64_t width, std::int64_t hashed) {
    return {{view(templates.first), templates.second},
            hashed > 0 ? FeatureIndex::hashed(std::max<std::int64_t>(1, hashed / width)) : FeatureIndex(),
            0,
            width};
}

// The features that true arcs have, or may have where a head is not known, and those of siblings in trees that are known: writes
// the values of each when it is first met, by group and template.
using Listed = std::vector<std::vector<std::vector<std::int32_t>>>;
Listed list_features(DependencyFeatures& features, const DependencyShape& shape, const DependencyScorer& scorer,
                     MatrixView<std::int32_t> known) {
    Listed found;
    for (std::int64_t g = 0; g < 3; ++g) found.emplace_back(static_cast<std::size_t>(features[g].templates.size()));
    std::vector<std::int32_t> codes, siblings;
    for (std::int64_t i = 0; i < shape.tokens.count(); ++i) {
        auto list = [&](std::int64_t part) {
            scorer.each_place(i, part, [&](std::int64_t g, std::int64_t head, std::int64_t sibling, std::int64_t modifier) {
                FeatureGroup& group = features[g];
                const SentenceValues sentence = scorer.sentence(i);
                group.templates.each(sentence, head, sibling, modifier, [&](std::int64_t t, std::uint64_t key, std::int32_t between) {
                    if (group.index.add(key)) group.templates.values(t, sentence, head, sibling, modifier, between, found[g][t]);
                });
            });
        };
        const std::int64_t n = shape.length(i);
        codes.clear();
        for (std::int64_t m = 1; m <= n; ++m) {
            const std::int32_t head = known.row(static_cast<std::size_t>(shape.tokens.begin(i) + m - 1))[0];
            for (std::int64_t h = 0; h <= n; ++h)
                if (h != m && (head < 0 || head == h)) list(shape.arc(i, h, m));
            if (head >= 0) codes.push_back(head);
        }
        if (!shape.siblings || static_cast<std::int64_t>(codes.size()) < n) continue;
        find_siblings(n, 1, codes.data(), siblings);
        for (std::int64_t m = 1; m <= n; ++m) list(shape.sibling(i, codes[m - 1], siblings[m], m));
    }
    return found;
}

}  // namespace

void bind_dependency(nb::module_& module) {
    nb::class_<DependencyEngine>(module, "DependencyEngine")
        .def(nb::init<Vector<std::int64_t>, std::int64_t, bool, bool, std::optional<Matrix<std::int32_t>>>(),
             nb::arg("offsets"), nb::arg("n_labels"), nb::arg("single_root"), nb::arg("siblings"),
             nb::arg("known").none() = nb::none());
    nb::class_<DependencyFeatures>(module, "DependencyFeatures")
        .def(
            "__init__",
            [](DependencyFeatures* place, const std::vector<std::pair<Matrix<std::int32_t>, std::int64_t>>& templates,
               std::int64_t n_labels, std::int64_t hashed) {
                new (place) DependencyFeatures{empty_group(templates.at(0), 1, hashed), empty_group(templates.at(1), n_labels, hashed),
                                               empty_group(templates.at(2), 1, templates.at(2).second > 0 ? hashed : 0)};
                place->place();
            },
            nb::arg("templates"), nb::arg("n_labels"), nb::arg("hashed"))
        .def_prop_ro("n_weights", &DependencyFeatures::n_weights)
        .def("add",
             [](DependencyFeatures& features, std::int64_t group, std::int64_t which, Matrix<std::int32_t> values) {
                 FeatureGroup& into = features[group];
                 for (std::size_t k = 0; k < values.shape(0); ++k) into.index.add(into.templates.key(which, view(values).row(k)));
                 features.place();
             })
        .def("listed",
             [](DependencyFeatures& features, const DependencyEngine& engine, Matrix<std::int32_t> values,
                Matrix<std::int32_t> known) {
                 const DependencyScores scores(engine, features, values);
                 Listed found;
                 run_unlocked([&] { found = list_features(features, engine.shape, scores.scorer(), view(known)); });
                 nb::list groups;
                 for (auto& group : found) {
                     nb::list templates;
                     for (auto& rows : group) templates.append(to_numpy(std::move(rows)));
                     groups.append(templates);
                 }
                 return groups;
             });
    nb::class_<DependencyScores>(module, "DependencyScores")
        .def(nb::init<const DependencyEngine&, const DependencyFeatures&, Matrix<std::int32_t>>(), nb::arg("engine"),
             nb::arg("features"), nb::arg("values"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    bind_part_sets<DependencyScorer, DependencyScores>(module, "DependencySets");
    bind_trees<ProjectiveTrees>(module, "ProjectiveTrees", "GivenProjectiveTrees");
    bind_trees<NonprojectiveTrees>(module, "NonprojectiveTrees", "GivenNonprojectiveTrees");

    // Python keeps the engine and the array, which must be of the right type, since a converted copy would be gone.
    nb::class_<TrueArcs>(module, "TrueArcs")
        .def(
            "__init__",
            [](TrueArcs* place, const DependencyEngine& engine, Matrix<std::int32_t> known) {
                new (place) TrueArcs{engine.shape, known.data()};
            },
            nb::arg(), nb::arg().noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    nb::class_<WrongArcs, PartLoss>(module, "WrongArcs")
        .def(nb::init<const TrueArcs&, double, double>(), nb::keep_alive<1, 2>());
    nb::class_<WrongArcSteps, PartSteps>(module, "WrongArcSteps")
        .def(nb::init<const TrueArcs&, std::int32_t, std::int32_t>(), nb::keep_alive<1, 2>());
}

}  // namespace structlearn::bindings
