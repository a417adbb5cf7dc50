// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Radix sorts by passes of every width, beside the library's own: the problems, and the variants
// that every execution space has.

#include "sort/sort.hpp"
#include <lanewise/papers/lsd_radix_sort.hpp>

namespace lanewise::perf {

/// The dissertation's keys (Merrill, 5.6.6): a random word joined by and with `ands` others. It
/// lies in a band of `band` bits in the middle of the key, the other bits being 0.
struct diversity {
  std::int64_t n;
  int ands = 0;
  int band = 64;
};

template <class T>
struct diverse_key {
  static constexpr int width = 8 * sizeof(T);
  int ands;
  int band;

  KOKKOS_FUNCTION T operator()(std::int64_t i) const {
    std::uint64_t x = hash(i);
    for (int k = 1; k <= ands; ++k) x &= hash(i + (std::int64_t{k} << 40));
    if (band >= width) return static_cast<T>(x);
    return static_cast<T>((x & ((std::uint64_t{1} << band) - 1)) << ((width - band) / 2));
  }
};

/// Uniform keys, for every width.
template <class Exec, class T, class V>
struct widths_problem : sort_problem<Exec, T, V> {
  using base = sort_problem<Exec, T, V>;

  explicit widths_problem(const diversity& p) : base({p.n, uniform_input}) {
    fill(this->exec, this->in, diverse_key<T>{p.ands, p.band});
    this->total = sum<std::uint64_t>(this->exec, this->n, typename base::hash_of{this->in});
  }
  static std::int64_t most() { return std::int64_t{1} << (on_host<Exec> ? 24 : 28); }
  static std::vector<diversity> points() { return {{most() >> 4}, {most()}}; }
  static row name(const diversity& p) {
    row name = base::name({p.n, uniform_input});
    if (p.ands != 0) name.distribution = "and" + std::to_string(p.ands);
    if (p.band != 64) name.distribution = "band" + std::to_string(p.band);
    return name;
  }
};

/// Keys with less in them.
template <class Exec, class T, class V>
struct diversity_problem : widths_problem<Exec, T, V> {
  using widths_problem<Exec, T, V>::widths_problem;
  static std::vector<diversity> points() {
    const std::int64_t n = widths_problem<Exec, T, V>::most();
    return {{n, 1}, {n, 3}, {n, 5}, {n, 0, 16}, {n, 0, 8}, {n, 0, 0}};
  }
};

/// sort(problem, options), with a workspace of so much.
template <class Problem, class Need, class Sort>
void add_with_workspace(const std::string& variant, const Need& need, const Sort& sort) {
  add<Problem>(variant.c_str(), [=](Problem& p, auto time) {
    workspace work;
    reserve(p.exec, work, need(p.n));
    time([&] { sort(p, sort_options{.work = &work}); });
  });
}

template <class Problem, class Way>
void add_passes(const std::string& variant, const Way& how) {
  using exec = typename Problem::exec_space;
  using T = typename Problem::item;
  using V = typename Problem::value;
  add_with_workspace<Problem>(
      variant,
      [](std::int64_t n) { return lanewise::papers::lsd_radix_sort_workspace<Way, T, exec, V>(n); },
      [how](Problem& p, const sort_options& with) {
        if constexpr (Problem::has_values) {
          lanewise::papers::lsd_radix_sort(p.exec, p.in, p.values, p.out, p.values_out, how, with);
        } else {
          lanewise::papers::lsd_radix_sort(p.exec, p.in, p.out, how, with);
        }
      });
}

template <class Problem>
void add_default() {
  using exec = typename Problem::exec_space;
  using T = typename Problem::item;
  using V = typename Problem::value;
  add_with_workspace<Problem>(
      "lanewise", [](std::int64_t n) { return radix_sort_workspace<T, exec, V>(n); },
      [](Problem& p, const sort_options& with) {
        if constexpr (Problem::has_values) {
          radix_sort(p.exec, p.in, p.values, p.out, p.values_out, with);
        } else {
          radix_sort(p.exec, p.in, p.out, with);
        }
      });
}

/// The variants of every space.
template <class Exec, class T, class V>
void add_radix_passes() {
  using widths = widths_problem<Exec, T, V>;
  using diverse = diversity_problem<Exec, T, V>;
  add_default<widths>();
  for (int d = 1; d <= papers::lsd_passes::split_tiles::most_bits; ++d)
    add_passes<widths>("lanewise.passes" + std::to_string(d), papers::lsd_passes::split_tiles{d});
  for (int d = 1; d <= papers::lsd_passes::multi_scan::most_bits; ++d)
    add_passes<widths>("lanewise.multi_scan" + std::to_string(d),
                       papers::lsd_passes::multi_scan{d});
  add_default<diverse>();
  add_passes<diverse>("lanewise.passes8", papers::lsd_passes::split_tiles{8});
  add_passes<diverse>("lanewise.multi_scan4", papers::lsd_passes::multi_scan{4});
}

void add_radix_passes_cuda();
void add_radix_passes_host();

}  // namespace lanewise::perf
