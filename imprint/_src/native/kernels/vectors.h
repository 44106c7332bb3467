// Vectors of the width that the instruction set has, and access to a call's buffers.
//
// All functions are of this translation unit alone: it is compiled once for each
// instruction set, and the linker must not mix them. A result depends on no vector's width.

#pragma once

#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "ffi.h"

namespace {

using xla_ffi::Buffer;
using xla_ffi::CallFrame;
using xla_ffi::Error;

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class T>
constexpr int Lanes = kVectorBytes / sizeof(T);

template <int kBytes>
struct Integers;
template <>
struct Integers<4> {
  using Signed = int32_t;
  using Unsigned = uint32_t;
};
template <>
struct Integers<8> {
  using Signed = int64_t;
  using Unsigned = uint64_t;
};
template <class T>
using SignedOf = typename Integers<sizeof(T)>::Signed;
template <class T>
using UnsignedOf = typename Integers<sizeof(T)>::Unsigned;

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename VectorOf<T>::type;
// The type of a comparison: -1 where it holds.
template <class T>
using Mask = Vector<SignedOf<T>>;

template <class T>
inline Vector<T> Load(const T* x) {
  Vector<T> v;
  std::memcpy(&v, x, sizeof(v));
  return v;
}

template <class V>
inline void Store(void* x, V v) {
  std::memcpy(x, &v, sizeof(v));
}

template <class M>
inline bool Any(M mask) {
  uint64_t words[sizeof(M) / 8], all = 0;
  std::memcpy(words, &mask, sizeof(mask));
  for (uint64_t word : words) all |= word;
  return all != 0;
}

// ---- a call ----

inline const Buffer& Argument(CallFrame* frame, int i) { return *frame->args.items[i]; }
inline const Buffer& Result(CallFrame* frame, int i) { return *frame->rets.items[i]; }

// An operand of shape [outer, n, inner] and its lines along n.
struct Lines {
  int64_t outer, n, inner;

  explicit Lines(const Buffer& x) : outer(x.dims[0]), n(x.dims[1]), inner(x.dims[2]) {}
  int64_t count() const { return outer * inner; }
  // Where a line starts; its elements are `inner` apart.
  int64_t start(int64_t line) const {
    return line / inner * inner * n + line % inner;
  }
};

inline Error* Fail(CallFrame* frame, int code, const char* message) {
  xla_ffi::ErrorCreate args = {sizeof(args), nullptr, message, code};
  return frame->api->error_create(&args);
}

// Memory of a call for vectors, freed at its end.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t n) {
    void* data = nullptr;
    if (posix_memalign(&data, 64, n * sizeof(T) + 64) == 0) data_ = static_cast<T*>(data);
  }
  Scratch(const Scratch&) = delete;
  ~Scratch() { std::free(data_); }
  T* get() const { return data_; }
  operator bool() const { return data_ != nullptr; }

 private:
  T* data_ = nullptr;
};

inline Error* NoMemory(CallFrame* frame) {
  return Fail(frame, 8, "imprint: no memory for the scratch of a kernel");
}

// Calls `compute` with a zero of the dtype's type.
template <class F>
Error* ForDtype(CallFrame* frame, int dtype, F compute) {
  switch (dtype) {
    case xla_ffi::kF32: return compute(float());
    case xla_ffi::kF64: return compute(double());
    case xla_ffi::kS32: return compute(int32_t());
    case xla_ffi::kS64: return compute(int64_t());
    case xla_ffi::kU32: return compute(uint32_t());
    case xla_ffi::kU64: return compute(uint64_t());
  }
  return Fail(frame, 3, "imprint: a kernel has no such dtype");
}

}  // namespace
