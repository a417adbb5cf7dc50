// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/common/detail/arguments.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// What every call accepts beside its arrays. An aggregate: exclusive_scan(exec, in, out,
/// plus{}, 0u, {.work = &workspace}).
struct call_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// A rank-0 View of integers, read on the device when the call runs: the number of items. The
  /// extents are the upper bound.
  option_view<const std::int64_t> count = {};
};

namespace detail {

/// The number of items of a call with these options.
template <class Exec>
item_count count_of(std::int64_t extent, const call_options& options, const char* algorithm) {
  options.count.expects_reachable<Exec>(algorithm, "options.count");
  return {extent, options.count.data()};
}

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The length that all segments of `extent` items have: no more than there are items, so that
/// numbers of items do not overflow.
template <class Length>
std::int64_t length_of_segments(Length length, std::int64_t extent, const char* algorithm) {
  detail::expects(length > 0, algorithm, ": length is ", length, ", less than 1");
  const std::int64_t most = extent > 0 ? extent : 1;
  return static_cast<std::uint64_t>(length) < static_cast<std::uint64_t>(most)
             ? static_cast<std::int64_t>(length)
             : most;
}

/// Calls f(result) with a rank-0 View of T in the memory of the instance, and returns what is there
/// then. **Blocks.** The memory is had as calls have it, in the order of the instance: a View of
/// its own would fence, and end the program where the host has no memory for its label.
template <class T, class Exec, class F>
T blocking_result(const Exec& exec, F f) {
  auto place = call_workspace::make<backend_of<Exec>>(exec, nullptr, {0, sizeof(T)}, "returned");
  const Kokkos::View<T, typename Exec::memory_space, Kokkos::MemoryUnmanaged> result(
      static_cast<T*>(place.get().plain()));
  f(result);
  T value;
  detail::copy_to_host<T>(exec, &value, result.data());
  return value;
}

/// Memory of a call beside its workspace, in the order of its instance.
template <class Exec>
class call_memory {
 public:
  call_memory(const Exec& exec, std::size_t bytes, const char* algorithm)
      : work_(call_workspace::make<backend_of<Exec>>(exec, nullptr, {0, bytes}, algorithm)) {}
  template <class T>
  auto view(std::int64_t n) {
    return Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(
        static_cast<T*>(work_.get().plain()), n);
  }

 private:
  call_workspace work_;
};

/// Calls expects_room for outputs: Views or sinks, each preceded by its argument's name.
template <class Exec>
void expects_rooms(const char*, std::int64_t) {}
template <class Exec, class Out, class... More>
void expects_rooms(const char* call, std::int64_t results, const char* output, const Out& out,
                   const More&... more) {
  detail::expects_room(call, output, detail::as_sink<Exec>(out).extent, results);
  kernels::expects_rooms<Exec>(call, results, more...);
}

/// The number of results that f(count) counts, which is returned where outputs have room for them.
/// Outputs are as for expects_rooms. **Blocks.**
template <class Exec, class F, class... Outputs>
std::int64_t blocking_number(const Exec& exec, const char* call, F f, const Outputs&... outputs) {
  const auto number = kernels::blocking_result<std::int64_t>(exec, f);
  kernels::expects_rooms<Exec>(call, number, outputs...);
  return number;
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
