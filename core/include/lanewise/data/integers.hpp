// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Integers of any type in memory, which kernels read and write as std::int64_t: counts and
/// offsets. Their type is known to kernels that run and not to the compiler, so that there is one
/// kernel for all.
class integers {
 public:
  integers() = default;
  template <class T>
  explicit integers(T* data)
      : data_(const_cast<std::remove_const_t<T>*>(data)),
        bytes_(sizeof(T)),
        is_signed_(std::is_signed_v<T>) {
    static_assert(std::is_integral_v<T> && !std::is_same_v<std::remove_cv_t<T>, bool>,
                  "lanewise: counts and offsets are integers");
  }

  LANEWISE_FUNCTION bool exist() const { return data_ != nullptr; }

  /// Integer i; the greatest std::int64_t where it is greater.
  LANEWISE_FUNCTION std::int64_t get(std::int64_t i = 0) const {
    switch (bytes_) {
      case 1:
        return is_signed_ ? read<std::int8_t>(i) : read<std::uint8_t>(i);
      case 2:
        return is_signed_ ? read<std::int16_t>(i) : read<std::uint16_t>(i);
      case 4:
        return is_signed_ ? read<std::int32_t>(i) : read<std::uint32_t>(i);
      default:
        return is_signed_ ? read<std::int64_t>(i) : read<std::uint64_t>(i);
    }
  }
  /// Stores x >= 0 as integer i; the greatest of the type where x is greater.
  LANEWISE_FUNCTION void put(std::int64_t i, std::int64_t x) const {
    switch (bytes_) {
      case 1:
        return is_signed_ ? write<std::int8_t>(i, x) : write<std::uint8_t>(i, x);
      case 2:
        return is_signed_ ? write<std::int16_t>(i, x) : write<std::uint16_t>(i, x);
      case 4:
        return is_signed_ ? write<std::int32_t>(i, x) : write<std::uint32_t>(i, x);
      default:
        return write<std::int64_t>(i, x);
    }
  }
  /// Stores x >= 0 as the integers [first, last), as put does.
  LANEWISE_FUNCTION void fill(std::int64_t first, std::int64_t last, std::int64_t x) const {
    if (bytes_ == 4 && is_signed_) {
      for (; first < last; ++first) write<std::int32_t>(first, x);
    } else if (bytes_ == 4) {
      for (; first < last; ++first) write<std::uint32_t>(first, x);
    } else {
      for (; first < last; ++first) put(first, x);
    }
  }
  /// The greatest number that they can be.
  std::int64_t most() const {
    const int bits = 8 * bytes_ - (is_signed_ ? 1 : 0);
    return bits >= 63 ? greatest<std::int64_t> : (std::int64_t{1} << bits) - 1;
  }

 private:
  /// Not asked of the standard library on a device.
  template <class T>
  static constexpr T greatest = std::numeric_limits<T>::max();

  /// As bytes, for it may be another type of the same size.
  template <class T>
  LANEWISE_FUNCTION T* place(std::int64_t i) const {
    return static_cast<T*>(__builtin_assume_aligned(static_cast<T*>(data_) + i, alignof(T)));
  }
  template <class T>
  LANEWISE_FUNCTION std::int64_t read(std::int64_t i) const {
    T x;
    std::memcpy(&x, place<T>(i), sizeof(T));
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (x >> 63 != 0) return greatest<std::int64_t>;
    }
    return static_cast<std::int64_t>(x);
  }
  template <class T>
  LANEWISE_FUNCTION void write(std::int64_t i, std::int64_t x) const {
    const T here = x < static_cast<std::int64_t>(greatest<T>) ? static_cast<T>(x) : greatest<T>;
    std::memcpy(place<T>(i), &here, sizeof(T));
  }

  void* data_ = nullptr;
  int bytes_ = 8;
  bool is_signed_ = true;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
