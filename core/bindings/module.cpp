#include "bindings/problems.hpp"

namespace structlearn::bindings {

void bind_attributes(nanobind::module_& module);
void bind_linear(nanobind::module_& module);
void bind_ranking(nanobind::module_& module);
void bind_working_sets(nanobind::module_& module);
nanobind::class_<Multiclass> bind_multiclass(nanobind::module_& module);
nanobind::class_<Chain> bind_chain(nanobind::module_& module);
nanobind::class_<SecondOrderChain> bind_second_order(nanobind::module_& module);
nanobind::class_<Segments> bind_segments(nanobind::module_& module);
nanobind::class_<Grammar> bind_grammar(nanobind::module_& module);
nanobind::class_<Alignment> bind_alignment(nanobind::module_& module);
void bind_clustering(nanobind::module_& module);
void bind_motif(nanobind::module_& module);
void bind_parts(nanobind::class_<Chain>& chain, nanobind::class_<SecondOrderChain>& second_order,
                nanobind::class_<Segments>& segments, nanobind::class_<Multiclass>& multiclass,
                nanobind::class_<Grammar>& grammar, nanobind::class_<Alignment>& alignment);

}  // namespace structlearn::bindings

NB_MODULE(_core, module) {
    using namespace structlearn::bindings;
    module.doc() = "Compiled kernels over flat arrays; sizes and indices are checked by the Python callers.";
    bind_attributes(module);
    bind_linear(module);
    bind_ranking(module);
    bind_working_sets(module);
    auto multiclass = bind_multiclass(module);
    auto chain = bind_chain(module);
    auto second_order = bind_second_order(module);
    auto segments = bind_segments(module);
    auto grammar = bind_grammar(module);
    auto alignment = bind_alignment(module);
    bind_clustering(module);
    bind_motif(module);
    bind_parts(chain, second_order, segments, multiclass, grammar, alignment);
}
