#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "batch/parallel.hpp"
#include "batch/ragged.hpp"
#include "linear/dense.hpp"
#include "linear/sparse.hpp"

namespace structlearn {

constexpr std::int64_t n_bases = 4;
// Letters are read as words of `word_length` digits in base 5: A, C, G, T and, as 4, what is none of them. Letters past
// the end of a sequence are 4 as well.
constexpr std::int64_t word_length = 4;
constexpr std::int64_t n_words = 625;

// Where a pattern lies: which of the widths, on which strand, from which letter on. A negative width number is no site.
struct Site {
    std::int32_t width, strand, start;
};

// Sequences one after another, `words[t]` is the word that begins at letter t, `contexts[t]` the
// number of the background feature of letter t, or −1. Weights: a pattern (width × 4) for every width, then the background.
struct MotifData {
    Ragged letters;  // of the sequences
    const std::int16_t* words;
    const std::int16_t* contexts;
    std::span<const std::int64_t> widths;
    bool both_strands;

    std::int64_t length(std::int64_t i) const { return letters.size(i); }
    std::int64_t pattern_at(std::size_t width) const {
        std::int64_t at = 0;
        for (std::size_t k = 0; k < width; ++k) at += n_bases * widths[k];
        return at;
    }
    std::int64_t background_at() const { return pattern_at(widths.size()); }

    // Ψ(x_i, +1, site) − Ψ(x_i, −1), times the sign: the letters of the site leave the background for the pattern.
    void features(std::int64_t i, Site site, double sign, RowBuilder& row) const {
        if (site.width < 0) return;
        const std::int64_t width = widths[static_cast<std::size_t>(site.width)];
        const std::int64_t pattern = pattern_at(static_cast<std::size_t>(site.width)), background = background_at();
        const std::int64_t begin = letters.begin(i) + site.start;
        for (std::int64_t k = 0; k < width; ++k) {
            const std::int64_t base = words[begin + k] / 125;
            row(pattern + (site.strand ? n_bases * (width - 1 - k) + 3 - base : n_bases * k + base), sign);
            if (contexts[begin + k] >= 0) row(background + contexts[begin + k], -sign);
        }
    }
};

// A number for each strand.
struct Strands {
    double forward, reverse;
};

// Scores of the words that a pattern is cut into, so that a site of 11 letters costs three look-ups, which serve both
// strands. A letter that is no base makes a word, and so the site, impossible.
class WordScores {
public:
    WordScores(const double* pattern, std::int64_t width, bool both_strands)
        : scores_(static_cast<std::size_t>((width + word_length - 1) / word_length * n_words), Strands{0.0, 0.0}) {
        constexpr double impossible = -std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < scores_.size(); ++k) {
            const std::int64_t word = static_cast<std::int64_t>(k) % n_words;
            std::int64_t j = static_cast<std::int64_t>(k) / n_words * word_length;
            for (std::int64_t unit = 125; unit > 0 && j < width; unit /= 5, ++j) {
                const std::int64_t base = word / unit % 5;
                const bool known = base < n_bases;
                scores_[k].forward += known ? pattern[n_bases * j + base] : impossible;
                scores_[k].reverse +=
                    known && both_strands ? pattern[n_bases * (width - 1 - j) + 3 - base] : impossible;
            }
        }
    }

    Strands operator()(const std::int16_t* words) const {
        Strands sum{0.0, 0.0};
        for (std::size_t k = 0; k < scores_.size(); k += n_words, words += word_length) {
            const Strands& word = scores_[k + static_cast<std::size_t>(*words)];
            sum.forward += word.forward, sum.reverse += word.reverse;
        }
        return sum;
    }

private:
    std::vector<Strands> scores_;
};

// argmax over all sites of ⟨w, Ψ(x, +1, site) − Ψ(x, −1)⟩, for one sequence after another.
class MotifScan {
public:
    MotifScan(const MotifData& data, const double* w) : data_(data), background_(w + data.background_at()) {
        for (std::size_t k = 0; k < data.widths.size(); ++k)
            patterns_.emplace_back(w + data.pattern_at(k), data.widths[k], data.both_strands);
    }

    // The first of the best sites and its score; −∞ and no site where there is none. `upto` is scratch space.
    std::pair<Site, double> best(std::int64_t i, std::vector<double>& upto) const {
        const std::int64_t begin = data_.letters.begin(i), length = data_.length(i);
        upto.resize(static_cast<std::size_t>(length) + 1);
        upto[0] = 0.0;
        for (std::int64_t t = 0; t < length; ++t) {
            const std::int16_t context = data_.contexts[begin + t];
            upto[static_cast<std::size_t>(t) + 1] =
                upto[static_cast<std::size_t>(t)] + (context < 0 ? 0.0 : background_[context]);
        }
        Site site{-1, 0, 0};
        double most = -std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < data_.widths.size(); ++k) {
            const std::int64_t width = data_.widths[k];
            const WordScores& scores = patterns_[k];
            for (std::int64_t h = 0; h + width <= length; ++h) {
                const Strands sum = scores(data_.words + begin + h);
                const double background = upto[static_cast<std::size_t>(h + width)] - upto[static_cast<std::size_t>(h)];
                const double score = std::max(sum.forward, sum.reverse) - background;
                if (score > most) {
                    most = score;
                    site = {static_cast<std::int32_t>(k), sum.reverse > sum.forward, static_cast<std::int32_t>(h)};
                }
            }
        }
        return {site, most};
    }

private:
    const MotifData& data_;
    const double* background_;
    std::vector<WordScores> patterns_;
};

// The best site of each example, a row (width number, strand, start), and its score above that of no site.
inline void best_sites(const MotifData& data, std::span<const double> w, std::span<const std::int64_t> examples,
                       std::span<std::int32_t> out, std::span<double> scores, int n_threads) {
    const MotifScan scan(data, w.data());
    for_each_example(examples, n_threads, std::vector<double>(),
                     [&](std::int64_t k, std::int64_t i, std::vector<double>& scratch) {
                         const auto [found, score] = scan.best(i, scratch);
                         std::int32_t* row = out.data() + 3 * k;
                         row[0] = found.width, row[1] = found.strand, row[2] = found.start;
                         scores[k] = score;
                     });
}

// Ψ(x_i, left) − Ψ(x_i, right), outputs as rows (width number, strand, start).
inline CsrRows site_differences(const MotifData& data, std::span<const std::int64_t> examples,
                                MatrixView<std::int32_t> left, MatrixView<std::int32_t> right) {
    auto site = [](const std::int32_t* row) { return Site{row[0], row[1], row[2]}; };
    CsrRows rows;
    RowBuilder row;
    for (std::size_t k = 0; k < examples.size(); ++k) {
        row.clear();
        data.features(examples[k], site(left.row(k)), 1.0, row);
        data.features(examples[k], site(right.row(k)), -1.0, row);
        row.sort();
        rows.append(row);
    }
    return rows;
}

}  // namespace structlearn
