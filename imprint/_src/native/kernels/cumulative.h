// cumsum of [outer, n, inner] along n, forwards or backwards.
//
// Sums of float32 are kept in float64. Those of float64 are kept in two numbers, the second
// of which has what the first has lost (Knuth, 4.2.2, theorem B). Integers wrap around.
// Always eight elements are taken at once, so that results depend on no instruction set.

#pragma once

#include "eights.h"

namespace {

// A sum of numbers, or of vectors of them.
template <class T, class X>
struct Sum {
  X high = {};
  void Add(X x) { high += x; }
  template <class V>
  V With(V v) const {
    return high + v;
  }
};

template <class X>
struct Sum<double, X> {
  X high = {}, low = {};
  void Add(X x) {
    X sum = high + x, part = sum - high;
    X lost = (high - (sum - part)) + (x - part);
    low += lost == lost ? lost : X{};  // infinities lose nothing
    high = sum;
  }
  template <class V>
  V With(V v) const {
    return high + (low + v);
  }
};

template <class T, bool kBackwards>
struct CumulativeSum {
  using A = Accumulator<T>;

  static void OfRow(const T* x, T* out, int64_t n) {
    constexpr int64_t kBlock = 64;
    Sum<T, A> before;
    int64_t done = 0;
    while (n - done >= 8) {
      int64_t size = n - done < kBlock ? (n - done) / 8 * 8 : kBlock;
      A inside = 0;
      for (int64_t end = done + size; done < end; done += 8) {
        int64_t at = kBackwards ? n - done - 8 : done;
        Eight<A> v = __builtin_convertvector(LoadEight(x + at), Eight<A>);
        v = Prefixes(kBackwards ? Reversed(v) : v);
        Eight<A> with = before.With(v + inside);
        inside += v[7];
        if (kBackwards) with = Reversed(with);
        Store(out + at, __builtin_convertvector(with, Eight<T>));
      }
      before.Add(inside);
    }
    for (; done < n; ++done) {
      int64_t at = kBackwards ? n - done - 1 : done;
      before.Add(A(x[at]));
      out[at] = T(before.With(A(0)));
    }
  }

  // Of `kCount` times eight columns.
  template <int kCount>
  static void OfColumns(const T* x, T* out, int64_t n, int64_t inner) {
    Sum<T, Eight<A>> sums[kCount];
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = (kBackwards ? n - 1 - i : i) * inner;
      for (int u = 0; u < kCount; ++u) {
        sums[u].Add(__builtin_convertvector(LoadEight(x + at + 8 * u), Eight<A>));
        Store(out + at + 8 * u, __builtin_convertvector(sums[u].With(Eight<A>{}), Eight<T>));
      }
    }
  }

  static void OfColumn(const T* x, T* out, int64_t n, int64_t inner) {
    Sum<T, A> sum;
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = (kBackwards ? n - 1 - i : i) * inner;
      sum.Add(A(x[at]));
      out[at] = T(sum.With(A(0)));
    }
  }

  static void Run(const T* x, T* out, const Lines& lines) {
    int64_t n = lines.n, inner = lines.inner;
    for (int64_t o = 0; o < lines.outer; ++o, x += n * inner, out += n * inner) {
      int64_t c = 0;
      if (inner == 1) OfRow(x, out, n), ++c;
      for (; c + 32 <= inner; c += 32) OfColumns<4>(x + c, out + c, n, inner);
      for (; c + 8 <= inner; c += 8) OfColumns<1>(x + c, out + c, n, inner);
      for (; c < inner; ++c) OfColumn(x + c, out + c, n, inner);
    }
  }
};

template <bool kBackwards>
Error* Cumsum(CallFrame* frame) {
  const Buffer& in = Argument(frame, 0);
  return ForDtype(frame, in.dtype, [&](auto zero) -> Error* {
    using T = decltype(zero);
    CumulativeSum<T, kBackwards>::Run(static_cast<const T*>(in.data),
                                      static_cast<T*>(Result(frame, 0).data), Lines(in));
    return nullptr;
  });
}

}  // namespace
