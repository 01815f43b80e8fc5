#include "bindings/problems.hpp"

namespace structlearn::bindings {

void bind_attributes(nanobind::module_& module);
void bind_dense(nanobind::module_& module);
void bind_ranking(nanobind::module_& module);
void bind_rows(nanobind::module_& module);
void bind_item_pairs(nanobind::module_& module);
void bind_working_sets(nanobind::module_& module);
nanobind::class_<Multiclass> bind_multiclass(nanobind::module_& module);
nanobind::class_<Chain> bind_chain(nanobind::module_& module);
void bind_chain_sums(nanobind::class_<Chain>& chain);
nanobind::class_<SecondOrderChain> bind_second_order(nanobind::module_& module);
nanobind::class_<Segments> bind_segments(nanobind::module_& module);
nanobind::class_<Grammar> bind_grammar(nanobind::module_& module);
nanobind::class_<Alignment> bind_alignment(nanobind::module_& module);
void bind_motif(nanobind::module_& module);
void bind_parts(nanobind::class_<Chain>& chain, nanobind::class_<SecondOrderChain>& second_order,
                nanobind::class_<Segments>& segments, nanobind::class_<Multiclass>& multiclass,
                nanobind::class_<Grammar>& grammar, nanobind::class_<Alignment>& alignment);

}  // namespace structlearn::bindings

NB_MODULE(_core, module) {
    module.doc() = "Compiled kernels over flat arrays; sizes and indices are checked by the Python callers.";
    structlearn::bindings::bind_attributes(module);
    structlearn::bindings::bind_dense(module);
    structlearn::bindings::bind_ranking(module);
    structlearn::bindings::bind_rows(module);
    structlearn::bindings::bind_working_sets(module);
    auto multiclass = structlearn::bindings::bind_multiclass(module);
    auto chain = structlearn::bindings::bind_chain(module);
    structlearn::bindings::bind_chain_sums(chain);
    auto second_order = structlearn::bindings::bind_second_order(module);
    auto segments = structlearn::bindings::bind_segments(module);
    auto grammar = structlearn::bindings::bind_grammar(module);
    auto alignment = structlearn::bindings::bind_alignment(module);
    structlearn::bindings::bind_item_pairs(module);
    structlearn::bindings::bind_motif(module);
    structlearn::bindings::bind_parts(chain, second_order, segments, multiclass, grammar, alignment);
}
