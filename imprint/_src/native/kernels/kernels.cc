// The handlers for one instruction set, named by IMPRINT_LEVEL, as a table.

#include "arg_reductions.h"
#include "cumulative.h"
#include "library.h"
#include "scatter_add.h"
#include "small_matrices.h"
#include "sorting.h"
#include "top_k.h"

namespace {

// Answers the engine's question for the version of the interface, or computes.
template <xla_ffi::Handler kCompute>
Error* Handle(CallFrame* frame) {
  xla_ffi::Extension* extension = frame->extension_start;
  if (extension != nullptr && extension->type == xla_ffi::kMetadata) {
    auto* asked = reinterpret_cast<xla_ffi::MetadataExtension*>(extension);
    asked->metadata->api_version.major_version = xla_ffi::kMajor;
    asked->metadata->api_version.minor_version = xla_ffi::kMinor;
    return nullptr;
  }
  return kCompute(frame);
}

}  // namespace

extern const Kernel IMPRINT_LEVEL[] = {
    {"imprint_kernel_argmax", Handle<FindExtreme<true>>},
    {"imprint_kernel_argmin", Handle<FindExtreme<false>>},
    {"imprint_kernel_sort", Handle<Sort>},
    {"imprint_kernel_sort_by", Handle<SortBy>},
    {"imprint_kernel_top_k", Handle<TopK>},
    {"imprint_kernel_scatter_add_sorted", Handle<ScatterAddSorted>},
    {"imprint_kernel_cumsum", Handle<Cumsum<false>>},
    {"imprint_kernel_cumsum_back", Handle<Cumsum<true>>},
    {"imprint_kernel_cholesky", Handle<OfSmallMatrices<CholeskyCall>>},
    {"imprint_kernel_lu", Handle<OfSmallMatrices<LuCall>>},
    {"imprint_kernel_solve_upper",
     Handle<OfSmallMatrices<TriangularCall<false, false, false>>>},
    {"imprint_kernel_solve_upper_unit",
     Handle<OfSmallMatrices<TriangularCall<false, false, true>>>},
    {"imprint_kernel_solve_upper_transposed",
     Handle<OfSmallMatrices<TriangularCall<false, true, false>>>},
    {"imprint_kernel_solve_upper_transposed_unit",
     Handle<OfSmallMatrices<TriangularCall<false, true, true>>>},
    {"imprint_kernel_solve_lower",
     Handle<OfSmallMatrices<TriangularCall<true, false, false>>>},
    {"imprint_kernel_solve_lower_unit",
     Handle<OfSmallMatrices<TriangularCall<true, false, true>>>},
    {"imprint_kernel_solve_lower_transposed",
     Handle<OfSmallMatrices<TriangularCall<true, true, false>>>},
    {"imprint_kernel_solve_lower_transposed_unit",
     Handle<OfSmallMatrices<TriangularCall<true, true, true>>>},
    {nullptr, nullptr},
};
