// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What masked memory operations of a host backend must not do, and a comparison of results cannot
// see: touch elements of inactive lanes. Guard pages show reads and writes there; a second thread
// that owns those elements shows a write that puts back what it read.

#include "warp_cases.hpp"

#include <atomic>
#include <iterator>
#include <new>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace lanewise::leaf {

/// Two accessible pages between two that are not.
class guarded_pages {
 public:
  guarded_pages() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* p = mmap(nullptr, 4 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    whole_ = static_cast<char*>(p);
    if (mprotect(whole_ + page_, 2 * page_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  ~guarded_pages() { munmap(whole_, 4 * page_); }
  guarded_pages(const guarded_pages&) = delete;
  guarded_pages& operator=(const guarded_pages&) = delete;

  /// Addresses n elements before the end, and n before the start, of what may be touched.
  template <class T>
  T* before_end(int n) const {
    return reinterpret_cast<T*>(whole_ + 3 * page_ - static_cast<std::size_t>(n) * sizeof(T));
  }
  template <class T>
  T* before_start(int n) const {
    return reinterpret_cast<T*>(whole_ + page_ - static_cast<std::size_t>(n) * sizeof(T));
  }

 private:
  std::size_t page_;
  char* whole_;
};

/// A wrong access ends the program: the driver's signal handler prints what doing holds.
template <class T, class Warp>
LANEWISE_LEAF_COLD void touch_only_active_lanes(const Warp& warp, random_source& rng,
                                                const char* volatile& doing) {
  constexpr int W = Warp::width;
  using bits = typename Warp::bits;
  const guarded_pages pages;
  T values[W];
  std::uint32_t zero[W] = {}, wild[W];
  for (T& x : values) x = clean_value<T>(rng);
  for (std::uint32_t& x : wild) x = ~0u;
  const T otherwise = values[0];
  const auto a = warp.load(static_cast<const T*>(values));
  for (int n = 0; n <= W; ++n) {
    const auto below = warp.template first<T>(n);
    T* end = pages.before_end<T>(n);
    doing = "store(m) up to the end of a page";
    warp.store(below, end, a);
    doing = "load(m) up to the end of a page";
    warp.store(end - W, warp.load(below, static_cast<const T*>(end), otherwise));
    if (n == W) {
      doing = "store and load up to the end of a page";
      warp.store(end, a);
      warp.store_streaming(end, warp.load_streaming(static_cast<const T*>(end)));
    }

    u64 chosen = 0;
    while (bit_count(chosen) < n) chosen |= u64{1} << rng.below(W);
    doing = "compress_store up to the end of a page";
    warp.compress_store(end, warp.template mask_of<T>(static_cast<bits>(chosen)), a);
    doing = "compress_store_over within a page";
    warp.compress_store_over(pages.before_end<T>(W),
                             warp.template mask_of<T>(static_cast<bits>(chosen)), a);

    // The lanes from n on are inside; those below are not.
    const auto from_n = !below;
    T* start = pages.before_start<T>(n);
    doing = "store(m) from the start of a page";
    warp.store(from_n, start, a);
    doing = "load(m) from the start of a page";
    warp.store(start + W, warp.load(from_n, static_cast<const T*>(start), otherwise));

    // The last element, by lanes that say so.
    T* last = pages.before_end<T>(1);
    const auto index = select(warp.template first<std::uint32_t>(n),
                              warp.load(static_cast<const std::uint32_t*>(zero)),
                              warp.load(static_cast<const std::uint32_t*>(wild)));
    doing = "scatter(m) to the end of a page";
    warp.scatter(below, last, index, a);
    doing = "gather(m) from the end of a page";
    warp.store(last - W, warp.gather(below, static_cast<const T*>(last), index, otherwise));
    doing = "gather from the end of a page";
    if (n == W) warp.store(last - W, warp.gather(static_cast<const T*>(last), index));
  }
}

/// 2^32 words: the first, the ones around the middle, and the last may be read.
class far_words {
 public:
  static constexpr std::uint32_t there[] = {0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff};

  far_words() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return;  // no such address space: nothing is tested
    words_ = static_cast<std::uint32_t*>(p);
    for (const std::uint32_t i : there) {
      const std::size_t first = i * sizeof(std::uint32_t) / page * page;
      if (mprotect(static_cast<char*>(p) + first, page, PROT_READ | PROT_WRITE) != 0)
        throw std::bad_alloc();
    }
    for (const std::uint32_t i : there) words_[i] = ~i;
  }
  ~far_words() {
    if (words_ != nullptr) munmap(words_, bytes);
  }
  far_words(const far_words&) = delete;
  far_words& operator=(const far_words&) = delete;
  const std::uint32_t* get() const { return words_; }

 private:
  static constexpr std::size_t bytes = std::size_t{1} << 34;
  std::uint32_t* words_ = nullptr;
};

/// Whether indices without sign reach all that they can name.
template <class Warp>
LANEWISE_LEAF_COLD bool reaches_far_words(const Warp& warp) {
  constexpr int W = Warp::width;
  const far_words words;
  if (words.get() == nullptr) return true;
  std::uint32_t at[W], plain[W], relaxed[W];
  for (int i = 0; i < W; ++i) at[i] = far_words::there[i % std::size(far_words::there)];
  const auto index = warp.load(static_cast<const std::uint32_t*>(at));
  const auto some = warp.template first<std::uint32_t>(W - 1);
  warp.store(plain, warp.gather(some, words.get(), index, 7u));
  warp.store(relaxed, warp.load_relaxed(some, words.get(), index, 7u));
  bool good = plain[W - 1] == 7 && relaxed[W - 1] == 7;
  for (int i = 0; i < W - 1; ++i) good = good && plain[i] == ~at[i] && relaxed[i] == ~at[i];
  return good;
}

/// Returns how many of another thread's updates of inactive elements a masked store has undone.
template <class T, class Warp>
LANEWISE_LEAF_COLD int lost_updates_of_neighbours(const Warp& warp) {
  constexpr int W = Warp::width;
  constexpr int rounds = 20000;
  alignas(64) T shared[W] = {};
  std::atomic<bool> started{false}, done{false};
  int lost = 0;
  std::thread neighbour([&] {
    T value{};
    do {
      const T next = static_cast<T>(value + 1);
      for (int i = 0; i < W; i += 2) {
        lost += std::atomic_ref<T>(shared[i]).exchange(next, std::memory_order_relaxed) != value;
      }
      value = next;
      started = true;
    } while (!done);
  });
  while (!started) std::this_thread::yield();
  u64 odd = 0;
  for (int i = 1; i < W; i += 2) odd |= u64{1} << i;
  const auto mask = warp.template mask_of<T>(static_cast<typename Warp::bits>(odd));
  for (int r = 0; r < rounds; ++r) {
    warp.store(mask, shared, typename Warp::template lanes<T>(static_cast<T>(r)));
    asm volatile("" ::: "memory");
  }
  done = true;
  neighbour.join();
  return lost;
}

}  // namespace lanewise::leaf
