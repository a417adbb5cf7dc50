// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/histogram/map_reduce.hpp>
#include <lanewise/histogram/sparse_histogram.hpp>
#include <lanewise/merge/set_operations.hpp>
#include <lanewise/papers/string_search_by_fingerprints.hpp>
#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length.hpp>
#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/select/three_way_partition.hpp>
#include <lanewise/select/unique.hpp>
#include <lanewise/strings/mismatch_search.hpp>
#include <lanewise/strings/non_overlapping.hpp>
#include <lanewise/strings/string_search.hpp>
#include <lanewise/strings/string_set_search.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Every call whose outputs may be too short: the form that returns the number throws, the other one
// counts all results, and both write the first ones and nothing beyond.

namespace {

using namespace test;
using int_list = std::vector<int>;

/// More than a tile of every backend, and no multiple of one.
constexpr int all_items = 20'011;

struct is_third {
  int rest;
  KOKKOS_FUNCTION bool operator()(int x) const { return x % 3 == rest; }
};
struct key_and_one {
  KOKKOS_FUNCTION lanewise::tuple<int, int> operator()(int x) const { return {x / 4, 1}; }
};

int_list ascending(int n) {
  int_list items(static_cast<std::size_t>(n));
  std::iota(items.begin(), items.end(), 0);
  return items;
}
template <class F>
int_list made(int n, F f) {
  int_list items = ascending(n);
  std::transform(items.begin(), items.end(), items.begin(), f);
  return items;
}
template <class F>
int_list those(F f) {
  int_list kept;
  for (const int x : ascending(all_items))
    if (f(x)) kept.push_back(x);
  return kept;
}

/// An output by its argument's name, and what a call writes to it.
struct output {
  const char* name;
  int_list results;
};

/// Calls returning(views...) and counting(views...) with one output that is too short, and with
/// none. counting returns the number of all results of an output.
template <std::size_t... k, class Returning, class Counting>
void check_short(std::index_sequence<k...>, const std::string& call,
                 const std::array<output, sizeof...(k)>& outputs, const Returning& returning,
                 const Counting& counting) {
  const auto check = [&](std::size_t which, std::int64_t room) {
    const auto places = [&](std::size_t i) {
      const auto n = static_cast<std::int64_t>(outputs[i].results.size());
      return i == which ? room : n;
    };
    const auto all = static_cast<std::int64_t>(outputs[which].results.size());
    CAPTURE(call, outputs[which].name, room, all);
    const auto check_written = [&](const array<int>& out, std::size_t i) {
      auto first = outputs[i].results;
      first.resize(static_cast<std::size_t>(places(i)));
      CHECK((out.items() == first));
      CHECK(out.guards_intact());
    };
    {
      const std::array<array<int>, sizeof...(k)> out{array<int>(places(k), -7)...};
      std::string refused;
      try {
        returning(out[k].view()...);
      } catch (const std::length_error& error) {
        refused = error.what();
      }
      const std::string text = "lanewise::" + call + ": " + outputs[which].name + " has " +
                               std::to_string(room) + " places, there were " + std::to_string(all) +
                               " results";
      CHECK(refused == (room < all ? text : ""));
      (check_written(out[k], k), ...);
    }
    const std::array<array<int>, sizeof...(k)> out{array<int>(places(k), -7)...};
    CHECK(counting(which, out[k].view()...) == all);
    (check_written(out[k], k), ...);
  };
  for (std::size_t i = 0; i < sizeof...(k); ++i) {
    const auto all = static_cast<std::int64_t>(outputs[i].results.size());
    for (const std::int64_t room : {std::int64_t{0}, all / 2, all - 1, all}) check(i, room);
  }
}
/// For a call with one count: call(views..., count), and call(views...) without it.
template <std::size_t n, class Call>
void check_short(const std::string& name, const std::array<output, n>& outputs, const Call& call) {
  check_short(std::make_index_sequence<n>(), name, outputs, call,
              [&](std::size_t, const auto&... views) {
                const cell<std::int64_t> count(-1);
                call(views..., count.view());
                return count.get();
              });
}

const std::array<output, 1> thirds{output{"out", those(is_third{0})}};

}  // namespace

TEST_CASE("Selections whose output is short", "[short_outputs][select]") {
  const auto exec = make_space();
  const array<int> in(ascending(all_items)),
      flags(made(all_items, [](int x) { return x % 3 == 0; }));
  check_short("select_if", thirds, [&](const auto&... out) {
    lanewise::select_if(exec, in.const_view(), out..., is_third{0});
  });
  check_short("select_flagged", thirds, [&](const auto&... out) {
    lanewise::select_flagged(exec, in.const_view(), flags.const_view(), out...);
  });
}

TEST_CASE("Partitions whose outputs are short", "[short_outputs][select]") {
  const auto exec = make_space();
  const array<int> in(ascending(all_items)),
      flags(made(all_items, [](int x) { return x % 3 == 0; }));
  const std::array<output, 2> two{output{"out", those(is_third{0})},
                                  {"rejected", those([](int x) { return x % 3 != 0; })}};
  // There is a count of the items that are kept; the others are what is left.
  const auto check = [&](const char* name, const auto& call) {
    check_short(std::make_index_sequence<2>(), name, two, call,
                [&](std::size_t which, const auto&... views) {
                  const cell<std::int64_t> count(-1);
                  call(views..., count.view());
                  return which == 0 ? count.get() : all_items - count.get();
                });
  };
  check("partition", [&](const auto&... out) {
    lanewise::partition(exec, in.const_view(), out..., is_third{0});
  });
  check("partition_flagged", [&](const auto&... out) {
    lanewise::partition_flagged(exec, in.const_view(), flags.const_view(), out...);
  });
  // The number of items is on the device: only the items that are looked at need room.
  const cell<std::int64_t> few(9);
  const array<int> kept(3, -7), others(6, -7), fewer(5, -7);
  CHECK(lanewise::partition(exec, in.const_view(), kept.view(), others.view(), is_third{0},
                            {.count = few.view()}) == 3);
  CHECK((others.items() == int_list{1, 2, 4, 5, 7, 8}));
  CHECK_THROWS_AS(lanewise::partition(exec, in.const_view(), kept.view(), fewer.view(), is_third{0},
                                      {.count = few.view()}),
                  std::length_error);

  const std::array<output, 3> three{output{"first", those(is_third{0})},
                                    {"second", those(is_third{1})},
                                    {"rest", those(is_third{2})}};
  check_short(
      std::make_index_sequence<3>(), "three_way_partition", three,
      [&](const auto&... out) {
        lanewise::three_way_partition(exec, in.const_view(), out..., is_third{0}, is_third{1});
      },
      [&](std::size_t which, const auto&... out) {
        const array<std::int64_t> counts(3, -1);
        lanewise::three_way_partition(exec, in.const_view(), out..., counts.view(), is_third{0},
                                      is_third{1});
        return counts.items()[which];
      });
}

TEST_CASE("Items that are kept in a shorter part of their own array", "[short_outputs][in_place]") {
  const auto exec = make_space();
  const int_list items = ascending(all_items), expected = those(is_third{0});
  for (const std::size_t room : {std::size_t{1}, expected.size() / 2, expected.size() - 1}) {
    CAPTURE(room);
    const array<int> all(items);
    const auto part = Kokkos::subview(all.view(), Kokkos::make_pair(std::size_t{0}, room));
    CHECK_THROWS_AS(lanewise::select_if(exec, all.view(), part, is_third{0}), std::length_error);
    const auto now = all.items();
    CHECK(
        std::equal(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(room), expected.begin()));
    CHECK(std::equal(now.begin() + static_cast<std::ptrdiff_t>(room), now.end(),
                     items.begin() + static_cast<std::ptrdiff_t>(room)));
    CHECK(all.guards_intact());
  }
}

TEST_CASE("Calls on runs whose outputs are short", "[short_outputs][unique]") {
  const auto exec = make_space();
  constexpr int runs = all_items / 4;
  const array<int> in(made(4 * runs, [](int x) { return x / 4; })), values(ascending(4 * runs)),
      ones(4 * runs, 1), keys(ascending(runs)), fours(runs, 4);
  const int_list each = ascending(runs), four(runs, 4);
  check_short("unique", std::array{output{"out", each}},
              [&](const auto&... out) { lanewise::unique(exec, in.const_view(), out...); });
  check_short("unique_by_key",
              std::array{output{"keys_out", each},
                         output{"values_out", made(runs, [](int x) { return 4 * x; })}},
              [&](const auto&... out) {
                lanewise::unique_by_key(exec, in.const_view(), values.const_view(), out...);
              });
  check_short(
      "run_length_encode", std::array{output{"keys_out", each}, output{"lengths_out", four}},
      [&](const auto&... out) { lanewise::run_length_encode(exec, in.const_view(), out...); });
  check_short("run_length_decode", std::array{output{"out", in.original()}},
              [&](const auto&... out) {
                lanewise::run_length_decode(exec, keys.const_view(), fours.const_view(), out...);
              });
  check_short("reduce_by_key", std::array{output{"keys_out", each}, output{"values_out", four}},
              [&](const auto&... out) {
                lanewise::reduce_by_key(exec, in.const_view(), ones.const_view(), out...,
                                        lanewise::plus{});
              });
  check_short(
      "sparse_histogram", std::array{output{"keys_out", each}, output{"counts_out", four}},
      [&](const auto&... out) { lanewise::sparse_histogram(exec, in.const_view(), out...); });
  check_short("map_reduce", std::array{output{"keys_out", each}, output{"values_out", four}},
              [&](const auto&... out) {
                lanewise::map_reduce(exec, values.const_view(), key_and_one{}, out...,
                                     lanewise::plus{});
              });
}

TEST_CASE("Set operations whose output is short", "[short_outputs][set_operations]") {
  const auto exec = make_space();
  const array<int> a(made(7001, [](int x) { return 2 * x; })),
      b(made(7001, [](int x) { return 3 * x; }));
  const auto expected = [&](auto operation) {
    int_list results;
    operation(a.original().begin(), a.original().end(), b.original().begin(), b.original().end(),
              std::back_inserter(results));
    return std::array{output{"out", results}};
  };
  check_short("set_union", expected([](auto... x) { std::set_union(x...); }),
              [&](const auto&... out) {
                lanewise::set_union(exec, a.const_view(), b.const_view(), out...);
              });
  check_short("set_intersection", expected([](auto... x) { std::set_intersection(x...); }),
              [&](const auto&... out) {
                lanewise::set_intersection(exec, a.const_view(), b.const_view(), out...);
              });
  check_short("set_difference", expected([](auto... x) { std::set_difference(x...); }),
              [&](const auto&... out) {
                lanewise::set_difference(exec, a.const_view(), b.const_view(), out...);
              });
}

TEST_CASE("String searches whose outputs are short", "[short_outputs][string_search]") {
  const auto exec = make_space();
  constexpr int copies = 3001;
  std::string bytes;
  for (int i = 0; i < copies; ++i) bytes += "abac";
  const array<char> text(std::vector<char>(bytes.begin(), bytes.end()));
  const auto fours = made(copies, [](int x) { return 4 * x; });
  const std::array<output, 1> places{output{"places", fours}};

  const lanewise::pattern<memory> one("aba");
  check_short("find_all", places, [&](const auto&... out) {
    lanewise::find_all(exec, text.const_view(), one, out...);
  });
  const lanewise::mismatch_pattern<memory> near("abax", 1);
  check_short("find_mismatches", places, [&](const auto&... out) {
    lanewise::find_mismatches(exec, text.const_view(), near, out...);
  });
  const lanewise::papers::by_fingerprints::pattern<memory,
                                                   lanewise::papers::by_fingerprints::sequential>
      printed("aba");
  check_short("by_fingerprints::find_all", places, [&](const auto&... out) {
    lanewise::papers::by_fingerprints::find_all(exec, text.const_view(), printed, out...);
  });

  const lanewise::pattern_set<memory> set{std::vector<std::string>{"ab", "aba"}};
  int_list twice, ids;
  for (const int place : fours) {
    twice.insert(twice.end(), {place, place});
    ids.insert(ids.end(), {0, 1});
  }
  check_short(
      "find_all", std::array{output{"places", twice}, output{"ids", ids}},
      [&](const auto&... out) { lanewise::find_all(exec, text.const_view(), set, out...); });
  check_short(
      "find_longest", std::array{output{"places", fours}, output{"ids", int_list(copies, 1)}},
      [&](const auto&... out) { lanewise::find_longest(exec, text.const_view(), set, out...); });

  const array<int> found(fours);
  check_short("select_non_overlapping",
              std::array{output{"out", made((copies + 1) / 2, [](int x) { return 8 * x; })}},
              [&](const auto&... out) {
                lanewise::select_non_overlapping(exec, found.const_view(), 5, out...);
              });
  // No occurrence overlaps another one, and the ones that have room are looked at.
  check_short(
      std::make_index_sequence<1>(), "find_non_overlapping", places,
      [&](const auto& out) { lanewise::find_non_overlapping(exec, text.const_view(), one, out); },
      [&](std::size_t, const auto& out) {
        const cell<std::int64_t> number(-1), occurrences(-1);
        lanewise::find_non_overlapping(exec, text.const_view(), one, out, number.view(),
                                       occurrences.view());
        CHECK(number.get() ==
              std::min(occurrences.get(), static_cast<std::int64_t>(out.extent(0))));
        return occurrences.get();
      });
}
