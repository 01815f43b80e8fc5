#pragma once

#include <cstdint>
#include <vector>

#include "dependency/features/templates.hpp"

namespace structlearn {

// The shares of the tokens of one sentence in the keys of some templates.
class TokenShares {
public:
    void read(const FeatureTemplates& templates, const std::vector<std::int64_t>& chosen, const SentenceValues& sentence) {
        T_ = static_cast<std::int64_t>(chosen.size());
        const auto size = static_cast<std::size_t>((sentence.n + 1) * T_);
        heads_.assign(size, 0), modifiers_.assign(size, 0), siblings_.assign(size, 0);
        none_.resize(static_cast<std::size_t>(T_));
        distances_.resize(static_cast<std::size_t>(n_signed_distances * T_));
        for (std::int64_t k = 0; k < T_; ++k) {
            const std::int64_t t = chosen[k];
            for (const FeatureTemplates::Field& field : templates.fields(t)) {
                if (field.place > Place::sibling) continue;
                auto& shares = field.place == Place::head ? heads_ : field.place == Place::modifier ? modifiers_ : siblings_;
                for (std::int64_t token = 0; token <= sentence.n; ++token)
                    shares[token * T_ + k] += field.share(sentence.at(token + field.offset, field.column));
            }
            none_[k] = templates.sibling_share(t, 0, 0, sentence);
            for (std::int64_t d = 0; d < n_signed_distances; ++d) distances_[d * T_ + k] = templates.distance_share(t, d);
        }
    }

    // Calls visit(k, key) for the chosen templates on an arc.
    template <class Visit>
    void each(std::int64_t head, std::int64_t modifier, Visit&& visit) const {
        each_sum(heads(head), modifiers(modifier), distances(signed_distance(head, modifier)), visit);
    }
    // On a head, a sibling, which is the head if there is none, and a modifier.
    template <class Visit>
    void each(std::int64_t head, std::int64_t sibling, std::int64_t modifier, Visit&& visit) const {
        const std::uint64_t *h = heads(head), *s = sibling == head ? none_.data() : siblings_.data() + sibling * T_;
        const std::uint64_t *m = modifiers(modifier), *d = distances(signed_distance(sibling, modifier));
        for (std::int64_t k = 0; k < T_; ++k) visit(k, h[k] + s[k] + m[k] + d[k]);
    }
    // For templates that know no more than one of both ends and the direction: on all arcs from a head, or to a modifier, that go
    // to the left or to the right.
    template <class Visit>
    void each_from(std::int64_t head, bool left, Visit&& visit) const {
        each_sum(heads(head), distances(2 + left), visit);
    }
    template <class Visit>
    void each_to(std::int64_t modifier, bool left, Visit&& visit) const {
        each_sum(modifiers(modifier), distances(2 + left), visit);
    }

private:
    const std::uint64_t* heads(std::int64_t token) const { return heads_.data() + token * T_; }
    const std::uint64_t* modifiers(std::int64_t token) const { return modifiers_.data() + token * T_; }
    const std::uint64_t* distances(std::int64_t distance) const { return distances_.data() + distance * T_; }

    template <class Visit>
    void each_sum(const std::uint64_t* a, const std::uint64_t* b, Visit&& visit) const {
        for (std::int64_t k = 0; k < T_; ++k) visit(k, a[k] + b[k]);
    }
    template <class Visit>
    void each_sum(const std::uint64_t* a, const std::uint64_t* b, const std::uint64_t* c, Visit&& visit) const {
        for (std::int64_t k = 0; k < T_; ++k) visit(k, a[k] + b[k] + c[k]);
    }

    std::int64_t T_ = 0;
    std::vector<std::uint64_t> heads_, modifiers_, siblings_, distances_, none_;
};

}  // namespace structlearn
