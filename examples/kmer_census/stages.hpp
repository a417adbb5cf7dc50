// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "result.hpp"
#include <lanewise/call/workspace.hpp>
#include <lanewise/sequence/transform.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What both methods begin with: letters packed to words of 16 bases. And the clock of the stages.
namespace kmer_census {

/// 16 bases, the first one highest: their codes, and a set bit for each one that is no base.
struct packed_bases {
  std::uint32_t codes;
  std::uint32_t breaks;
};

inline constexpr std::int64_t bases_per_word = 16;

/// Letters must fill all words.
template <class Letters>
struct pack_word {
  Letters letters;

  KOKKOS_FUNCTION packed_bases operator()(std::int64_t word) const {
    packed_bases packed{0, 0};
    for (std::int64_t i = word * bases_per_word; i < (word + 1) * bases_per_word; ++i) {
      const auto letter = static_cast<char>(letters(i) & ~0x20);  // upper case
      const bool is_base = letter == 'A' || letter == 'C' || letter == 'G' || letter == 'T';
      // Bits 1 and 2 of the four letters are 0, 1, 3, 2 in the order of the alphabet.
      const auto bits = static_cast<std::uint32_t>(letter >> 1 & 3);
      packed.codes = packed.codes << 2 | (bits ^ bits >> 1);
      packed.breaks = packed.breaks << 1 | (is_base ? 0u : 1u);
    }
    return packed;
  }
};

/// The reverse complement of the 16 bases of a word.
KOKKOS_INLINE_FUNCTION std::uint32_t reverse_complement(std::uint32_t codes) {
  codes = ~codes;
  codes = (codes >> 2 & 0x33333333u) | (codes & 0x33333333u) << 2;
  codes = (codes >> 4 & 0x0F0F0F0Fu) | (codes & 0x0F0F0F0Fu) << 4;
  codes = (codes >> 8 & 0x00FF00FFu) | (codes & 0x00FF00FFu) << 8;
  return codes >> 16 | codes << 16;
}

/// Times the stages of a census. Fences, so that a stage ends before it is timed.
template <class ExecutionSpace>
class stage_clock {
 public:
  explicit stage_clock(const ExecutionSpace& exec) : exec_(exec) {}

  void begin() {
    exec_.fence();
    timer_.reset();
  }

  void end(std::string name, std::string unit, std::uint64_t items) {
    exec_.fence();
    stages_.push_back({std::move(name), std::move(unit), items, timer_.seconds()});
  }

  [[nodiscard]] const std::vector<stage_time>& stages() const { return stages_; }

 private:
  ExecutionSpace exec_;
  Kokkos::Timer timer_;
  std::vector<stage_time> stages_;
};

/// What a census on one execution space is made of.
template <class ExecutionSpace>
class census_stages {
 public:
  explicit census_stages(const ExecutionSpace& exec) : exec_(exec), clock_(exec) {}

  [[nodiscard]] const std::vector<stage_time>& stages() const { return clock_.stages(); }

 protected:
  // Views are filled when they are made, before a stage begins: no stage pays for new pages.
  template <class T>
  using view = Kokkos::View<T*, typename ExecutionSpace::memory_space>;

  template <class View>
  auto on_host(const View& device) {
    exec_.fence();
    std::vector<typename View::non_const_value_type> host(device.extent(0));
    Kokkos::deep_copy(Kokkos::View<typename View::non_const_value_type*, Kokkos::HostSpace,
                                   Kokkos::MemoryUnmanaged>(host.data(), host.size()),
                      device);
    return host;
  }

  view<packed_bases> pack(std::string_view letters) {
    // Two more than there are letters for: a window reaches into up to three words.
    const std::size_t size = (letters.size() + bases_per_word - 1) / bases_per_word + 2;
    // Zeros, which are breaks, fill the last words.
    const view<char> text("kmer_census::letters", size * bases_per_word);
    view<packed_bases> words("kmer_census::words", size);
    clock_.begin();
    Kokkos::deep_copy(Kokkos::subview(text, Kokkos::make_pair(std::size_t{0}, letters.size())),
                      Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          letters.data(), letters.size()));
    clock_.end("upload", "letters", letters.size());

    clock_.begin();
    lanewise::transform(exec_, lanewise::generated(size, pack_word<view<const char>>{text}), words,
                        lanewise::identity{});
    clock_.end("pack", "letters", letters.size());
    return words;
  }

  ExecutionSpace exec_;
  lanewise::workspace work_;
  stage_clock<ExecutionSpace> clock_;
};

}  // namespace kmer_census
