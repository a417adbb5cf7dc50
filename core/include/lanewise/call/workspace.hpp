// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/data/source.hpp>
#include <lanewise/league/look_back_chain.hpp>

#include <algorithm>
#include <any>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

LANEWISE_BEGIN_NAMESPACE

/// What a call needs beside its arguments. The functions <algorithm>_workspace return it without
/// touching a device.
struct workspace_size {
  std::int64_t tickets = 0;  ///< places of the chain
  std::size_t bytes = 0;     ///< plain memory
};

/// A workspace that suffices for a call that needs a, and for one that needs b.
constexpr workspace_size max(const workspace_size& a, const workspace_size& b) {
  return {a.tickets < b.tickets ? b.tickets : a.tickets, a.bytes < b.bytes ? b.bytes : a.bytes};
}

/// Temporary memory that calls share, one after the other on one execution space instance. It grows
/// when a call needs more; growing and freeing are ordered on that instance and do not block. A
/// call without a workspace makes its own, and pays for an allocation and, where tiles hand values
/// on, for clearing.
///
/// A workspace belongs to the first instance that uses it; using it on another one throws until
/// release() was called. Graph capture needs a workspace that is large enough before the capture
/// begins: reserve(exec, work, size).
///
/// Where a functor's exception can reach the caller (Serial and emulated), the workspace serves the
/// next call as if nothing had happened.
class workspace {
 public:
  workspace() = default;
  ~workspace() { free_blocks(); }
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;
  workspace(workspace&& other) noexcept { swap(other); }
  workspace& operator=(workspace&& other) noexcept {
    swap(other);
    return *this;
  }

  std::size_t bytes() const { return plain_.bytes + chain_.bytes + errors_.bytes; }

  /// Frees the memory, in the order of the instance that used it, and forgets that instance.
  void release() {
    free_blocks();
    owner_.reset();
    free_ = nullptr;
  }

  /// Makes room for calls of this size on this instance. Backend is the instance's backend.
  template <class Backend, class Exec>
  void reserve_for(const Exec& exec, workspace_size need, const char* algorithm) {
    if (!owner_.has_value()) {
      owner_ = exec;
      owner_name_ = Exec::name();
      free_ = [](const std::any& owner, void* p) {
        Backend::deallocate(*std::any_cast<Exec>(&owner), p);
      };
    }
    // Host instances all have the same id, so that only comparing instances tells them apart.
    const Exec* owner = std::any_cast<Exec>(&owner_);
    detail::expects(owner != nullptr && *owner == exec, algorithm,
                    ": the workspace is in use on another execution space instance (of ",
                    owner_name_, ", now of ", Exec::name(), "); call release() first");
    grow<Backend>(exec, plain_, need.bytes, algorithm, false);
    // One control word before the slots.
    const std::size_t chain_bytes =
        need.tickets == 0 ? 0
                          : sizeof(look_back_slot) * (static_cast<std::size_t>(need.tickets) + 1);
    grow<Backend>(exec, chain_, chain_bytes, algorithm, true);
    if constexpr (Backend::launch_waits) clear_abandoned_chain<Backend>(exec);
    if (keep_) grow<Backend>(exec, errors_, sizeof(status), algorithm, true);
  }

  void* plain() const { return plain_.data; }

  /// The status in which calls without a status View of their own count bad items. It is in memory
  /// of the instance, since the first use. It is null before, and in the workspace of a single
  /// call.
  status* errors() const { return static_cast<status*>(errors_.data); }

  /// The chain in this workspace; payload lies at an offset of the plain memory.
  template <class T>
  look_back_chain<T> make_look_back_chain(std::size_t payload_offset) const {
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    auto* slots = static_cast<look_back_slot*>(chain_.data);
    const std::size_t control = chain_.data == nullptr ? 0 : 1;
    const std::size_t places = std::min(chain_.bytes / sizeof(look_back_slot) - control, most);
    return {static_cast<std::uint64_t*>(chain_.data), slots + control,
            reinterpret_cast<T*>(static_cast<char*>(plain_.data) + payload_offset),
            static_cast<std::uint32_t>(places),
            static_cast<std::uint32_t>(std::bit_ceil(std::uint64_t{places}) - 1)};
  }

 private:
  struct block {
    void* data = nullptr;
    std::size_t bytes = 0;
  };

  template <class Backend, class Exec>
  void grow(const Exec& exec, block& b, std::size_t bytes, const char* algorithm, bool zero) {
    if (bytes <= b.bytes) return;
    if (Backend::is_capturing(exec) && keep_)
      throw std::runtime_error(
          detail::message("lanewise::", algorithm, ": the workspace has ", b.bytes, " of ", bytes,
                          " bytes and cannot grow while a graph is captured; reserve it before"));
    if (b.data != nullptr) free_(owner_, std::exchange(b.data, nullptr));
    b.bytes = 0;
    // Room for growth, so that slowly growing inputs do not allocate every time.
    const std::size_t want = keep_ ? bytes + bytes / 4 : bytes;
    b.data = Backend::allocate(exec, want);
    if (zero) Backend::zero(exec, b.data, want);
    b.bytes = want;
  }

  /// A kernel that an exception ended leaves tickets drawn, or teams counted, and slots published
  /// for the epoch, in memory of the host.
  template <class Backend, class Exec>
  void clear_abandoned_chain(const Exec& exec) {
    if (chain_.data == nullptr) return;
    const std::uint64_t control = *static_cast<const std::uint64_t*>(chain_.data);
    if (static_cast<std::uint32_t>(control) != 0) Backend::zero(exec, chain_.data, chain_.bytes);
  }

  void free_blocks() {
    if (plain_.data != nullptr) free_(owner_, plain_.data);
    if (chain_.data != nullptr) free_(owner_, chain_.data);
    if (errors_.data != nullptr) free_(owner_, errors_.data);
    plain_ = chain_ = errors_ = {};
  }
  void swap(workspace& other) noexcept {
    std::swap(plain_, other.plain_);
    std::swap(chain_, other.chain_);
    std::swap(errors_, other.errors_);
    std::swap(free_, other.free_);
    std::swap(owner_, other.owner_);
    std::swap(owner_name_, other.owner_name_);
    std::swap(keep_, other.keep_);
  }

  friend class call_workspace;

  block plain_;
  block chain_;
  block errors_;
  /// The instance that the memory belongs to.
  std::any owner_;
  const char* owner_name_ = "";
  void (*free_)(const std::any& owner, void* p) = nullptr;
  /// False for the workspace of a single call, which may live inside a captured graph.
  bool keep_ = true;
};

/// The workspace given as an option: a pointer, or none.
class workspace_ref {
 public:
  constexpr workspace_ref(workspace* given = nullptr) : given_(given) {}
  template <class W>
  requires(std::is_same_v<std::remove_cvref_t<W>, workspace>) constexpr workspace_ref(W&&)
      : given_(nullptr) {
    static_assert(sizeof(W) == 0, "lanewise: options.work is a pointer: {.work = &workspace}");
  }
  constexpr operator workspace*() const { return given_; }

 private:
  workspace* given_;
};

/// Waits for exec and throws std::runtime_error if calls with this workspace, and without a status
/// View of their own, have counted bad items. **Blocks.**
template <execution_space Exec>
void check(const Exec& exec, const workspace& work) {
  if (work.errors() == nullptr) return;
  lanewise::check(exec,
                  Kokkos::View<const status, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(
                      work.errors()));
}

/// The workspace of one call: the caller's, or one of its own that is freed in stream order when
/// the call returns.
class call_workspace {
 public:
  template <class Backend, class Exec>
  static call_workspace make(const Exec& exec, workspace* given, workspace_size need,
                             const char* algorithm) {
    call_workspace w(given);
    w.get().template reserve_for<Backend>(exec, need, algorithm);
    return w;
  }
  workspace& get() { return given_ != nullptr ? *given_ : own_; }

 private:
  explicit call_workspace(workspace* given) : given_(given) { own_.keep_ = false; }

  workspace* given_;
  workspace own_;
};

LANEWISE_END_NAMESPACE
