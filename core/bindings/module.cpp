#include <nanobind/nanobind.h>

namespace structlearn::bindings {

void bind_attributes(nanobind::module_& module);
void bind_linear(nanobind::module_& module);
void bind_ranking(nanobind::module_& module);
void bind_working_sets(nanobind::module_& module);
void bind_scorers(nanobind::module_& module);
void bind_losses(nanobind::module_& module);
void bind_kernel(nanobind::module_& module);
void bind_multiclass(nanobind::module_& module);
void bind_chain(nanobind::module_& module);
void bind_second_order(nanobind::module_& module);
void bind_segments(nanobind::module_& module);
void bind_grammar(nanobind::module_& module);
void bind_alignment(nanobind::module_& module);
void bind_dependency(nanobind::module_& module);
void bind_derivations(nanobind::module_& module);
void bind_clustering(nanobind::module_& module);
void bind_matching(nanobind::module_& module);
void bind_motif(nanobind::module_& module);
void bind_factor_graph(nanobind::module_& module);
void bind_dual_ascent(nanobind::module_& module);
void bind_forest_moves(nanobind::module_& module);
void bind_branch_and_bound(nanobind::module_& module);
void bind_junction_tree(nanobind::module_& module);
void bind_graph_sums(nanobind::module_& module);
void bind_cuts(nanobind::module_& module);
void bind_network(nanobind::module_& module);

}  // namespace structlearn::bindings

NB_MODULE(_core, module) {
    using namespace structlearn::bindings;
    // What a user's module still holds when the interpreter ends is no leak, and nothing to be alarmed about.
    nanobind::set_leak_warnings(false);
    module.doc() = "Compiled kernels over flat arrays; sizes and indices are checked by the Python callers.";
    bind_attributes(module);
    bind_linear(module);
    bind_ranking(module);
    bind_scorers(module);
    bind_losses(module);
    bind_working_sets(module);
    bind_kernel(module);
    bind_multiclass(module);
    bind_chain(module);
    bind_second_order(module);
    bind_segments(module);
    bind_grammar(module);
    bind_alignment(module);
    bind_dependency(module);
    bind_derivations(module);
    bind_clustering(module);
    bind_matching(module);
    bind_motif(module);
    bind_factor_graph(module);
    bind_dual_ascent(module);
    bind_forest_moves(module);
    bind_branch_and_bound(module);
    bind_junction_tree(module);
    bind_graph_sums(module);
    bind_cuts(module);
    bind_network(module);
}
