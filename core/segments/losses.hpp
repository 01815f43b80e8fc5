#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "batch/ragged.hpp"
#include "parts/losses.hpp"
#include "segments/codes.hpp"

namespace structlearn {

// A loss of whole segments. Its parts are (label, begin, end): begin · longest + (end − begin − 1), times n_labels, plus label.
class SpanLoss : public PartLoss {
public:
    void add(std::int64_t, double*) const override {}
    bool of_spans() const override { return true; }

    // What every segment costs, and by how much more a few of them do: those that end with a token have the label `label[t]`,
    // −1 for none, or one of the `labels`, (length, n_labels), and are `size[t]` long. Null if each segment has a price of its
    // own.
    struct Few {
        double each;
        double more;
        std::vector<std::int64_t> label, size;
        const std::uint8_t* labels = nullptr;
        std::int64_t n_labels = 0;

        bool has(std::int64_t t, std::int64_t l) const { return labels ? labels[t * n_labels + l] : label[t] == l; }
        template <class Visit>
        void each_label(std::int64_t t, Visit&& visit) const {
            if (!labels && label[t] >= 0) visit(label[t]);
            for (std::int64_t l = 0; labels && l < n_labels; ++l)
                if (has(t, l)) visit(l);
        }
    };
    virtual const Few* few(std::int64_t i, Few& memory) const = 0;
    // The prices of all segments, (length, longest, n_labels), if there are not just a few that differ.
    virtual const double* all(std::int64_t i) const = 0;
};

// The number of segments that are only in one of truth and output: 1 for each segment, −1 for a true one.
class MissedSegments : public SpanLoss {
public:
    MissedSegments(std::span<const std::int32_t> codes, Ragged tokens, std::int64_t n_labels, std::int64_t longest)
        : codes_(codes), tokens_(tokens), L_(n_labels), longest_(longest) {}

    const Few* few(std::int64_t i, Few& memory) const override {
        memory.each = 1.0, memory.more = -2.0, memory.labels = nullptr;
        memory.label.assign(static_cast<std::size_t>(tokens_.size(i)), -1);
        memory.size.assign(memory.label.size(), 0);
        each_segment(tokens_.size(i), L_, codes_.data() + tokens_.begin(i),
                     [&](std::int64_t label, std::int64_t begin, std::int64_t end) {
                         memory.label[end - 1] = label;
                         memory.size[end - 1] = end - begin;
                     });
        return &memory;
    }
    const double* all(std::int64_t) const override { return nullptr; }

    double at(std::int64_t i, std::int64_t part) const override {
        const std::int64_t label = part % L_, size = part / L_ % longest_ + 1, begin = part / L_ / longest_;
        const std::int32_t* codes = codes_.data() + tokens_.begin(i);
        if (codes[begin] != label) return 1.0;
        std::int64_t end = begin + 1;
        while (end < tokens_.size(i) && !begins_segment(codes[end], L_)) ++end;
        return end - begin == size ? -1.0 : 1.0;
    }
    double truth(std::int64_t i) const override {
        double sum = 0.0;
        each_segment(tokens_.size(i), L_, codes_.data() + tokens_.begin(i), [&](auto...) { sum -= 1.0; });
        return sum;
    }

private:
    std::span<const std::int32_t> codes_;
    Ragged tokens_;
    std::int64_t L_, longest_;
};

// The same as steps: a segment takes one for itself if it is not true, and one for every other true segment that ends in it.
class MissedSegmentSteps : public PartSteps {
public:
    MissedSegmentSteps(std::span<const std::int32_t> codes, Ragged tokens, std::int64_t n_labels, std::int64_t longest)
        : codes_(codes), tokens_(tokens), L_(n_labels), longest_(longest) {}

    bool of_spans() const override { return true; }
    std::int64_t n_levels(std::int64_t i) const override {
        std::int64_t n_true = 0;
        each_segment(tokens_.size(i), L_, codes_.data() + tokens_.begin(i), [&](auto...) { ++n_true; });
        return tokens_.size(i) + n_true + 1;
    }
    void write(std::int64_t i, std::int32_t* steps) const override {
        const std::int64_t T = tokens_.size(i);
        for (std::int64_t begin = 0; begin < T; ++begin)
            for (std::int64_t size = 1, ended = 0; size <= std::min(longest_, T - begin); ++size) {
                ended += ends(i, begin + size - 1);
                std::fill_n(steps + (begin * longest_ + size - 1) * L_, L_, static_cast<std::int32_t>(ended + 1));
            }
        each_segment(T, L_, codes_.data() + tokens_.begin(i), [&](std::int64_t label, std::int64_t begin, std::int64_t end) {
            if (label >= 0 && end - begin <= longest_) steps[(begin * longest_ + end - begin - 1) * L_ + label] = 0;
        });
    }
    std::int32_t at(std::int64_t i, std::int64_t part) const override {
        const std::int64_t label = part % L_, size = part / L_ % longest_ + 1, begin = part / L_ / longest_;
        const std::int32_t* codes = codes_.data() + tokens_.begin(i);
        std::int32_t ended = 0;
        for (std::int64_t t = begin; t < begin + size; ++t) ended += ends(i, t);
        return ended == 1 && codes[begin] == label && ends(i, begin + size - 1) ? 0 : ended + 1;
    }

private:
    // Whether a true segment ends with token t.
    bool ends(std::int64_t i, std::int64_t t) const {
        return t + 1 == tokens_.size(i) || begins_segment(codes_[tokens_.begin(i) + t + 1], L_);
    }

    std::span<const std::int32_t> codes_;
    Ragged tokens_;
    std::int64_t L_, longest_;
};

// Segments that are known, with gaps between them: of the one that ends with a token its length, 0 for none, and the labels it
// may have, (n_tokens, n_labels).
struct KnownSegments {
    std::span<const std::int32_t> size;
    const std::uint8_t* labels;
    Ragged tokens;
    std::int64_t n_labels, longest;

    std::int64_t count(std::int64_t i) const {
        return std::ranges::count_if(tokens.of(size, i), [](std::int32_t k) { return k > 0; });
    }
    // Whether a part is one of them.
    bool has(std::int64_t i, std::int64_t part) const {
        const std::int64_t length = part / n_labels % longest + 1;
        const std::int64_t last = tokens.begin(i) + part / n_labels / longest + length - 1;
        return size[last] == length && labels[last * n_labels + part % n_labels];
    }
};

// The number of known segments that are missed: −1 for each that is there.
class MissedKnownSegments : public SpanLoss {
public:
    explicit MissedKnownSegments(const KnownSegments& known) : known_(known) {}

    const Few* few(std::int64_t i, Few& memory) const override {
        const auto size = known_.tokens.of(known_.size, i);
        memory.each = 0.0, memory.more = -1.0;
        memory.size.assign(size.begin(), size.end());
        memory.labels = known_.labels + known_.tokens.begin(i) * known_.n_labels;
        memory.n_labels = known_.n_labels;
        return &memory;
    }
    const double* all(std::int64_t) const override { return nullptr; }
    double at(std::int64_t i, std::int64_t part) const override { return known_.has(i, part) ? -1.0 : 0.0; }
    double truth(std::int64_t i) const override { return -static_cast<double>(known_.count(i)); }

private:
    KnownSegments known_;
};

// The same as steps: a segment takes one for every known segment that ends in it, but for itself.
class MissedKnownSegmentSteps : public PartSteps {
public:
    explicit MissedKnownSegmentSteps(const KnownSegments& known) : known_(known) {}

    bool of_spans() const override { return true; }
    std::int64_t n_levels(std::int64_t i) const override { return known_.count(i) + 1; }
    void write(std::int64_t i, std::int32_t* steps) const override {
        const std::int64_t T = known_.tokens.size(i), L = known_.n_labels;
        for (std::int64_t begin = 0; begin < T; ++begin)
            for (std::int64_t k = 0, ended = 0; k < std::min(known_.longest, T - begin); ++k) {
                ended += known_.size[known_.tokens.begin(i) + begin + k] > 0;
                for (std::int64_t part = (begin * known_.longest + k) * L, l = 0; l < L; ++l, ++part)
                    steps[part] = static_cast<std::int32_t>(ended) - known_.has(i, part);
            }
    }
    std::int32_t at(std::int64_t i, std::int64_t part) const override {
        const std::int64_t begin = known_.tokens.begin(i) + part / known_.n_labels / known_.longest;
        const std::int64_t length = part / known_.n_labels % known_.longest + 1;
        const auto within = known_.size.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length));
        const auto ended = std::ranges::count_if(within, [](std::int32_t k) { return k > 0; });
        return static_cast<std::int32_t>(ended) - known_.has(i, part);
    }

private:
    KnownSegments known_;
};

// A price for every segment, as they are given.
class ListedSpans : public SpanLoss {
public:
    ListedSpans(std::span<const double> values, Ragged parts, std::span<const double> truths)
        : values_(values), parts_(parts), truths_(truths) {}

    const Few* few(std::int64_t, Few&) const override { return nullptr; }
    const double* all(std::int64_t i) const override { return values_.data() + parts_.begin(i); }
    double at(std::int64_t i, std::int64_t part) const override { return values_[parts_.begin(i) + part]; }
    double truth(std::int64_t i) const override { return truths_[i]; }

private:
    std::span<const double> values_;
    Ragged parts_;
    std::span<const double> truths_;
};

}  // namespace structlearn
