// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/run_length.hpp>
#include <lanewise/segments/run_length_decode.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <numeric>

// Runs of any lengths, and the path through their ends and items.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

using decoder = lanewise::kernels::decode_kernel<lanewise::array_source<u32, lanewise::identity>,
                                                 lanewise::array_sink<u32>>;
/// Runs and items worth a team, taken together.
constexpr i64 decode_steps = decoder::expansion<lanewise::team_t<space, decoder::policy>>::steps;

template <class T, class Length>
std::vector<T> decoded(const std::vector<T>& keys, const std::vector<Length>& lengths) {
  std::vector<T> items;
  for (std::size_t run = 0; run < keys.size(); ++run) {
    if (lengths[run] > 0)
      items.insert(items.end(), static_cast<std::size_t>(lengths[run]), keys[run]);
  }
  return items;
}

/// Decodes into `room` places more, or less, than there are items.
template <class T, class Length>
void check_decoding(const std::vector<Length>& lengths, i64 room = 0, int shift = 0) {
  const auto runs = static_cast<i64>(lengths.size());
  const auto keys = random_items<T>(runs);
  auto expected = decoded(keys, lengths);
  const auto total = static_cast<i64>(expected.size());
  const i64 places = std::max<i64>(total + room, 0);
  expected.resize(static_cast<std::size_t>(std::min(total, places)));

  const array<T> key(keys);
  const array<Length> length(lengths);
  const array<T> out(places, item_of<T>(77), shift);
  const cell<i64> count(-1);
  lanewise::run_length_decode(make_space(), key.const_view(), length.const_view(), out.view(),
                              count.view());
  CHECK(count.get() == total);
  CHECK(difference(out.items(), expected, out.original()) == "");
  CHECK(out.guards_intact());
  CHECK(key.unchanged());
  CHECK(length.unchanged());
}

struct ends_in {
  const int* ends;
  KOKKOS_FUNCTION int operator()(int range) const { return ends[range]; }
};

/// n numbers between 0 and twice their mean.
std::vector<u32> random_runs(i64 n, u32 mean) {
  return random_items<u32>(n, 2 * mean);
}

}  // namespace

TEMPLATE_TEST_CASE("Runs are decoded at every number of runs and mean length", "[decode]", u32,
                   affine MORE_TYPES(std::uint8_t, u64)) {
  for (const i64 runs : sizes_around(decode_steps / 4)) {
    for (const u32 mean : {1u, 3u, 40u}) {
      if (runs * mean > (is_emulated ? 20'000 : 1'000'000)) continue;
      CAPTURE(runs, mean);
      check_decoding<TestType>(random_runs(runs, mean));
    }
  }
}

TEST_CASE("Runs of any length are decoded", "[decode][sanitize]") {
  const std::size_t many = is_emulated ? 20'000 : 2'000'000;
  const u32 long_one = static_cast<u32>(is_emulated ? 3 * decode_steps + 5 : 1'000'003);
  check_decoding<u32>(std::vector<u32>{long_one});
  check_decoding<u32>(std::vector<u32>(many, 0u));
  check_decoding<u32>(std::vector<u32>(static_cast<std::size_t>(2 * decode_steps + 3), 1u));

  std::vector<u32> lengths(many, 0u);  // one run, or a few items, among empty runs
  lengths[many / 3] = long_one;
  check_decoding<u32>(lengths);
  lengths[0] = lengths[many / 3 + 1] = lengths[many - 1] = 1;
  check_decoding<u32>(lengths);
  check_decoding<std::uint8_t>(lengths);

  lengths.assign(static_cast<std::size_t>(decode_steps / 8), 0u);  // long and short by turns
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i % 97 == 5 ? 300 : i % 3;
  check_decoding<u32>(lengths, 0, 1);
}

TEST_CASE("Runs may end at every edge of a tile", "[decode]") {
  for (i64 delta = -3; delta <= 3; ++delta) {
    for (const i64 first : {i64{1}, i64{7}, decode_steps - 1, decode_steps, decode_steps + 1}) {
      CAPTURE(delta, first);
      check_decoding<u32>(std::vector<u32>{static_cast<u32>(first), 0, 0,
                                           static_cast<u32>(decode_steps + delta), 0, 5, 0, 0});
    }
  }
}

TEST_CASE("Decoding stops where the places do, and counts all items", "[decode][sanitize]") {
  const auto lengths = random_runs(decode_steps / 8, 20);
  for (const i64 room :
       {i64{-1}, i64{-100}, -2 * decode_steps, i64{-10'000'000}, i64{1}, i64{1000}}) {
    CAPTURE(room);
    check_decoding<u32>(lengths, room);
  }
}

TEST_CASE("Decoding reverses encoding", "[decode]") {
  const auto exec = make_space();
  const i64 n = some_tiles(decode_steps);
  auto items = random_items<u32>(n, 2);
  const array<u32> in(items);
  const array<u32> keys(n, 77u);
  const array<std::int32_t> lengths(n, -1);
  const array<u32> out(n, 77u);
  const cell<i64> runs, total;
  lanewise::workspace work;
  lanewise::run_length_encode(exec, in.const_view(), keys.view(), lengths.view(), runs.view());
  lanewise::run_length_decode(exec, keys.const_view(), lengths.const_view(), out.view(),
                              total.view(), {.work = &work, .count = runs.view()});
  CHECK(total.get() == n);
  CHECK(difference(out.items(), items) == "");
  lanewise::check(exec, work);  // places after the runs were not looked at
}

TEST_CASE("Negative lengths are empty runs, and are counted", "[decode][sanitize]") {
  const auto exec = make_space();
  const cell<lanewise::status> errors;
  const array<u32> keys({1, 2, 3, 4});
  const array<std::int8_t> lengths({2, -1, -128, 3});
  const array<u32> out(6, 77u);
  CHECK(lanewise::run_length_decode(exec, keys.const_view(), lengths.const_view(), out.view(),
                                    {.errors = errors.view()}) == 5);
  CHECK(out.items() == std::vector<u32>{1, 1, 4, 4, 4, 77});
  CHECK(errors.get().bad_items == 2);
}

TEST_CASE("Runs expand from sources into sinks", "[decode][sanitize]") {
  const auto exec = make_space();
  const i64 runs = decode_steps / 4;
  const auto lengths = random_runs(runs, 5);
  const i64 n = std::accumulate(lengths.begin(), lengths.end(), i64{0});
  const array<u32> length(lengths);
  const cell<int> trapped;
  const array<int> writes(n, 0);
  const array<u64> out(n, u64{77});
  std::vector<u64> squares;
  for (i64 i = 0; i < runs; ++i) squares.push_back(static_cast<u64>(i * i));

  const i64 found = lanewise::run_length_decode(
      exec, lanewise::generated(runs, trapping_square{trapped.data(), runs}), length.const_view(),
      lanewise::consumed(n, counting_store{writes.data(), n, out.data()}));

  CHECK(found == n);
  CHECK(difference(out.items(), decoded(squares, lengths)) == "");
  const auto written = writes.items();
  CHECK(trapped.get() == 0);
  CHECK(writes.guards_intact());
  CHECK(std::all_of(written.begin(), written.end(), [](int k) { return k == 1; }));
}

TEST_CASE("The workspace of decoding is known beforehand", "[decode]") {
  const auto exec = make_space();
  lanewise::workspace work;
  const i64 runs = 2 * decode_steps + 1;
  lanewise::reserve(exec, work, lanewise::run_length_decode_workspace<space>(runs));
  const std::size_t reserved = work.bytes();
  const array<u32> keys(random_items<u32>(runs));
  const array<u32> lengths(random_runs(runs, 1));
  const array<u32> out(2 * runs, 77u);
  for (int i = 0; i < 2; ++i)
    lanewise::run_length_decode(exec, keys.const_view(), lengths.const_view(), out.view(),
                                {.work = &work});
  CHECK(difference(out.items(), decoded(keys.original(), lengths.original()), out.original()) ==
        "");
  CHECK(work.bytes() == reserved);
}

TEST_CASE("run_length_decode refuses what it cannot do", "[decode]") {
  const auto exec = make_space();
  const array<u32> keys(12, 1u), lengths(11, 1u), out(20, 77u);
  CHECK_THAT(refusal([&] {
               lanewise::run_length_decode(exec, keys.const_view(), lengths.const_view(),
                                           out.view());
             }),
             ContainsSubstring("lanewise::run_length_decode: lengths has 11 items, keys has 12"));
  CHECK_THAT(
      refusal([&] {
        lanewise::run_length_decode(exec, keys.const_view(), keys.const_view(), keys.view());
      }),
      ContainsSubstring("lanewise::run_length_decode: keys [") && ContainsSubstring("overlap"));
  CHECK(out.unchanged());
}

TEST_CASE("A path is cut where a merge of its two sequences would be", "[search]") {
  auto random = make_random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<int> ends;
    int items = 0;
    for (auto k = random_number(random, 12); k > 0; --k)
      ends.push_back(items += static_cast<int>(random_number(random, 3)));
    const auto ranges = static_cast<int>(ends.size());
    // Walk the path one step at a time.
    lanewise::path_point<int> at{0, 0};
    for (int distance = 0; distance <= ranges + items; ++distance) {
      const auto found = lanewise::split_path(ends_in{ends.data()}, ranges, items, distance);
      REQUIRE(found.ends == at.ends);
      REQUIRE(found.items == at.items);
      const bool at_end = at.ends < ranges && ends[static_cast<std::size_t>(at.ends)] <= at.items;
      (at_end ? at.ends : at.items) += 1;
    }
    for (int x = -1; x <= items + 1; ++x) {
      CHECK(lanewise::lower_bound(ends.data(), ranges, x) ==
            std::lower_bound(ends.begin(), ends.end(), x) - ends.begin());
      CHECK(lanewise::upper_bound(ends.data(), ranges, x) ==
            std::upper_bound(ends.begin(), ends.end(), x) - ends.begin());
    }
  }
}

#if !defined(LANEWISE_TEST_SPACE_CUDA)
TEST_CASE("A warp searches as a lane does", "[search]") {
  // Host code of this backend: a warp outside of a kernel.
  const lanewise::backends::simd::warp<32> warp;
  for (i64 n = 0; n < 2500; n += n < 70 ? 1 : 331) {
    for (i64 answer = 0; answer <= n; answer += n < 70 ? 1 : 17) {
      const auto below = [&](i64 i) {
        REQUIRE((i >= 0 && i < n));
        return i < answer;
      };
      REQUIRE(lanewise::partition_point(warp, i64{0}, n, below) == answer);
    }
  }
}

TEST_CASE("Ends of a path may weigh more than items", "[search]") {
  const lanewise::backends::simd::warp<32> warp;
  auto random = make_random(12);
  for (int round = 0; round < 50; ++round) {
    std::vector<int> ends;
    i64 items = 0;
    for (auto k = random_number(random, 40); k > 0; --k)
      ends.push_back(static_cast<int>(items += static_cast<i64>(random_number(random, 5))));
    const auto ranges = static_cast<i64>(ends.size());
    // Walk the path one step at a time; three steps are an end.
    lanewise::path_point<i64> at{0, 0};
    int of_end = 0;
    for (i64 distance = 0; distance <= 3 * ranges + items; ++distance) {
      const auto piece =
          lanewise::cut_path<3>(warp, ends_in{ends.data()}, ranges, items, i64{0}, distance);
      REQUIRE(piece.begin.ends == 0);
      REQUIRE(piece.begin.items == 0);
      REQUIRE(piece.end.ends == at.ends);
      REQUIRE(piece.end.items == at.items);
      if (at.ends < ranges && ends[static_cast<std::size_t>(at.ends)] <= at.items) {
        of_end = (of_end + 1) % 3;
        at.ends += of_end == 0;
      } else {
        at.items += 1;
      }
    }
  }
}

TEST_CASE("A warp finds both ends of a piece of a path at once", "[search]") {
  const lanewise::backends::simd::warp<32> warp;
  const auto ends = random_items<u32>(3000, 7);
  std::vector<int> sums;
  for (const u32 length : ends) sums.push_back((sums.empty() ? 0 : sums.back()) + int(length));
  const i64 ranges = 3000, items = sums.back(), path = ranges + items;
  for (i64 first = 0; first <= path; first += 97) {
    const i64 last = std::min(path, first + first % 1009);
    const auto piece = lanewise::cut_path(warp, ends_in{sums.data()}, ranges, items, first, last);
    const auto begin = lanewise::split_path(ends_in{sums.data()}, ranges, items, first);
    const auto end = lanewise::split_path(ends_in{sums.data()}, ranges, items, last);
    CHECK(piece.begin.ends == begin.ends);
    CHECK(piece.begin.items == begin.items);
    CHECK(piece.end.ends == end.ends);
    CHECK(piece.end.items == end.items);
    CHECK(piece.is_ordered());
  }
}
#endif
