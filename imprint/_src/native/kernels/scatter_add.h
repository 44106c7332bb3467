// scatter_add of numbers: [count] updates added at sorted int32 indices of [n].
//
// Updates of an index that there is not are left out. Of one index, sixty-four are summed at
// once, in eight sums, which are exact for float32 but for the last rounding.

#pragma once

#include "eights.h"

namespace {

template <class T>
void AddSorted(const int32_t* index, const T* updates, int64_t count, T* out, int64_t n) {
  using A = Accumulator<T>;
  for (int64_t i = 0; i < count;) {
    int64_t at = index[i], first = i;
    Eight<A> sums = {};
    for (; i + 63 < count && index[i + 63] == at; i += 64)
      for (int k = 0; k < 64; k += 8)
        sums += __builtin_convertvector(LoadEight(updates + i + k), Eight<A>);
    A sum = i > first ? Prefixes(sums)[7] : A(0);
    for (; i < count && index[i] == at; ++i) sum += A(updates[i]);
    if (0 <= at && at < n) out[at] = T(A(out[at]) + sum);
  }
}

Error* ScatterAddSorted(CallFrame* frame) {
  const Buffer &x = Argument(frame, 0), &index = Argument(frame, 1);
  const Buffer &updates = Argument(frame, 2), &out = Result(frame, 0);
  return ForDtype(frame, x.dtype, [&](auto zero) -> Error* {
    using T = decltype(zero);
    std::memcpy(out.data, x.data, x.dims[0] * sizeof(T));
    AddSorted(static_cast<const int32_t*>(index.data),
              static_cast<const T*>(updates.data), index.dims[0],
              static_cast<T*>(out.data), x.dims[0]);
    return nullptr;
  });
}

}  // namespace
