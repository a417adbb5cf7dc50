// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/emulated_lanes.hpp>
#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length.hpp>
#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/segments/segmented_scan.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/select/unique.hpp>
#include <lanewise/sequence/adjacent_difference.hpp>
#include <lanewise/sequence/allocate.hpp>
#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/scan_reverse.hpp>
#include <lanewise/sequence/scan_two_level.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <support/environment.hpp>
#include <support/throwing.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <numeric>
#include <vector>

// What a functor throws on Serial and on the emulated backend reaches the caller. The next call
// with that workspace is as good as any.

namespace {

using namespace test;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using lanewise::workspace;

template <class T>
using on_host = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
template <class T>
on_host<T> view(std::vector<T>& items) {
  return on_host<T>(items.data(), items.size());
}

template <class Exec>
std::vector<Exec> instances() {
  if constexpr (std::is_base_of_v<lanewise::emulated, Exec>) {
    using lanewise::interleaving;
    return {Exec(seed(), 3), Exec(seed() + 1, 1, interleaving::delayed),
            Exec(seed() + 2, 3, interleaving::seeded), Exec(seed() + 3, 2, interleaving::seeded)};
  } else {
    return {Exec()};
  }
}

/// call(exec, work, f) runs an algorithm whose functor is f, which comes with a fuse, and returns
/// its results. It throws at the first, at a later and at one of the last calls of f; then it has
/// to give the results that it had before.
template <class Exec, class F, class Call>
void check_throwing(const F& f, Call call) {
  for (const Exec& exec : instances<Exec>()) {
    fuse at;
    const throwing<F> functor{&at, f};
    workspace work;
    const auto expected = call(exec, &work, functor);
    const long calls = fuse::never - at.left;
    for (const long k : {0L, calls / 2, calls - calls / 4}) {
      for (const bool for_good : {false, true}) {
        CAPTURE(Exec::name(), k, calls, for_good);
        std::string what;
        at.set(k, for_good);
        try {
          call(exec, &work, functor);
        } catch (const functor_error& e) {
          what = e.what();
        }
        CHECK(what == "from a functor");
        at.set(fuse::never, false);
        CHECK(call(exec, &work, functor) == expected);
      }
    }
    at.set(calls / 2, false);
    CHECK_THROWS_AS(call(exec, nullptr, functor), functor_error);
  }
}

/// Several tiles on both backends, for several teams.
template <class Exec>
constexpr i64 many = std::is_same_v<Exec, lanewise::emulated_lanes> ? 5'003
                     : std::is_same_v<Exec, lanewise::emulated>     ? 20'011
                                                                    : 100'003;

template <class Exec>
std::vector<u32> some_items() {
  std::vector<u32> items(many<Exec>);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<u32>(i * i % 1009);
  return items;
}

struct is_odd {
  bool operator()(u32 x) const { return x % 2 != 0; }
};
struct tenth {
  u32 operator()(u32 x) const { return x / 10; }
};
struct modulo_seven {
  u32 operator()(u32 x) const { return x % 7; }
};
struct less {
  bool operator()(u32 a, u32 b) const { return a < b; }
};
struct same_tenth {
  bool operator()(u32 a, u32 b) const { return a / 10 == b / 10; }
};

}  // namespace

#define SPACES Kokkos::Serial, lanewise::emulated

TEMPLATE_TEST_CASE("An exception leaves scans", "[throwing]", SPACES) {
  auto in = some_items<TestType>();
  std::vector<u32> out(in.size());
  check_throwing<TestType>(lanewise::plus{}, [&](const auto& e, workspace* work, const auto& op) {
    lanewise::inclusive_scan(e, view(in), view(out), op, {.work = work});
    return out;
  });
  check_throwing<TestType>(lanewise::plus{}, [&](const auto& e, workspace* work, const auto& op) {
    lanewise::exclusive_scan_reverse(e, view(in), view(out), op, 5u, {.work = work});
    return out;
  });
  check_throwing<TestType>(lanewise::plus{}, [&](const auto& e, workspace* work, const auto& op) {
    lanewise::two_level::inclusive_scan(e, view(in), view(out), op, {.work = work});
    return out;
  });
  check_throwing<TestType>(same_tenth{}, [&](const auto& e, workspace* work, const auto& equal) {
    lanewise::inclusive_scan_by_key(e, view(in), view(in), view(out), lanewise::plus{}, equal,
                                    {.work = work});
    return out;
  });
}

TEMPLATE_TEST_CASE("An exception leaves reductions", "[throwing]", SPACES,
                   lanewise::emulated_lanes) {
  auto in = some_items<TestType>();
  check_throwing<TestType>(lanewise::plus{}, [&](const auto& e, workspace* work, const auto& op) {
    return lanewise::reduce(e, view(in), op, 3u, {.work = work});
  });
}

TEMPLATE_TEST_CASE("An exception leaves reductions in a fixed order and extrema", "[throwing]",
                   SPACES) {
  auto in = some_items<TestType>();
  check_throwing<TestType>(lanewise::plus{}, [&](const auto& e, workspace* work, const auto& op) {
    return lanewise::reduce(e, view(in), lanewise::deterministic(op), 3u, {.work = work});
  });
  check_throwing<TestType>(less{}, [&](const auto& e, workspace* work, const auto& by) {
    return lanewise::min_element(e, view(in), by, {.work = work}).index;
  });
}

TEMPLATE_TEST_CASE("An exception leaves reductions of segments", "[throwing]", SPACES) {
  auto in = some_items<TestType>();
  std::vector<u32> keys(in.size()), keys_out(in.size()), out(in.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<u32>(i / 13 * 10);
  std::vector<i64> offsets;
  for (i64 i = 0; i <= many<TestType>; i += 9) offsets.push_back(i);
  check_throwing<TestType>(lanewise::plus{}, [&](const auto& e, workspace* work, const auto& op) {
    lanewise::segmented_reduce(e, view(in), view(offsets), view(out), op, 1u, {.work = work});
    return out;
  });
  check_throwing<TestType>(same_tenth{}, [&](const auto& e, workspace* work, const auto& equal) {
    lanewise::reduce_by_key(e, view(keys), view(in), view(keys_out), view(out), lanewise::plus{},
                            equal, {.work = work});
    return out;
  });
}

TEMPLATE_TEST_CASE("An exception leaves selections", "[throwing]", SPACES,
                   lanewise::emulated_lanes) {
  auto in = some_items<TestType>();
  std::vector<u32> out(in.size());
  check_throwing<TestType>(is_odd{}, [&](const auto& e, workspace* work, const auto& keep) {
    lanewise::select_if(e, view(in), view(out), keep, {.work = work});
    return out;
  });
}

TEMPLATE_TEST_CASE("An exception leaves partitions and encoding", "[throwing]", SPACES) {
  auto in = some_items<TestType>();
  std::vector<u32> out(in.size()), rejected(in.size());
  check_throwing<TestType>(is_odd{}, [&](const auto& e, workspace* work, const auto& keep) {
    lanewise::partition(e, view(in), view(out), view(rejected), keep, {.work = work});
    return std::pair(out, rejected);
  });
  check_throwing<TestType>(same_tenth{}, [&](const auto& e, workspace* work, const auto& equal) {
    lanewise::run_length_encode(e, view(in), view(out), view(rejected), equal, {.work = work});
    return std::pair(out, rejected);
  });
}

TEMPLATE_TEST_CASE("An exception leaves allocating and decoding", "[throwing]", SPACES) {
  auto in = some_items<TestType>();
  std::vector<u32> out(in.size());
  check_throwing<TestType>(modulo_seven{}, [&](const auto& e, workspace* work, const auto& count) {
    lanewise::allocate(e, lanewise::transformed(view(in), count), view(out), {.work = work});
    return out;
  });
  std::vector<u32> decoded(7 * in.size());
  check_throwing<TestType>(modulo_seven{}, [&](const auto& e, workspace* work, const auto& count) {
    lanewise::run_length_decode(e, view(in), lanewise::transformed(view(in), count), view(decoded),
                                {.work = work});
    return decoded;
  });
}

TEMPLATE_TEST_CASE("An exception leaves multisplits and transformations", "[throwing]", SPACES) {
  auto in = some_items<TestType>();
  std::vector<u32> out(in.size());
  check_throwing<TestType>(tenth{}, [&](const auto& e, workspace* work, const auto& bucket) {
    lanewise::multisplit(e, view(in), view(out), lanewise::at_most<256>{101}, bucket,
                         {.work = work});
    return out;
  });
  check_throwing<TestType>(tenth{}, [&](const auto& e, workspace* work, const auto& f) {
    lanewise::transform(e, view(in), view(out), f, {.work = work});
    return out;
  });
  check_throwing<TestType>(lanewise::minus{}, [&](const auto& e, workspace* work, const auto& op) {
    lanewise::adjacent_difference(e, view(in), view(out), op, {.work = work});
    return out;
  });
}
