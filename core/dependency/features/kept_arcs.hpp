#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dependency/shape.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Parts with the same features: the labels of an arc, which are neighbours, or one part alone.
struct ArcPlace {
    std::int64_t first, width;
    bool holds(std::int64_t part) const { return part >= first && part < first + width; }
};

inline ArcPlace arc_place(const DependencyShape& shape, std::int64_t i, std::int64_t part) {
    const std::int64_t L = shape.n_labels;
    return part < shape.n_arcs(i) * L ? ArcPlace{part - part % L, L} : ArcPlace{part, 1};
}

// The weights of some places of one sentence, found once. There are fewer than 2³² weights.
class KeptArcs {
public:
    // Weights that all parts of a place have in common, and the first ones of those that each part has for itself.
    struct Arc {
        std::int32_t place;
        std::uint32_t begin, own, end;
    };

    // Unless the place is known, `list` is called with a function of (first weight, width); common weights come first.
    template <class List>
    void add(const ArcPlace& place, List&& list) {
        const auto at = std::ranges::lower_bound(arcs_, place.first, {}, &Arc::place);
        if (at != arcs_.end() && at->place == place.first) return;
        Arc arc{static_cast<std::int32_t>(place.first), size(), size(), 0};
        list([&](std::int64_t weight, std::int64_t width) {
            weights_.push_back(static_cast<std::uint32_t>(weight));
            if (width == 1) arc.own = size();
        });
        arc.end = size();
        arcs_.insert(at, arc);
    }
    template <class Common, class Own>
    void each(const ArcPlace& place, Common&& common, Own&& own) const {
        const Arc& arc = *std::ranges::lower_bound(arcs_, place.first, {}, &Arc::place);
        for (std::uint32_t k = arc.begin; k < arc.own; ++k) common(weights_[k]);
        for (std::uint32_t k = arc.own; k < arc.end; ++k) own(weights_[k]);
    }
    std::size_t nbytes() const { return sizeof(Arc) * arcs_.capacity() + 4 * weights_.capacity(); }

private:
    std::uint32_t size() const { return static_cast<std::uint32_t>(weights_.size()); }

    std::vector<Arc> arcs_;  // by their places
    std::vector<std::uint32_t> weights_;
};

// A scorer of parts whose weights are kept, see parts/planes.hpp.
class KeptArcScorer {
public:
    KeptArcScorer(const DependencyShape& shape, const KeptArcs& kept) : shape_(shape), kept_(kept) {}

    ArcPlace place(std::int64_t i, std::int64_t part) const { return arc_place(shape_, i, part); }

    // ⟨w, A_part⟩ of all parts of a place.
    void scores_at(const ArcPlace& place, const double* w, double* out) const {
        double sum = 0.0;
        std::fill_n(out, place.width, 0.0);
        kept_.each(place, [&](std::uint32_t at) { sum += w[at]; }, [&](std::uint32_t at) { add_scaled(place.width, 1.0, w + at, out); });
        for (std::int64_t l = 0; l < place.width; ++l) out[l] += sum;
    }
    // ⟨w, A_plus − A_minus⟩ for parts of a place, −1 for none.
    double dot_at(const ArcPlace& place, std::int64_t plus, std::int64_t minus, const double* w) const {
        double common = 0.0, own = 0.0;
        kept_.each(place, [&](std::uint32_t at) { common += w[at]; },
                   [&](std::uint32_t at) {
                       if (plus >= 0) own += w[at + plus - place.first];
                       if (minus >= 0) own -= w[at + minus - place.first];
                   });
        return own + ((plus >= 0) - (minus >= 0)) * common;
    }
    // w += coefficient (A_plus − A_minus)
    void add(std::int64_t i, std::int64_t plus, std::int64_t minus, double coefficient, double* w) const {
        auto change = [&](std::int64_t index, double value) { w[index] += value; };
        if (plus >= 0) features(i, plus, coefficient, change);
        if (minus >= 0) features(i, minus, -coefficient, change);
    }
    // Calls visit(index, value) for the features of a part, times a coefficient.
    template <class Visit>
    void features(std::int64_t i, std::int64_t part, double coefficient, Visit&& visit) const {
        const ArcPlace at = place(i, part);
        kept_.each(at, [&](std::uint32_t weight) { visit(weight, coefficient); },
                   [&](std::uint32_t weight) { visit(weight + part - at.first, coefficient); });
    }

private:
    const DependencyShape& shape_;
    const KeptArcs& kept_;
};

}  // namespace structlearn
