// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/execution_space.hpp>
#include <lanewise/data/integers.hpp>
#include <lanewise/data/source.hpp>
#include <lanewise/macros.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <stdexcept>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

/// What only the device can see. A call that can meet bad items takes an optional rank-0
/// View<status>; bad items are skipped and counted there, else in the workspace that the call was
/// given. Counts add up over calls; a View is cleared by its owner.
struct status {
  std::uint64_t bad_items = 0;
};

namespace detail {
/// Copies what lies in the memory of the instance to the host, in its order, and waits.
template <class T, class Exec>
void copy_to_host(const Exec& exec, T* to, const T* from) {
  using memory = typename Exec::memory_space;
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory>::accessible) {
    exec.fence("Lanewise: a result is read on the host");
    *to = *from;
  } else {
    Kokkos::deep_copy(exec, Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(to),
                      Kokkos::View<const T, memory, Kokkos::MemoryUnmanaged>(from));
    exec.fence("Lanewise: a result is read on the host");
  }
}
}  // namespace detail

/// Waits for exec and throws std::runtime_error if any call has counted a bad item. **Blocks.**
template <execution_space Exec, class T, class... P>
requires(std::is_same_v<std::remove_const_t<T>, status>) void check(
    const Exec& exec, const Kokkos::View<T, P...>& view) {
  status seen;
  detail::copy_to_host<status>(exec, &seen, view.data());
  if (seen.bad_items != 0)
    throw std::runtime_error(detail::message("lanewise::check: ", seen.bad_items,
                                             " items were skipped because they were bad"));
}

namespace detail {
/// How an option View has its values: counts and offsets are integers of any type.
template <class T>
struct option_values {
  using type = T*;
  static constexpr bool are_counts = false;
};
template <class T>
requires(std::is_same_v<std::remove_const_t<T>, std::int64_t>) struct option_values<T> {
  using type = integers;
  static constexpr bool are_counts = true;
};
}  // namespace detail

/// A View of rank 0 or 1 handed to a call as an option, whatever its memory space. Its memory must
/// outlive the call's kernels, as with any View argument. Where T is std::int64_t, its values are
/// integers of any type, const where T is not.
template <class T>
class option_view {
  using values = detail::option_values<T>;

 public:
  using data_type = typename values::type;

  option_view() = default;
  template <class V>
  requires(Kokkos::is_view_v<V>&& V::rank() <= 1 &&
           !std::is_same_v<typename V::array_layout, Kokkos::LayoutStride>)
      option_view(const V& view)
      : is_given_(true),
        extent_(view.data() != nullptr ? static_cast<std::int64_t>(view.size()) : 0),
        space_(V::memory_space::name()),
        on_host_(
            Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename V::memory_space>::accessible),
        on_device_(!std::is_same_v<typename V::memory_space, Kokkos::HostSpace>) {
    using value = typename V::value_type;
    constexpr bool writable = std::is_const_v<T> || !std::is_const_v<value>;
    constexpr bool fits =
        values::are_counts
            ? std::is_integral_v<value> && !std::is_same_v<std::remove_const_t<value>, bool>
            : std::is_same_v<std::remove_const_t<value>, std::remove_const_t<T>>;
    static_assert(fits && writable,
                  "lanewise: an option View has the wrong value type (integers for count and "
                  "offsets, status for errors; const only for count)");
    if constexpr (fits && writable) data_ = data_type(view.data());
  }

  /// Null, or no integers, where the option was not given.
  data_type data() const { return data_; }
  bool is_given() const { return is_given_; }
  std::int64_t extent() const { return extent_; }

  /// Throws where the option was given, but code of Exec cannot read the View, or it has no memory,
  /// which `least` 0 allows.
  template <class Exec>
  void expects_reachable(const char* algorithm, const char* name, std::int64_t least = 1) const {
    if (!is_given_) return;
    constexpr bool host =
        Kokkos::SpaceAccessibility<typename Exec::memory_space, Kokkos::HostSpace>::accessible;
    detail::expects(extent_ >= least, algorithm, ": the View given as ", name, " has no memory");
    detail::expects(host ? on_host_ : on_device_, algorithm, ": the View given as ", name,
                    " is in memory of ", space_, ", which ", Exec::name(), " cannot reach");
  }

 private:
  data_type data_ = {};
  bool is_given_ = false;
  std::int64_t extent_ = 0;
  const char* space_ = "";
  bool on_host_ = false;
  bool on_device_ = false;
};

LANEWISE_END_NAMESPACE
