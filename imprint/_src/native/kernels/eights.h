// Eight elements at once, on every instruction set: sums of them are the same on all.

#pragma once

#include "vectors.h"

namespace {

template <class T>
struct EightOf {
  typedef T type __attribute__((vector_size(8 * sizeof(T))));
};
template <class T>
using Eight = typename EightOf<T>::type;

template <class T>
inline Eight<T> LoadEight(const T* x) {
  Eight<T> v;
  std::memcpy(&v, x, sizeof(v));
  return v;
}

// Returns elements of `v`, or zeros for places from 8 on.
template <int... kPlaces, class V>
inline V Chosen(V v) {
#if defined(__clang__)
  return __builtin_shufflevector(v, V{}, kPlaces...);
#else
  using I = std::remove_reference_t<decltype(v == v)>;
  return __builtin_shuffle(v, V{}, I{kPlaces...});
#endif
}

template <class V>
inline V Reversed(V v) {
  return Chosen<7, 6, 5, 4, 3, 2, 1, 0>(v);
}

// Returns the sums of the first elements, of the first two, and so on.
template <class V>
inline V Prefixes(V v) {
  v += Chosen<8, 0, 1, 2, 3, 4, 5, 6>(v);
  v += Chosen<8, 8, 0, 1, 2, 3, 4, 5>(v);
  return v + Chosen<8, 8, 8, 8, 0, 1, 2, 3>(v);
}

// What elements are summed in.
template <class T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, UnsignedOf<T>, double>;

}  // namespace
