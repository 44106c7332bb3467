// Factors and solutions of stacks of small matrices: [count, n, n] with n up to 8.
//
// As many matrices are computed at once as fit into 64 bytes, one in each lane, so each
// step is one of vectors; a library takes 100 ns for the call of each. Each matrix is
// computed by the same operations in the same order in whatever lane it is.

#pragma once

#include <cmath>
#include <limits>

#include "vectors.h"

namespace {

constexpr int kMostRows = 8;

template <class T>
constexpr int kAtOnce = 64 / sizeof(T);

// One number of each matrix.
template <class T>
struct alignas(64) Numbers {
  T of[kAtOnce<T>];
};

#define IMPRINT_EACH_LANE for (int l = 0; l < kAtOnce<T>; ++l)

template <class T>
struct Matrices {
  Numbers<T> at[kMostRows][kMostRows];
  int n;

  explicit Matrices(int64_t rows) : n(int(rows)) {}

  // Further matrices than `count` are the identity.
  void Read(const T* x, int64_t count) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        IMPRINT_EACH_LANE at[i][j].of[l] =
            l < count ? x[(l * n + i) * n + j] : T(i == j);
  }
  void Write(T* x, int64_t count) const {
    for (int64_t l = 0; l < count; ++l)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) x[(l * n + i) * n + j] = at[i][j].of[l];
  }
};

// Calls `compute` with the first matrix, and how many are left, up to those at once.
template <class T, class F>
void ForEachBlock(int64_t count, F compute) {
  for (int64_t first = 0; first < count; first += kAtOnce<T>)
    compute(first, count - first < kAtOnce<T> ? count - first : int64_t(kAtOnce<T>));
}

// ---- Cholesky: A = L Lᵀ from the lower triangle; the upper one stays ----

template <class T>
void FactorPositive(Matrices<T>& a) {
  const int n = a.n;
  Numbers<T> is_positive;  // NaN of matrices that are not, else 0
  IMPRINT_EACH_LANE is_positive.of[l] = T(0);
  for (int j = 0; j < n; ++j) {
    Numbers<T>& d = a.at[j][j];
    for (int k = 0; k < j; ++k)
      IMPRINT_EACH_LANE d.of[l] -= a.at[j][k].of[l] * a.at[j][k].of[l];
    IMPRINT_EACH_LANE {
      T nan = std::numeric_limits<T>::quiet_NaN();
      bool fails = d.of[l] <= T(0);  // not NaN, which goes on as in the library
      is_positive.of[l] = fails ? nan : is_positive.of[l];
      d.of[l] = std::sqrt(fails ? T(1) : d.of[l]);
    }
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k)
        IMPRINT_EACH_LANE a.at[i][j].of[l] -= a.at[i][k].of[l] * a.at[j][k].of[l];
      IMPRINT_EACH_LANE a.at[i][j].of[l] /= d.of[l];
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      IMPRINT_EACH_LANE {
        T x = a.at[i][j].of[l], nan = is_positive.of[l];
        a.at[i][j].of[l] = nan == nan ? x : nan;
      }
}

// ---- LU with exchanges of rows: P A = L U ----

template <class T>
void FactorSquare(Matrices<T>& a, Numbers<int32_t>* pivots, Numbers<int32_t>* order) {
  const int n = a.n;
  for (int i = 0; i < n; ++i) IMPRINT_EACH_LANE order[i].of[l] = i;
  for (int k = 0; k < n; ++k) {
    Numbers<T> most;
    IMPRINT_EACH_LANE {
      most.of[l] = std::fabs(a.at[k][k].of[l]);
      pivots[k].of[l] = k;
    }
    for (int i = k + 1; i < n; ++i)
      IMPRINT_EACH_LANE {
        T size = std::fabs(a.at[i][k].of[l]);
        bool is_more = size > most.of[l];
        most.of[l] = is_more ? size : most.of[l];
        pivots[k].of[l] = is_more ? i : pivots[k].of[l];
      }
    for (int i = k + 1; i < n; ++i) {
      for (int j = 0; j < n; ++j)
        IMPRINT_EACH_LANE {
          bool is_it = pivots[k].of[l] == i;
          T upper = a.at[k][j].of[l], lower = a.at[i][j].of[l];
          a.at[k][j].of[l] = is_it ? lower : upper;
          a.at[i][j].of[l] = is_it ? upper : lower;
        }
      IMPRINT_EACH_LANE {
        bool is_it = pivots[k].of[l] == i;
        int32_t upper = order[k].of[l], lower = order[i].of[l];
        order[k].of[l] = is_it ? lower : upper;
        order[i].of[l] = is_it ? upper : lower;
      }
    }
    for (int i = k + 1; i < n; ++i) {
      IMPRINT_EACH_LANE {
        T pivot = a.at[k][k].of[l], x = a.at[i][k].of[l];
        a.at[i][k].of[l] = x / (pivot == T(0) ? T(1) : pivot);
      }
      for (int j = k + 1; j < n; ++j)
        IMPRINT_EACH_LANE a.at[i][j].of[l] -= a.at[i][k].of[l] * a.at[k][j].of[l];
    }
  }
}

// ---- triangles: x of A x = y ----

template <class T, bool kLower, bool kTransposed, bool kUnit>
void Substitute(const Matrices<T>& a, Numbers<T>* y) {
  const int n = a.n;
  constexpr bool kForwards = kLower != kTransposed;
  for (int step = 0; step < n; ++step) {
    int i = kForwards ? step : n - 1 - step;
    if (!kUnit) IMPRINT_EACH_LANE y[i].of[l] /= a.at[i][i].of[l];
    for (int next = step + 1; next < n; ++next) {
      int j = kForwards ? next : n - 1 - next;
      const Numbers<T>& factor = kTransposed ? a.at[i][j] : a.at[j][i];
      IMPRINT_EACH_LANE y[j].of[l] -= factor.of[l] * y[i].of[l];
    }
  }
}

// ---- handlers ----

struct CholeskyCall {
  template <class T>
  static void Run(CallFrame* frame, int64_t count, int64_t n) {
    auto* x = static_cast<const T*>(Argument(frame, 0).data);
    auto* out = static_cast<T*>(Result(frame, 0).data);
    ForEachBlock<T>(count, [&](int64_t first, int64_t few) {
      Matrices<T> a(n);
      a.Read(x + first * n * n, few);
      FactorPositive(a);
      a.Write(out + first * n * n, few);
    });
  }
};

struct LuCall {
  template <class T>
  static void Run(CallFrame* frame, int64_t count, int64_t n) {
    auto* x = static_cast<const T*>(Argument(frame, 0).data);
    auto* out = static_cast<T*>(Result(frame, 0).data);
    auto* pivots = static_cast<int32_t*>(Result(frame, 1).data);
    auto* order = static_cast<int32_t*>(Result(frame, 2).data);
    ForEachBlock<T>(count, [&](int64_t first, int64_t few) {
      Matrices<T> a(n);
      Numbers<int32_t> exchanged[kMostRows], rows[kMostRows];
      a.Read(x + first * n * n, few);
      FactorSquare(a, exchanged, rows);
      a.Write(out + first * n * n, few);
      for (int64_t l = 0; l < few; ++l)
        for (int64_t i = 0; i < n; ++i) {
          pivots[(first + l) * n + i] = exchanged[i].of[l];
          order[(first + l) * n + i] = rows[i].of[l];
        }
    });
  }
};

template <bool kLower, bool kTransposed, bool kUnit>
struct TriangularCall {
  template <class T>
  static void Run(CallFrame* frame, int64_t count, int64_t n) {
    auto* x = static_cast<const T*>(Argument(frame, 0).data);
    const Buffer& right = Argument(frame, 1);
    auto* y = static_cast<const T*>(right.data);
    auto* out = static_cast<T*>(Result(frame, 0).data);
    int64_t columns = right.dims[2];
    ForEachBlock<T>(count, [&](int64_t first, int64_t few) {
      Matrices<T> a(n);
      a.Read(x + first * n * n, few);
      for (int64_t c = 0; c < columns; ++c) {
        Numbers<T> v[kMostRows];
        for (int64_t i = 0; i < n; ++i)
          IMPRINT_EACH_LANE v[i].of[l] =
              l < few ? y[((first + l) * n + i) * columns + c] : T(0);
        Substitute<T, kLower, kTransposed, kUnit>(a, v);
        for (int64_t l = 0; l < few; ++l)
          for (int64_t i = 0; i < n; ++i)
            out[((first + l) * n + i) * columns + c] = v[i].of[l];
      }
    });
  }
};

#undef IMPRINT_EACH_LANE

template <class Call>
Error* OfSmallMatrices(CallFrame* frame) {
  const Buffer& in = Argument(frame, 0);
  int64_t count = in.dims[0], n = in.dims[1];
  if (n > kMostRows) return Fail(frame, 3, "imprint: a kernel has no such size");
  switch (in.dtype) {
    case xla_ffi::kF32: Call::template Run<float>(frame, count, n); return nullptr;
    case xla_ffi::kF64: Call::template Run<double>(frame, count, n); return nullptr;
  }
  return Fail(frame, 3, "imprint: a kernel has no such dtype");
}

}  // namespace
