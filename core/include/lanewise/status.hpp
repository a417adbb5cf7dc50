// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>
#include <lanewise/source.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <stdexcept>

LANEWISE_BEGIN_NAMESPACE

/// What only the device can see. A call that can meet bad items takes an optional rank-0
/// View<status>; bad items are skipped and counted there, else in the workspace that the call was
/// given. Counts add up over calls; a View is cleared by its owner.
struct status {
  std::uint64_t bad_items = 0;
};

namespace detail {
/// Copies a rank-0 View to the host in the order of the instance and waits.
template <class Exec, class T, class V>
void copy_to_host(const Exec& exec, T* to, const V& from) {
  if constexpr (Kokkos::is_execution_space_v<Exec>) {
    Kokkos::deep_copy(exec, Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(to), from);
    exec.fence("Lanewise: a result is read on the host");
  } else {
    *to = *from.data();
  }
}
}  // namespace detail

/// Waits for exec and throws std::runtime_error if any call has counted a bad item. **Blocks.**
template <class Exec, class V>
void check(const Exec& exec, const V& view) {
  status seen;
  detail::copy_to_host(exec, &seen, view);
  if (seen.bad_items != 0)
    throw std::runtime_error(detail::message("lanewise::check: ", seen.bad_items,
                                             " items were skipped because they were bad"));
}

/// A View of rank 0 or 1 handed to a call as an option, whatever its memory space. Its memory must
/// outlive the call's kernels, as with any View argument.
template <class T>
class option_view {
 public:
  option_view() = default;
  template <class V>
  requires(Kokkos::is_view_v<V>&& V::rank() <= 1 &&
           !std::is_same_v<typename V::array_layout, Kokkos::LayoutStride>)
      option_view(const V& view)
      : data_(view.data()),
        extent_(static_cast<std::int64_t>(view.size())),
        on_host_(
            Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename V::memory_space>::accessible),
        on_device_(!std::is_same_v<typename V::memory_space, Kokkos::HostSpace>) {
    static_assert(std::is_convertible_v<typename V::pointer_type, T*>,
                  "lanewise: an option View has the wrong value type (std::int64_t for count, "
                  "status for status)");
  }

  T* data() const { return data_; }
  std::int64_t extent() const { return extent_; }

  /// Throws unless code of Exec can read the View.
  template <class Exec>
  void expects_reachable(const char* algorithm, const char* name) const {
    constexpr bool host =
        Kokkos::SpaceAccessibility<typename Exec::memory_space, Kokkos::HostSpace>::accessible;
    detail::expects(data_ == nullptr || (host ? on_host_ : on_device_), algorithm,
                    ": the View given as ", name,
                    " is in memory that this execution space cannot reach");
  }

 private:
  T* data_ = nullptr;
  std::int64_t extent_ = 0;
  bool on_host_ = false;
  bool on_device_ = false;
};

LANEWISE_END_NAMESPACE
