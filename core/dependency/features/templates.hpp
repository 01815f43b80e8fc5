#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/dense.hpp"

namespace structlearn {

// Where a value of a feature is found: at the head, at the modifier or at its sibling, or near one of these; at each token
// between head and modifier; or in how these lie to each other.
enum class Place : std::int32_t { head, modifier, sibling, between, direction, distance };

// Values of tokens are numbers; the first ones are for what lies beyond the ends of a sentence, and for the root.
inline constexpr std::int32_t outside_value = 0, root_value = 1;

// The tokens 1, …, n of a sentence, by their values.
struct SentenceValues {
    const std::int32_t* values;
    std::int64_t n, n_columns;

    std::int32_t at(std::int64_t token, std::int32_t column) const {
        if (token == 0) return root_value;
        return token < 0 || token > n ? outside_value : values[(token - 1) * n_columns + column];
    }
};

// How far two tokens are apart, and on which side the second lies: 2 × a range of distances, plus 1 for the left.
inline std::int64_t signed_distance(std::int64_t from, std::int64_t to) {
    const std::int64_t apart = from < to ? to - from : from - to;
    const std::int64_t range = apart < 5 ? apart : apart < 10 ? 5 : 6;
    return 2 * range + (to < from);
}
inline constexpr std::int64_t n_signed_distances = 14;

// Templates of features. A feature is a template and the values of its fields. Its key is a sum with a share for each of them,
// so that the shares of heads, modifiers, siblings and distances are computed once for a sentence, and not for every arc.
class FeatureTemplates {
public:
    struct Field {
        Place place;
        std::int32_t column, offset;
        std::uint64_t factor;

        std::uint64_t share(std::int64_t value) const { return factor * static_cast<std::uint64_t>(value + 1); }
    };

    // Rows of `fields` are (template, place, column, offset), template after template.
    FeatureTemplates(MatrixView<std::int32_t> fields, std::int64_t n_templates)
        : begins_(static_cast<std::size_t>(n_templates + 1), 0), salts_(static_cast<std::size_t>(n_templates)) {
        for (std::size_t k = 0; k < fields.rows; ++k) {
            const std::int32_t* row = fields.row(k);
            fields_.push_back({static_cast<Place>(row[1]), row[2], row[3], odd(row[0] + 1, static_cast<std::int64_t>(k) + 1)});
            begins_[row[0] + 1] = static_cast<std::int64_t>(k) + 1;
        }
        for (std::int64_t t = 0; t < n_templates; ++t) {
            if (begins_[t + 1] == 0) begins_[t + 1] = begins_[t];
            salts_[t] = odd(t + 1, 0);
            all_.push_back(t);
            if (has(t, Place::between))
                between_.push_back(t);
            else if (has(t, Place::distance) || has(t, Place::sibling) || (has(t, Place::head) && has(t, Place::modifier)))
                arcs_.push_back(t);
            else
                (has(t, Place::head) ? heads_ : modifiers_).push_back(t);
        }
    }

    std::int64_t size() const { return static_cast<std::int64_t>(salts_.size()); }
    std::span<const Field> fields(std::int64_t t) const {
        return {fields_.data() + begins_[t], static_cast<std::size_t>(begins_[t + 1] - begins_[t])};
    }

    // Templates of each kind: those that ask for no more than the head, or the modifier, and the direction; those that are of one
    // feature an arc; and those of one for each value between head and modifier.
    const std::vector<std::int64_t>& all() const { return all_; }
    const std::vector<std::int64_t>& of_heads() const { return heads_; }
    const std::vector<std::int64_t>& of_modifiers() const { return modifiers_; }
    const std::vector<std::int64_t>& of_arcs() const { return arcs_; }
    const std::vector<std::int64_t>& of_between() const { return between_; }

    // The share that a token has in the key of a feature of which it is the head, the modifier or the sibling.
    std::uint64_t token_share(std::int64_t t, Place place, std::int64_t token, const SentenceValues& sentence) const {
        std::uint64_t sum = 0;
        for (const Field& field : fields(t))
            if (field.place == place) sum += field.share(sentence.at(token + field.offset, field.column));
        return sum;
    }
    // A sibling that is the head itself is none.
    std::uint64_t sibling_share(std::int64_t t, std::int64_t head, std::int64_t sibling, const SentenceValues& sentence) const {
        if (sibling != head) return token_share(t, Place::sibling, sibling, sentence);
        std::uint64_t sum = 0;
        for (const Field& field : fields(t))
            if (field.place == Place::sibling) sum += field.share(outside_value);
        return sum;
    }
    std::uint64_t distance_share(std::int64_t t, std::int64_t distance) const {
        std::uint64_t sum = salts_[t];
        for (const Field& field : fields(t)) {
            if (field.place == Place::direction) sum += field.share(distance % 2);
            if (field.place == Place::distance) sum += field.share(distance);
        }
        return sum;
    }
    const Field& between_field(std::int64_t t) const {
        for (const Field& field : fields(t))
            if (field.place == Place::between) return field;
        return fields_.front();
    }

    // Calls visit(t, key, between) for the features of an arc, or of a sibling; `between` is the value between the two, −1 for none.
    template <class Visit>
    void each(const SentenceValues& sentence, std::int64_t head, std::int64_t sibling, std::int64_t modifier,
              Visit&& visit) const {
        // With siblings, distances are those to them.
        const std::int64_t distance = signed_distance(sibling < 0 ? head : sibling, modifier);
        for (std::int64_t t = 0; t < size(); ++t) {
            std::uint64_t key = distance_share(t, distance) + token_share(t, Place::head, head, sentence) +
                                token_share(t, Place::modifier, modifier, sentence);
            if (sibling >= 0) key += sibling_share(t, head, sibling, sentence);
            if (!has(t, Place::between)) {
                visit(t, key, -1);
                continue;
            }
            const Field& field = between_field(t);
            each_value(values_between(sentence, field.column, head, modifier),
                       [&](std::int32_t value) { visit(t, key + field.share(value), value); });
        }
    }

    // The values of the fields of a feature.
    void values(std::int64_t t, const SentenceValues& sentence, std::int64_t head, std::int64_t sibling, std::int64_t modifier,
                std::int32_t between, std::vector<std::int32_t>& out) const {
        const std::int64_t distance = signed_distance(sibling < 0 ? head : sibling, modifier);
        for (const Field& field : fields(t)) switch (field.place) {
                case Place::head: out.push_back(sentence.at(head + field.offset, field.column)); break;
                case Place::modifier: out.push_back(sentence.at(modifier + field.offset, field.column)); break;
                case Place::sibling:
                    out.push_back(sibling == head ? outside_value : sentence.at(sibling + field.offset, field.column));
                    break;
                case Place::between: out.push_back(between); break;
                case Place::direction: out.push_back(static_cast<std::int32_t>(distance % 2)); break;
                case Place::distance: out.push_back(static_cast<std::int32_t>(distance)); break;
            }
    }
    // The key of a feature, given the values of its fields.
    std::uint64_t key(std::int64_t t, const std::int32_t* values) const {
        std::uint64_t sum = salts_[t];
        for (const Field& field : fields(t)) sum += field.share(*values++);
        return sum;
    }

    // The values of a column at the tokens between two, as bits.
    static std::uint64_t values_between(const SentenceValues& sentence, std::int32_t column, std::int64_t a, std::int64_t b) {
        std::uint64_t bits = 0;
        for (std::int64_t token = std::min(a, b) + 1; token < std::max(a, b); ++token)
            bits |= std::uint64_t{1} << sentence.at(token, column);
        return bits;
    }
    template <class Visit>
    static void each_value(std::uint64_t bits, Visit&& visit) {
        for (; bits; bits &= bits - 1) visit(static_cast<std::int32_t>(__builtin_ctzll(bits)));
    }

private:
    bool has(std::int64_t t, Place place) const {
        for (const Field& field : fields(t))
            if (field.place == place) return true;
        return false;
    }
    // Numbers without a pattern (splitmix64), the same for ever: weights of hashed features are found by them.
    static std::uint64_t odd(std::int64_t a, std::int64_t b) {
        std::uint64_t x = static_cast<std::uint64_t>(a) * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(b) * 0xD1B54A32D192ED03u;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
        return (x ^ (x >> 31)) | 1;
    }

    std::vector<Field> fields_;
    std::vector<std::int64_t> begins_;
    std::vector<std::uint64_t> salts_;
    std::vector<std::int64_t> all_, heads_, modifiers_, arcs_, between_;
};

}  // namespace structlearn
