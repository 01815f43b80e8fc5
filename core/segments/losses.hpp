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

    // What segments cost by their labels, and by how much more a few of them do: those that end with a token have the label
    // `label[t]`, −1 for none, or one of the `labels`, (length, n_labels), and are `size[t]` long. Null if each segment has a
    // price of its own.
    struct Few {
        std::vector<double> each;
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

// The true segments, of which those with some labels count.
struct TrueSegments {
    std::span<const std::int32_t> codes;
    Ragged tokens;
    std::int64_t longest;
    std::span<const std::uint8_t> counted;  // by label
    std::span<const std::uint8_t> ends;     // by token, whether a true segment that counts ends with it

    std::int64_t n_labels() const { return static_cast<std::int64_t>(counted.size()); }
    // How many count, with those that no output can have.
    std::int64_t count(std::int64_t i) const { return ended(i, 0, tokens.size(i)); }
    // How many of them end within some tokens.
    std::int64_t ended(std::int64_t i, std::int64_t begin, std::int64_t end) const {
        const std::uint8_t* first = ends.data() + tokens.begin(i);
        return std::count(first + begin, first + end, 1);
    }
    // Calls visit(label, begin, end) for those that count and that outputs can have.
    template <class Visit>
    void each(std::int64_t i, Visit&& visit) const {
        each_segment(tokens.size(i), n_labels(), codes.data() + tokens.begin(i),
                     [&](std::int64_t label, std::int64_t begin, std::int64_t end) {
                         if (label >= 0 && counted[label] && end - begin <= longest) visit(label, begin, end);
                     });
    }
    bool holds(std::int64_t i, std::int64_t label, std::int64_t begin, std::int64_t size) const {
        const std::int32_t* codes_of = codes.data() + tokens.begin(i);
        if (codes_of[begin] != label) return false;
        std::int64_t end = begin + 1;
        while (end < tokens.size(i) && !begins_segment(codes_of[end], n_labels())) ++end;
        return end - begin == size;
    }
    std::int64_t part(std::int64_t label, std::int64_t begin, std::int64_t size) const {
        return (begin * longest + size - 1) * n_labels() + label;
    }
};

// A part by its label, its begin and its length.
struct Span {
    std::int64_t label, begin, size;
    Span(std::int64_t part, const TrueSegments& truth)
        : label(part % truth.n_labels()),
          begin(part / truth.n_labels() / truth.longest),
          size(part / truth.n_labels() % truth.longest + 1) {}
};

// The number of segments that only the output has, and `missed` times that of those that only the truth has: 1 for each
// segment, −missed for a true one.
class MissedSegments : public SpanLoss {
public:
    MissedSegments(const TrueSegments& truth, double missed) : truth_(truth), missed_(missed) {}

    const Few* few(std::int64_t i, Few& memory) const override {
        memory.each.assign(truth_.counted.begin(), truth_.counted.end());
        memory.more = -1.0 - missed_, memory.labels = nullptr;
        memory.label.assign(static_cast<std::size_t>(truth_.tokens.size(i)), -1);
        memory.size.assign(memory.label.size(), 0);
        truth_.each(i, [&](std::int64_t label, std::int64_t begin, std::int64_t end) {
            memory.label[end - 1] = label;
            memory.size[end - 1] = end - begin;
        });
        return &memory;
    }
    const double* all(std::int64_t) const override { return nullptr; }

    double at(std::int64_t i, std::int64_t part) const override {
        const Span span(part, truth_);
        if (!truth_.counted[span.label]) return 0.0;
        return truth_.holds(i, span.label, span.begin, span.size) ? -missed_ : 1.0;
    }
    double truth(std::int64_t i) const override { return -missed_ * static_cast<double>(truth_.count(i)); }

private:
    TrueSegments truth_;
    double missed_;
};

// The same as steps, in whole units: a segment takes `made_up` for itself if it is not true, and `missed` for every other true
// segment that ends in it.
class MissedSegmentSteps : public PartSteps {
public:
    MissedSegmentSteps(const TrueSegments& truth, std::int32_t missed, std::int32_t made_up)
        : truth_(truth), missed_(missed), made_up_(made_up) {}

    bool of_spans() const override { return true; }
    std::int64_t n_levels(std::int64_t i) const override {
        return made_up_ * truth_.tokens.size(i) + missed_ * truth_.count(i) + 1;
    }
    void write(std::int64_t i, std::int32_t* steps) const override {
        const std::int64_t T = truth_.tokens.size(i), L = truth_.n_labels(), longest = truth_.longest;
        for (std::int64_t begin = 0; begin < T; ++begin)
            for (std::int64_t size = 1, ended = 0; size <= std::min(longest, T - begin); ++size) {
                ended += truth_.ended(i, begin + size - 1, begin + size);
                std::int32_t* here = steps + truth_.part(0, begin, size);
                for (std::int64_t l = 0; l < L; ++l)
                    here[l] = static_cast<std::int32_t>(made_up_ * truth_.counted[l] + missed_ * ended);
            }
        truth_.each(i, [&](std::int64_t label, std::int64_t begin, std::int64_t end) {
            steps[truth_.part(label, begin, end - begin)] = 0;
        });
    }
    std::int32_t at(std::int64_t i, std::int64_t part) const override {
        const Span span(part, truth_);
        const bool counted = truth_.counted[span.label];
        if (counted && truth_.holds(i, span.label, span.begin, span.size)) return 0;
        return static_cast<std::int32_t>(made_up_ * counted + missed_ * truth_.ended(i, span.begin, span.begin + span.size));
    }

private:
    TrueSegments truth_;
    std::int64_t missed_, made_up_;
};

// How many segments count: the true ones first, then all.
class FoundSegments : public PartSteps {
public:
    explicit FoundSegments(const TrueSegments& truth) : truth_(truth) {}

    bool of_spans() const override { return true; }
    std::int64_t n_levels(std::int64_t i) const override { return (truth_.count(i) + 1) * width(i); }
    std::int64_t width(std::int64_t i) const override { return truth_.tokens.size(i) + 1; }
    void write(std::int64_t i, std::int32_t* steps) const override {
        const std::int64_t n = truth_.tokens.size(i) * truth_.longest;
        for (std::int64_t k = 0; k < n; ++k) std::copy(truth_.counted.begin(), truth_.counted.end(), steps + k * truth_.n_labels());
        truth_.each(i, [&](std::int64_t label, std::int64_t begin, std::int64_t end) {
            steps[truth_.part(label, begin, end - begin)] += static_cast<std::int32_t>(width(i));
        });
    }
    std::int32_t at(std::int64_t i, std::int64_t part) const override {
        const Span span(part, truth_);
        if (!truth_.counted[span.label]) return 0;
        return static_cast<std::int32_t>(1 + (truth_.holds(i, span.label, span.begin, span.size) ? width(i) : 0));
    }

private:
    TrueSegments truth_;
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
        memory.each.assign(static_cast<std::size_t>(known_.n_labels), 0.0), memory.more = -1.0;
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
