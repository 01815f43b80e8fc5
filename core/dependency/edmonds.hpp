#pragma once

#include <cstdint>
#include <vector>

namespace structlearn {

// The best tree of arcs from a root to all tokens, with crossing arcs or without (Chu and Liu 1965, Edmonds 1967), in O(n²) for n
// tokens: paths of best arcs grow towards the root, and what closes to a cycle becomes one (Tarjan 1977).
//
// If only one token may have the root as head, weights are pairs, compared by the number of arcs from the root first, and by
// score among equals. Nothing is added to scores for that, so that nothing is lost by rounding.
class BestArborescence {
public:
    // Writes the head of every token, n of them; scores are (n + 1, n + 1) by head and modifier, −∞ for arcs that are forbidden.
    // False if there is no tree.
    bool run(std::int64_t n, bool single_root, const double* scores, std::int32_t* heads);

private:
    // How many arcs from the root, times −1, and the score; less what was the best when the token became part of a cycle.
    struct Weight {
        double score;
        std::int32_t roots;
        bool operator<(const Weight& other) const {
            return roots != other.roots ? roots < other.roots : score < other.score;
        }
        Weight operator-(const Weight& other) const { return {score - other.score, roots - other.roots}; }
    };
    struct Arc {
        Weight weight;
        std::int32_t head, modifier;  // of the tokens, whatever they are part of

        bool possible() const;
    };

    Arc& arc(std::int64_t to, std::int64_t from) { return arcs_[static_cast<std::size_t>(to * size_ + from)]; }
    void read(std::int64_t n, bool single_root, const double* scores);
    bool grow(std::int32_t start);
    std::int32_t best_head(std::int32_t place);
    void contract(std::int32_t first);
    void expand(std::int32_t* heads);

    std::int64_t size_ = 0;
    // Places: tokens, or the cycles that took their places. Nodes: tokens, then cycles as they come into being.
    std::vector<Arc> arcs_;                        // the best arc to a place from another
    std::vector<std::int32_t> active_;             // places, the root first
    std::vector<std::uint8_t> state_;              // of places
    std::vector<std::int32_t> node_;               // of places
    std::vector<std::int32_t> path_;               // places, each with the next one as its head
    std::vector<Weight> entered_;                  // of places: by which weight the best arc comes in
    std::vector<std::int32_t> parent_, next_, first_;  // of nodes: the cycle, the next in it; the first of a cycle
    std::vector<Arc> chosen_;                      // of nodes: the arc that comes in
    std::vector<std::int32_t> rest_;
};

}  // namespace structlearn
