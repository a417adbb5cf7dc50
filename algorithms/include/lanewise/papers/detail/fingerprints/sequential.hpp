// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/data/integers.hpp>
#include <lanewise/papers/detail/fingerprints/divided.hpp>
#include <lanewise/papers/detail/names.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace kernels {

/// SRK: one lane rolls the fingerprint over the whole text (Ashkiani, 2.3.1).
template <class Fingerprint, class Sink>
struct sequential_search_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 1;
  };
  template <class Team>
  struct scratch {};

  detail::divided_text<Fingerprint> text;
  Sink places;
  detail::integers number;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    team.once([&] {
      const std::int64_t before = text.print.size() - 1;
      typename Fingerprint::value_type value = 0;
      for (std::int64_t i = 0; i < before && text.places > 0; ++i)
        value = text.print.append(value, text.data[i]);
      std::int64_t found = 0;
      for (std::int64_t r = 0; r < text.places; ++r) {
        value = text.print.append(value, text.data[r + before]);
        if (value == text.print.wanted()) {
          if (found < places.extent) places(found, r);
          ++found;
        }
        value = text.print.drop(value, text.data[r]);
      }
      number.put(0, found);
    });
  }
};

struct sequential_search {
  template <class Exec, class Pattern>
  static workspace_size need(const Pattern&, const detail::text_bytes&) {
    return {};
  }
  template <class Exec, class Pattern, class Sink>
  static void run(const Exec& exec, const Pattern& what, const detail::text_bytes& text,
                  const Sink& sink, const detail::integers& number, workspace&) {
    using kernel = sequential_search_kernel<detail::residue_fingerprint, Sink>;
    lanewise::launch(
        exec, "Lanewise::by_fingerprints::sequential", 1,
        kernel{{text.data, text.n, text.n - what.size() + 1, 0, what.print(), 0}, sink, number});
  }
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
