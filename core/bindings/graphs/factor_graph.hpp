#pragma once

#include <utility>

#include "bindings/arrays.hpp"
#include "graph/factor_graph.hpp"

namespace structlearn::bindings {

// A factor graph with the arrays of Python that it views.
struct FactorGraphArrays {
    FactorGraphArrays(Vector<double> constants_, Vector<std::int64_t> variable_offsets_,
                      Vector<std::int32_t> n_labels_, Vector<std::int64_t> unary_offsets_, Vector<double> unaries_, Vector<std::int64_t> scope_offsets_, Vector<std::int32_t> scopes_,
                      Vector<std::uint8_t> kinds_, Vector<std::int64_t> value_offsets_, Vector<double> values_)
        : constants(std::move(constants_)),
          variable_offsets(std::move(variable_offsets_)),
          n_labels(std::move(n_labels_)),
          unary_offsets(std::move(unary_offsets_)),
          unaries(std::move(unaries_)),
          scope_offsets(std::move(scope_offsets_)),
          scopes(std::move(scopes_)),
          kinds(std::move(kinds_)),
          value_offsets(std::move(value_offsets_)),
          values(std::move(values_)),
          data{view(constants),     view(variable_offsets), view(n_labels), view(unary_offsets), view(unaries),
               view(scope_offsets), view(scopes),           view(kinds),    view(value_offsets), view(values)} {}
    FactorGraphArrays(const FactorGraphArrays&) = delete;

    Vector<double> constants;
    Vector<std::int64_t> variable_offsets;
    Vector<std::int32_t> n_labels;
    Vector<std::int64_t> unary_offsets;
    Vector<double> unaries;
    Vector<std::int64_t> scope_offsets;
    Vector<std::int32_t> scopes;
    Vector<std::uint8_t> kinds;
    Vector<std::int64_t> value_offsets;
    Vector<double> values;
    FactorGraph data;
};

}  // namespace structlearn::bindings
