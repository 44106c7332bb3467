// Sorting of [outer, n, inner] along n, stable: NaN is last, zeros of both signs are equal.
//
// Elements become signed integers in the same order. Short lines are sorted side by side, a
// line in each lane of vectors, by Batcher's network (Knuth, 5.2.2, algorithm M); other lines
// by their digits, the least significant first. To move other operands too, the index of an
// element stands in the lower half of its word, which makes all words different. Zeros and
// NaN of different bits share a key: their bits are put back, in their order, at the end.

#pragma once

#include "keys.h"

namespace {

// Puts back the bits of elements whose key others share, in a sorted line.
template <class T>
void RestoreBits(const T* x, T* out, int64_t n, int64_t step) {
  if constexpr (std::is_floating_point_v<T>) {
    int64_t nans = 0, zero = 0;
    for (int64_t i = 0; i < n; ++i) nans += x[i * step] != x[i * step];
    while (zero < n && !(out[zero * step] == T(0))) ++zero;
    for (int64_t i = 0, nan = n - nans; i < n; ++i) {
      T v = x[i * step];
      if (v != v) out[nan++ * step] = v;
      if (v == T(0)) out[zero++ * step] = v;
    }
  }
}

// ---- side by side ----

// The lines that start at `starts`, an element of each in the lanes of a vector.
template <class T>
void Collect(const T* x, const int64_t* starts, int64_t n, int64_t step, T* vectors) {
  constexpr int kLanes = Lanes<T>;
  if (starts[kLanes - 1] - starts[0] == kLanes - 1) {
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(vectors + i * kLanes, x + starts[0] + i * step, kVectorBytes);
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    for (int lane = 0; lane < kLanes; ++lane)
      vectors[i * kLanes + lane] = x[starts[lane] + i * step];
}

template <class T>
void Spread(const T* vectors, const int64_t* starts, int lanes, int64_t n, int64_t step,
            T* out) {
  for (int64_t i = 0; i < n; ++i)
    for (int lane = 0; lane < lanes; ++lane)
      out[starts[lane] + i * step] = vectors[i * Lanes<T> + lane];
}

// Calls `exchange(i, j)` for the pairs that a network of `n` elements compares.
template <class F>
inline void ForExchanges(int64_t n, F exchange) {
  int64_t top = 1;
  while (2 * top < n) top *= 2;
  for (int64_t p = n > 1 ? top : 0; p > 0; p /= 2) {
    int64_t first = 0, distance = p;
    for (int64_t q = top;; q /= 2) {
      for (int64_t start = first; start < n - distance; start += 2 * p) {
        int64_t end = start + p < n - distance ? start + p : n - distance;
        for (int64_t i = start; i < end; ++i) exchange(i, i + distance);
      }
      if (q == p) break;
      distance = q - p;
      first = p;
    }
  }
}

// Sorts the lanes of `n` vectors, each by itself.
template <class S>
void SortLanes(S* vectors, int64_t n) {
  ForExchanges(n, [&](int64_t i, int64_t j) {
    S *low = vectors + i * Lanes<S>, *high = vectors + j * Lanes<S>;
    Vector<S> a = Load(low), b = Load(high);
    Store(low, a < b ? a : b);
    Store(high, a < b ? b : a);
  });
}

// The same, of keys with their places in the line, which decide between equal keys.
void SortLanes(int64_t* keys, int64_t* places, int64_t n) {
  ForExchanges(n, [&](int64_t i, int64_t j) {
    i *= Lanes<int64_t>, j *= Lanes<int64_t>;
    Mask<int64_t> a = Load(keys + i), b = Load(keys + j);
    Mask<int64_t> at = Load(places + i), other = Load(places + j);
    Mask<int64_t> swaps = (a > b) | ((a == b) & (at > other));
    Store(keys + i, swaps ? b : a);
    Store(keys + j, swaps ? a : b);
    Store(places + i, swaps ? other : at);
    Store(places + j, swaps ? at : other);
  });
}

// Whether a network is faster than digits.
inline bool IsShort(const Lines& lines, int lanes) {
  return lines.n <= 128 || (lines.n <= 1024 && 2 * lines.count() >= lanes);
}

// Calls `sort(starts, lanes)` for groups of lines; the last group repeats its first line.
template <int kLanes, class F>
void ForGroups(const Lines& lines, F sort) {
  for (int64_t line = 0; line < lines.count(); line += kLanes) {
    int64_t starts[kLanes];
    int64_t left = lines.count() - line;
    for (int lane = 0; lane < kLanes; ++lane)
      starts[lane] = lines.start(line + (lane < left ? lane : 0));
    sort(starts, left < kLanes ? int(left) : kLanes);
  }
}

template <class T>
void SortSideBySide(const T* x, T* out, const Lines& lines, T* vectors) {
  constexpr int kLanes = Lanes<T>;
  ForGroups<kLanes>(lines, [&](const int64_t* starts, int lanes) {
    Collect(x, starts, lines.n, lines.inner, vectors);
    auto* keys = reinterpret_cast<SignedOf<T>*>(vectors);
    Mask<T> shares = {};
    for (int64_t i = 0; i < lines.n; ++i) {
      Vector<T> v = Load(vectors + i * kLanes);
      if constexpr (std::is_floating_point_v<T>) shares |= SharesKey<T>(v);
      Store(keys + i * kLanes, KeysOf<T>(v));
    }
    SortLanes(keys, lines.n);
    for (int64_t i = 0; i < lines.n; ++i)
      Store(vectors + i * kLanes, ValuesOf<T>(Load(keys + i * kLanes)));
    Spread(vectors, starts, lanes, lines.n, lines.inner, out);
    for (int lane = 0; Any(shares) && lane < lanes; ++lane)
      RestoreBits(x + starts[lane], out + starts[lane], lines.n, lines.inner);
  });
}

// ---- by digits ----

struct Pair {
  uint64_t key;
  uint32_t index;
};
inline uint32_t KeyIn(uint32_t word) { return word; }
inline uint64_t KeyIn(uint64_t word) { return word; }
inline uint64_t KeyIn(const Pair& word) { return word.key; }

// Sorts words by their keys from bit `kFirst` on; returns where the result is.
template <int kFirst, class W>
W* SortWords(W* from, W* to, int64_t n) {
  constexpr int kDigits = sizeof(KeyIn(*from)) - kFirst / 8;
  uint32_t counts[kDigits][256] = {};  // digits of more bits are slower in large arrays
  for (int64_t i = 0; i < n; ++i) {
    auto key = KeyIn(from[i]) >> kFirst;
    for (int d = 0; d < kDigits; ++d) ++counts[d][key >> (8 * d) & 255];
  }
  for (int d = 0; d < kDigits; ++d) {
    int shift = kFirst + 8 * d;
    if (counts[d][KeyIn(from[0]) >> shift & 255] == n) continue;
    uint32_t ends[256], sum = 0;
    for (int j = 0; j < 256; ++j) {
      ends[j] = sum;
      sum += counts[d][j];
    }
    for (int64_t i = 0; i < n; ++i) to[ends[KeyIn(from[i]) >> shift & 255]++] = from[i];
    W* before = from;
    from = to;
    to = before;
  }
  return from;
}

template <class T>
void SortLine(const T* x, T* out, int64_t n, int64_t step, UnsignedOf<T>* words) {
  using U = UnsignedOf<T>;
  bool shares = false;
  for (int64_t i = 0; i < n; ++i) {
    T v = x[i * step];
    if constexpr (std::is_floating_point_v<T>) shares |= SharesKey<T>(v);
    words[i] = U(KeysOf<T>(v) ^ kLeast<T>);
  }
  U* sorted = SortWords<0>(words, words + n, n);
  for (int64_t i = 0; i < n; ++i)
    out[i * step] = ValuesOf<T>(SignedOf<T>(sorted[i]) ^ kLeast<T>);
  if (shares) RestoreBits(x, out, n, step);
}

// ---- one array ----

Error* Sort(CallFrame* frame) {
  const Buffer& in = Argument(frame, 0);
  Lines lines(in);
  return ForDtype(frame, in.dtype, [&](auto zero) -> Error* {
    using T = decltype(zero);
    auto* x = static_cast<const T*>(in.data);
    auto* out = static_cast<T*>(Result(frame, 0).data);
    if (IsShort(lines, Lanes<T>)) {
      Scratch<T> vectors(lines.n * Lanes<T>);
      if (!vectors) return NoMemory(frame);
      SortSideBySide(x, out, lines, vectors.get());
      return nullptr;
    }
    Scratch<UnsignedOf<T>> words(2 * lines.n);
    if (!words) return NoMemory(frame);
    for (int64_t line = 0; line < lines.count(); ++line) {
      int64_t start = lines.start(line);
      SortLine(x + start, out + start, lines.n, lines.inner, words.get());
    }
    return nullptr;
  });
}

// ---- several arrays, by the first one ----

// Moves the elements of a line of each operand; a word of `order` ends with an index.
template <class W>
void MoveLine(CallFrame* frame, int64_t start, int64_t n, int64_t step, const W* order,
              int64_t order_step) {
  auto index = [&](int64_t i) -> int64_t {
    const W& word = order[i * order_step];
    if constexpr (std::is_same_v<W, Pair>) return word.index;
    else return uint32_t(word);
  };
  for (int operand = 0; operand < frame->args.size; ++operand) {
    const Buffer& from = Argument(frame, operand);
    const Buffer& to = Result(frame, operand);
    ForDtype(frame, from.dtype, [&](auto zero) -> Error* {
      using U = UnsignedOf<decltype(zero)>;
      auto* x = static_cast<const U*>(from.data) + start;
      auto* out = static_cast<U*>(to.data) + start;
      for (int64_t i = 0; i < n; ++i) out[i * step] = x[index(i) * step];
      return nullptr;
    });
  }
}

template <class T>
Error* SortByShortLines(CallFrame* frame, const T* x, const Lines& lines) {
  constexpr int kLanes = Lanes<int64_t>;
  constexpr bool kIsPacked = sizeof(T) == 4;  // else places stand behind the keys
  int64_t size = lines.n * kLanes;
  Scratch<int64_t> words(kIsPacked ? size : 2 * size);
  if (!words) return NoMemory(frame);
  int64_t *keys = words.get(), *places = kIsPacked ? keys : keys + size;
  ForGroups<kLanes>(lines, [&](const int64_t* starts, int lanes) {
    for (int64_t i = 0; i < lines.n; ++i)
      for (int lane = 0; lane < kLanes; ++lane) {
        int64_t key = KeysOf<T>(x[starts[lane] + i * lines.inner]), at = i * kLanes + lane;
        if (kIsPacked) keys[at] = key * (int64_t(1) << 32) | i;
        else keys[at] = key, places[at] = i;
      }
    if (kIsPacked) SortLanes(keys, lines.n);
    else SortLanes(keys, places, lines.n);
    for (int lane = 0; lane < lanes; ++lane)
      MoveLine(frame, starts[lane], lines.n, lines.inner, places + lane, kLanes);
  });
  return nullptr;
}

template <class T>
Error* SortByLongLines(CallFrame* frame, const T* x, const Lines& lines) {
  using W = std::conditional_t<sizeof(T) == 4, uint64_t, Pair>;
  Scratch<W> words(2 * lines.n);
  if (!words) return NoMemory(frame);
  for (int64_t line = 0; line < lines.count(); ++line) {
    int64_t start = lines.start(line);
    for (int64_t i = 0; i < lines.n; ++i) {
      auto key = UnsignedOf<T>(KeysOf<T>(x[start + i * lines.inner]) ^ kLeast<T>);
      if constexpr (sizeof(T) == 4) words.get()[i] = uint64_t(key) << 32 | uint64_t(i);
      else words.get()[i] = {key, uint32_t(i)};
    }
    constexpr int kFirst = sizeof(T) == 4 ? 32 : 0;
    W* order = SortWords<kFirst>(words.get(), words.get() + lines.n, lines.n);
    MoveLine(frame, start, lines.n, lines.inner, order, 1);
  }
  return nullptr;
}

Error* SortBy(CallFrame* frame) {
  const Buffer& in = Argument(frame, 0);
  Lines lines(in);
  return ForDtype(frame, in.dtype, [&](auto zero) -> Error* {
    using T = decltype(zero);
    auto* x = static_cast<const T*>(in.data);
    return IsShort(lines, Lanes<int64_t>) ? SortByShortLines(frame, x, lines)
                                          : SortByLongLines(frame, x, lines);
  });
}

}  // namespace
