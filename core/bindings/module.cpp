#include <nanobind/nanobind.h>

namespace structlearn::bindings {

void bind_attributes(nanobind::module_& module);
void bind_dense(nanobind::module_& module);
void bind_rows(nanobind::module_& module);
void bind_working_sets(nanobind::module_& module);
void bind_multiclass(nanobind::module_& module);
void bind_chain(nanobind::module_& module);

}  // namespace structlearn::bindings

NB_MODULE(_core, module) {
    module.doc() = "Compiled kernels over flat arrays; sizes and indices are checked by the Python callers.";
    structlearn::bindings::bind_attributes(module);
    structlearn::bindings::bind_dense(module);
    structlearn::bindings::bind_rows(module);
    structlearn::bindings::bind_working_sets(module);
    structlearn::bindings::bind_multiclass(module);
    structlearn::bindings::bind_chain(module);
}
