// Keys: signed integers in the order of elements.

#pragma once

#include "vectors.h"

namespace {

template <class T>
constexpr SignedOf<T> kLargest = SignedOf<T>(~UnsignedOf<T>(0) >> 1);
template <class T>
constexpr SignedOf<T> kLeast = SignedOf<T>(-kLargest<T> - 1);

// Returns the bits of a number, or of a vector of them, as signed integers.
template <class T, class X>
inline auto BitsOf(X x) {
  std::conditional_t<std::is_arithmetic_v<X>, SignedOf<T>, Mask<T>> bits;
  std::memcpy(&bits, &x, sizeof(x));
  return bits;
}

// Returns signed integers in the order of sign and magnitude.
template <class T, class X>
inline auto TotalKeysOf(X x) {
  auto bits = BitsOf<T>(x);
  if constexpr (std::is_floating_point_v<T>)
    return bits ^ ((bits >> (8 * sizeof(T) - 1)) & kLargest<T>);
  else if constexpr (std::is_unsigned_v<T>)
    return bits ^ kLeast<T>;
  else
    return bits;
}

// Returns signed integers in the order of sort.
template <class T, class X>
inline auto KeysOf(X x) {
  auto keys = TotalKeysOf<T>(x);
  if constexpr (std::is_floating_point_v<T>) {
    keys = x == T(0) ? keys & SignedOf<T>(0) : keys;
    keys = x != x ? keys | kLargest<T> : keys;
    keys = x != x ? keys & kLargest<T> : keys;
  }
  return keys;
}

// Returns the numbers whose keys these are.
template <class T, class K>
inline auto ValuesOf(K keys) {
  if constexpr (std::is_floating_point_v<T>)
    keys = keys ^ ((keys >> (8 * sizeof(T) - 1)) & kLargest<T>);
  else if constexpr (std::is_unsigned_v<T>)
    keys = keys ^ kLeast<T>;
  std::conditional_t<std::is_arithmetic_v<K>, T, Vector<T>> values;
  std::memcpy(&values, &keys, sizeof(values));
  return values;
}

// Returns whether other bits have the key of a number, or -1 in such lanes.
template <class T, class X>
inline auto SharesKey(X x) {
  return (x != x) | ((x == T(0)) & (BitsOf<T>(x) != 0));
}

}  // namespace
