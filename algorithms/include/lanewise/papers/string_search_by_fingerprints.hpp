// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/fingerprints/cooperative.hpp>
#include <lanewise/papers/detail/fingerprints/hybrid.hpp>
#include <lanewise/papers/detail/fingerprints/sequential.hpp>
#include <lanewise/papers/detail/fingerprints/two_stage.hpp>
#include <lanewise/papers/detail/names.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

/// The systems of Ashkiani's dissertation, chapter 2, which string_search.hpp is compared with:
/// searches by the fingerprints of Karp and Rabin, as policies.
///
/// A letter is the lowest `bits` bits of a byte of a text, 1 to 8: texts whose bytes are below
/// 2^bits are searched as they are, and in others bytes that agree in these bits are one letter.
/// Patterns have no other bytes.
///
/// No policy misses a match. exact and, by comparison, two_stage report nothing else. sequential,
/// cooperative, recurrence, divided and hybrid report every place whose fingerprint is that of the
/// pattern: of places where it is not, one in p or so, the prime. (divided, 8 bits: 4 to 8 of
/// 2^25 random places.) two_stage by hash reports places where the hashes of all chunks agree.
namespace by_fingerprints {

/// SRK: one lane does all. The reference.
struct sequential {
  int bits = 8;
  std::uint64_t seed = 1;   ///< of the prime, which is drawn from (2^(30 - bits), 2^(31 - bits)]
  std::uint32_t prime = 0;  ///< or this prime, up to 2^(31 - bits)
};

/// CRK: scans of the products of matrices, one for each letter, and of their inverses: work does
/// not depend on the length of the pattern. Two arrays of 16 bytes for every byte of the text; the
/// paper stores the letters' own matrices, too, 64 bytes in all, which are made here when the scans
/// read the text.
struct cooperative {
  int bits = 8;
  std::uint64_t seed = 1;
  std::uint32_t prime = 0;  ///< drawn from (2^30, 2^31), or this one
  /// Longer texts are refused, as they take so much memory: 1 GiB for 2^25 bytes.
  std::int64_t most_bytes = std::int64_t{1} << 25;
};
/// CRK by one scan of the recurrence of neighbouring fingerprints, as numbers modulo p: an array of
/// 8 bytes for every byte of the text. Options as above.
struct recurrence {
  int bits = 8;
  std::uint64_t seed = 1;
  std::uint32_t prime = 0;
  std::int64_t most_bytes = std::int64_t{1} << 25;
};

/// DRK: a lane rolls a fingerprint over neighbouring places and the m - 1 bytes after them. Where
/// m is up to 8192, a team brings its part of the text to scratch first.
struct divided {
  int bits = 8;
  int places_of_lane = 28;  ///< 12 to 44, an odd multiple of 4
  /// A team has the places of 32 lanes `windows` times: 8, as the paper's blocks of 256 threads, 16
  /// or 32; 0: more in longer texts.
  int windows = 0;
  std::uint64_t seed = 1;
  std::uint32_t prime = 0;  ///< as that of sequential
};
/// DRK-WOM: the same with the letters themselves as a fingerprint, in words of 32 or 64 bits.
template <int width = 64>
struct exact {
  static_assert(width == 32 || width == 64, "lanewise: words have 32 or 64 bits");
  int bits = 8;
  int places_of_lane = 28;
  int windows = 0;
};

/// HRK: a team finds the matrices of CRK of 1024 letters in its scratch. Patterns have up to 512.
struct hybrid {
  static constexpr std::int64_t most_letters = 512;
  int bits = 8;
  std::uint64_t seed = 1;
  std::uint32_t prime = 0;  ///< as that of cooperative
};

/// DRK-2S: lanes look for a part of the pattern as exact<64> does. Where that is, a warp verifies
/// the whole pattern, a chunk at a time.
struct two_stage {
  int bits = 8;
  std::int64_t part = 0;    ///< its length, up to 64 / bits; 0: 16 for up to 4 bits, else 8
  std::int64_t offset = 0;  ///< where it begins in the pattern
  int places_of_lane = 28;
  int windows = 0;
  int chunk = 32;        ///< letters that a warp verifies at a time: 32 or 128
  bool by_hash = false;  ///< the paper's way: by fingerprints of chunks, and not letter by letter
  int primes = 1;        ///< of the hash: 1 to 16
  bool prime_of_chunk = false;  ///< chunk c has prime c mod `primes` alone, and not all of them
  std::uint64_t seed = 1;
  std::uint32_t prime = 0;  ///< as that of sequential, where there is one
};

}  // namespace by_fingerprints

namespace kernels {

/// What kernels know of a pattern. put(words) is where they find what does not fit in that.
template <class Put>
auto print_of(std::string_view bytes, const by_fingerprints::sequential& how, const Put&) {
  return detail::residue_print(bytes, how);
}
template <class Put>
auto print_of(std::string_view bytes, const by_fingerprints::cooperative& how, const Put&) {
  return detail::matrix_print(bytes, how);
}
template <class Put>
auto print_of(std::string_view bytes, const by_fingerprints::recurrence& how, const Put&) {
  return detail::recurrence_print(bytes, how);
}
template <class Put>
auto print_of(std::string_view bytes, const by_fingerprints::divided& how, const Put&) {
  detail::expects_cuts(how);
  return detail::residue_print(bytes, how);
}
template <int width, class Put>
auto print_of(std::string_view bytes, const by_fingerprints::exact<width>& how, const Put&) {
  detail::expects_cuts(how);
  return detail::exact_print<std::conditional_t<width == 32, std::uint32_t, std::uint64_t>>(bytes,
                                                                                            how);
}
template <class Put>
auto print_of(std::string_view bytes, const by_fingerprints::hybrid& how, const Put&) {
  return detail::hybrid_print(bytes, how);
}
template <class Put>
auto print_of(std::string_view bytes, const by_fingerprints::two_stage& how, const Put& put) {
  return detail::two_stage_print(bytes, how, put);
}

}  // namespace kernels

namespace by_fingerprints {

/// Bytes to look for by a policy: made once, used on many texts.
template <class MemorySpace, class Policy>
class pattern {
  /// Puts tables of two_stage into the memory space.
  struct put_words {
    using view_type = Kokkos::View<std::uint32_t*, MemorySpace>;
    view_type& to;
    const std::uint32_t* operator()(const std::vector<std::uint32_t>& words) const {
      to = view_type(Kokkos::view_alloc("lanewise::papers::by_fingerprints::pattern",
                                        Kokkos::WithoutInitializing),
                     words.size());
      Kokkos::deep_copy(
          to, Kokkos::View<const std::uint32_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                  words.data(), words.size()));
      return to.data();
    }
  };

 public:
  using memory_space = MemorySpace;
  using policy = Policy;

  /// O(m) work; two_stage has tables of 1 or 4 bytes for every letter, and more for hashes. Throws
  /// std::invalid_argument where there are no bytes, where one is no letter, where the policy
  /// cannot do with them. It throws, too, where an option is out of range. **Blocks.**
  explicit pattern(std::string_view bytes, const Policy& how = {})
      : size_(static_cast<std::int64_t>(bytes.size())), how_(how), print_(made(bytes)) {}

  std::int64_t size() const { return size_; }
  const Policy& how() const { return how_; }
  const auto& print() const { return print_; }

 private:
  auto made(std::string_view bytes) {
    detail::expects_letters(bytes, how_.bits);
    return kernels::print_of(bytes, how_, put_words{tables_});
  }

  std::int64_t size_;
  Policy how_;
  Kokkos::View<std::uint32_t*, MemorySpace> tables_;
  decltype(kernels::print_of({}, std::declval<const Policy&>(), std::declval<put_words>())) print_;
};

}  // namespace by_fingerprints

namespace kernels {

/// How a policy searches.
template <class Policy>
struct fingerprint_search;
template <>
struct fingerprint_search<by_fingerprints::sequential> : sequential_search {};
template <>
struct fingerprint_search<by_fingerprints::cooperative> : cooperative_search {};
template <>
struct fingerprint_search<by_fingerprints::recurrence> : recurrence_search {};
template <>
struct fingerprint_search<by_fingerprints::divided> : divided_search<detail::residue_fingerprint> {
};
template <>
struct fingerprint_search<by_fingerprints::exact<32>>
    : divided_search<detail::exact_fingerprint<std::uint32_t>> {};
template <>
struct fingerprint_search<by_fingerprints::exact<64>>
    : divided_search<detail::exact_fingerprint<std::uint64_t>> {};
template <>
struct fingerprint_search<by_fingerprints::hybrid> : hybrid_search {};
template <>
struct fingerprint_search<by_fingerprints::two_stage> : two_stage_search {};

template <class Exec, class Text, class Pattern, class Sink>
void find_by_fingerprints(const Exec& exec, const char* algorithm, const Text& text,
                          const Pattern& what, const Sink& sink, const detail::integers& number,
                          const string_search_options& options) {
  using search = fingerprint_search<typename Pattern::policy>;
  const auto bytes = kernels::text_of<Exec>(algorithm, text, what);
  auto work = call_workspace::make<backend_of<Exec>>(
      exec, options.work, search::template need<Exec>(what, bytes), algorithm);
  search::run(exec, what, bytes, sink, number, work.get());
}

}  // namespace kernels

namespace by_fingerprints {

/// The workspace that the calls need for a text of n bytes. Needs no device.
template <class Exec, class Memory, class Policy>
workspace_size find_all_workspace(const pattern<Memory, Policy>& what, std::int64_t n) {
  return kernels::fingerprint_search<Policy>::template need<Exec>(what, {nullptr, n});
}

/// All places of a text that the pattern's policy reports, in order, and their number in the rank-0
/// View number. Results, arguments and errors are as those of lanewise::find_all.
///
/// sequential takes O(n) steps of one lane; cooperative and recurrence O(n) work, whatever m is.
/// The others take O(n (1 + m / places_of_lane)), where two_stage has its part's length for m.
/// two_stage adds O(m / chunk) steps of a warp for every place where the part is: all of them in
/// the worst case. The text is read once; cooperative moves 100 bytes or so for each,
/// recurrence 24. One launch, cooperative three, recurrence two. Does not block.
template <execution_space Exec, class Text, class Memory, class Policy, class Places, class T,
          class... P>
void find_all(const Exec& exec, const Text& text, const pattern<Memory, Policy>& what,
              const Places& places, const Kokkos::View<T, P...>& number,
              const string_search_options& options = {}) {
  const auto sink = detail::as_sink<Exec>(places);
  detail::expects_memory(sink, "by_fingerprints::find_all", "places");
  if constexpr (detail::check_results<Exec, std::int64_t, std::decay_t<decltype(sink)>>())
    kernels::find_by_fingerprints(exec, "by_fingerprints::find_all", text, what, sink,
                                  kernels::count_place<Exec>(number, "by_fingerprints::find_all"),
                                  options);
}
/// Overload that returns how many there are. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class Text, class Memory, class Policy, class Places>
std::int64_t find_all(const Exec& exec, const Text& text, const pattern<Memory, Policy>& what,
                      const Places& places, const string_search_options& options = {}) {
  return kernels::blocking_number(
      exec, "by_fingerprints::find_all",
      [&](const auto& number) {
        by_fingerprints::find_all(exec, text, what, places, number, options);
      },
      "places", places);
}

/// How many places find_all finds.
template <execution_space Exec, class Text, class Memory, class Policy, class... P>
void count(const Exec& exec, const Text& text, const pattern<Memory, Policy>& what,
           const Kokkos::View<std::int64_t, P...>& result,
           const string_search_options& options = {}) {
  kernels::find_by_fingerprints(
      exec, "by_fingerprints::count", text, what, array_sink<std::int64_t>{nullptr, 0},
      kernels::count_place<Exec>(result, "by_fingerprints::count"), options);
}
/// Overload that returns the result. **Blocks.**
template <execution_space Exec, class Text, class Memory, class Policy>
std::int64_t count(const Exec& exec, const Text& text, const pattern<Memory, Policy>& what) {
  return kernels::blocking_result<std::int64_t>(
      exec, [&](const auto& result) { by_fingerprints::count(exec, text, what, result); });
}

}  // namespace by_fingerprints
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
