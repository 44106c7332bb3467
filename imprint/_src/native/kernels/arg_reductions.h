// argmax and argmin of [outer, n, inner] along n: the first extreme, or the first NaN.

#pragma once

#include "vectors.h"

namespace {

template <class T, bool kLargest>
struct Extreme {
  using V = Vector<T>;
  using M = Mask<T>;
  static constexpr int kLanes = Lanes<T>;

  template <class X>
  static auto Beats(X x, X y) {
    if constexpr (kLargest) return x > y;
    else return x < y;
  }

  // Of a row: the extreme of each block by vectors, then its place in the first block.
  static int64_t OfRow(const T* x, int64_t n) {
    constexpr int64_t kBlock = 64 * kLanes;
    int64_t at = 0, start = 0;
    T best = x[0];
    for (; start + kBlock <= n; start += kBlock) {
      V most[4] = {Load(x + start), Load(x + start + kLanes),
                   Load(x + start + 2 * kLanes), Load(x + start + 3 * kLanes)};
      M nan = {};
      for (int64_t i = start; i < start + kBlock; i += 4 * kLanes) {
        for (int u = 0; u < 4; ++u) {
          V v = Load(x + i + u * kLanes);
          most[u] = Beats(v, most[u]) ? v : most[u];
          nan |= v != v;
        }
      }
      if (Any(nan)) {
        while (x[start] == x[start]) ++start;
        return start;
      }
      for (int u = 0; u < 4; ++u)
        for (int lane = 0; lane < kLanes; ++lane)
          if (Beats(T(most[u][lane]), best)) best = most[u][lane], at = start;
    }
    for (int64_t i = start; i < n; ++i) {
      if (x[i] != x[i]) return i;
      if (Beats(x[i], best)) best = x[i], at = i;
    }
    while (x[at] != best) ++at;
    return at;
  }

  // Of as many columns as `kCount` vectors have lanes.
  template <int kCount>
  static void OfColumns(const T* x, int64_t n, int64_t inner, int32_t* out) {
    V best[kCount];
    M at[kCount] = {};
    for (int u = 0; u < kCount; ++u) best[u] = Load(x + u * kLanes);
    for (int64_t i = 1; i < n; ++i) {
      M index = M{} + SignedOf<T>(i);
      for (int u = 0; u < kCount; ++u) {
        V v = Load(x + i * inner + u * kLanes);
        M wins = Beats(v, best[u]) | ((v != v) & (best[u] == best[u]));
        best[u] = wins ? v : best[u];
        at[u] = wins ? index : at[u];
      }
    }
    for (int u = 0; u < kCount; ++u)
      for (int lane = 0; lane < kLanes; ++lane) out[u * kLanes + lane] = at[u][lane];
  }

  static int32_t OfColumn(const T* x, int64_t n, int64_t inner) {
    T best = x[0];
    int64_t at = 0;
    for (int64_t i = 1; i < n; ++i) {
      T v = x[i * inner];
      bool wins = Beats(v, best) || (v != v && best == best);
      best = wins ? v : best;
      at = wins ? i : at;
    }
    return at;
  }

  static void Run(const T* x, int32_t* out, const Lines& lines) {
    int64_t n = lines.n, inner = lines.inner;
    for (int64_t o = 0; o < lines.outer; ++o, x += n * inner, out += inner) {
      int64_t c = 0;
      if (inner == 1) out[c++] = OfRow(x, n);
      for (; c + 4 * kLanes <= inner; c += 4 * kLanes)
        OfColumns<4>(x + c, n, inner, out + c);
      for (; c + kLanes <= inner; c += kLanes) OfColumns<1>(x + c, n, inner, out + c);
      for (; c < inner; ++c) out[c] = OfColumn(x + c, n, inner);
    }
  }
};

template <bool kLargest>
Error* FindExtreme(CallFrame* frame) {
  const Buffer& x = Argument(frame, 0);
  auto* out = static_cast<int32_t*>(Result(frame, 0).data);
  return ForDtype(frame, x.dtype, [&](auto zero) -> Error* {
    using T = decltype(zero);
    Extreme<T, kLargest>::Run(static_cast<const T*>(x.data), out, Lines(x));
    return nullptr;
  });
}

}  // namespace
