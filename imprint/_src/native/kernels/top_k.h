// top_k of [rows, n]: the k largest of each row and where they are, the largest first.
//
// The order is that of bits; equal elements keep theirs. Vectors that have no element above
// the k-th largest so far are passed over. Others are put in their place among few; of many,
// they go to a buffer, of which the k first are kept when it is full.

#pragma once

#include <algorithm>

#include "keys.h"

namespace {

template <class T>
class Largest {
 public:
  using Key = SignedOf<T>;
  struct Item {
    Key key;
    int32_t index;
    bool operator<(const Item& other) const {
      return key > other.key || (key == other.key && index < other.index);
    }
  };

  Largest(Item* items, int64_t k) : items_(items), k_(k) {}

  static int64_t BufferSize(int64_t k) { return 2 * k; }

  void Search(const T* x, int64_t n) {
    constexpr int kStep = 4 * Lanes<T>;
    int64_t i = 0;
    for (; count_ < k_; ++i) items_[count_++] = {TotalKeysOf<T>(x[i]), int32_t(i)};
    std::sort(items_, items_ + k_);
    least_ = items_[k_ - 1].key;
    for (; i + kStep <= n; i += kStep) {
      Mask<T> above = {};
      for (int u = 0; u < 4; ++u)
        above |= TotalKeysOf<T>(Load(x + i + u * Lanes<T>)) > least_;
      if (Any(above))
        for (int j = 0; j < kStep; ++j) Add(x[i + j], i + j);
    }
    for (; i < n; ++i) Add(x[i], i);
    if (count_ > k_) Keep();
    if (k_ > kFew) std::sort(items_, items_ + k_);
  }

 private:
  static constexpr int64_t kFew = 32;

  void Add(T x, int64_t index) {
    Item item = {TotalKeysOf<T>(x), int32_t(index)};
    if (item.key <= least_) return;
    if (k_ <= kFew) {
      int64_t at = k_ - 1;
      for (; at > 0 && items_[at - 1].key < item.key; --at) items_[at] = items_[at - 1];
      items_[at] = item;
      least_ = items_[k_ - 1].key;
    } else {
      items_[count_++] = item;
      if (count_ == BufferSize(k_)) Keep();
    }
  }

  void Keep() {
    std::nth_element(items_, items_ + k_ - 1, items_ + count_);
    least_ = items_[k_ - 1].key;
    count_ = k_;
  }

  Item* items_;
  int64_t k_, count_ = 0;
  Key least_ = 0;
};

Error* TopK(CallFrame* frame) {
  const Buffer &in = Argument(frame, 0), &values = Result(frame, 0);
  int64_t rows = in.dims[0], n = in.dims[1], k = values.dims[1];
  auto* places = static_cast<int32_t*>(Result(frame, 1).data);
  return ForDtype(frame, in.dtype, [&](auto zero) -> Error* {
    using T = decltype(zero);
    auto* x = static_cast<const T*>(in.data);
    auto* out = static_cast<T*>(values.data);
    Scratch<typename Largest<T>::Item> items(Largest<T>::BufferSize(k));
    if (!items) return NoMemory(frame);
    for (int64_t row = 0; row < rows; ++row, x += n, out += k, places += k) {
      Largest<T>(items.get(), k).Search(x, n);
      for (int64_t i = 0; i < k; ++i) {
        places[i] = items.get()[i].index;
        std::memcpy(out + i, x + places[i], sizeof(T));
      }
    }
    return nullptr;
  });
}

}  // namespace
