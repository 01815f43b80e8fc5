#pragma once

#include <optional>

#include "bindings/arrays.hpp"
#include "grammar/data.hpp"

namespace structlearn::bindings {

// A bound Grammar; holding the arrays keeps them alive.
struct Grammar {
    Grammar(const GrammarRules& rules_, Vector<std::int64_t> offsets_, Vector<std::int32_t> words_,
            Vector<std::int32_t> edges_, Vector<std::int64_t> tree_offsets_, Vector<std::int64_t> gold_offsets_,
            Vector<std::int32_t> gold_)
        : rules(rules_),
          offsets(std::move(offsets_)),
          words(std::move(words_)),
          edges(std::move(edges_)),
          tree_offsets(std::move(tree_offsets_)),
          gold_offsets(std::move(gold_offsets_)),
          gold(std::move(gold_)),
          data{&rules, view(offsets), words.data(), edges.data(), view(tree_offsets), view(gold_offsets), gold.data()} {}
    Grammar(const Grammar&) = delete;

    GrammarRules rules;
    Vector<std::int64_t> offsets;
    Vector<std::int32_t> words, edges;
    Vector<std::int64_t> tree_offsets, gold_offsets;
    Vector<std::int32_t> gold;
    GrammarData data;
};

}  // namespace structlearn::bindings
