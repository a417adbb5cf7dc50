// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length.hpp>
#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/allocate.hpp>
#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/scan_reverse.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <support/generators.hpp>
#include <support/instances.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

// What Kokkos Tools see of the calls.

namespace {

using namespace test;
using u32 = std::uint32_t;

struct seen_kernel {
  std::string label;
  std::uint32_t device;
};

std::vector<seen_kernel> kernels;
int open_kernels = 0;
std::vector<std::string> fences;
int copies = 0;
std::vector<std::string> allocations;

void begin_kernel(const char* label, const std::uint32_t device, std::uint64_t* id) {
  *id = kernels.size();
  kernels.push_back({label, device});
  ++open_kernels;
}
void end_kernel(const std::uint64_t) {
  --open_kernels;
}
void begin_fence(const char* label, const std::uint32_t, std::uint64_t*) {
  // Kokkos fences around kernels for the sake of tools that time them, and its Threads backend
  // inside every parallel_for; that is not our doing.
  const std::string name = label;
  if (name.find("Kokkos Profile Tool Fence") == std::string::npos &&
      name != "Kokkos::ThreadsInternal::fence: Unnamed Instance Fence")
    fences.push_back(name);
}
void begin_copy(Kokkos::Tools::SpaceHandle, const char*, const void*, Kokkos::Tools::SpaceHandle,
                const char*, const void*, std::uint64_t) {
  ++copies;
}
void allocate(Kokkos::Tools::SpaceHandle, const char* label, const void*, std::uint64_t) {
  allocations.push_back(label);
}

/// Records what happens while it lives.
class recording {
 public:
  recording() : before_(Kokkos::Tools::Experimental::get_callbacks()) {
    namespace tools = Kokkos::Tools::Experimental;
    kernels.clear();
    allocations.clear();
    fences.clear();
    copies = open_kernels = 0;
    tools::set_begin_parallel_for_callback(begin_kernel);
    tools::set_begin_parallel_reduce_callback(begin_kernel);
    tools::set_begin_parallel_scan_callback(begin_kernel);
    tools::set_end_parallel_for_callback(end_kernel);
    tools::set_end_parallel_reduce_callback(end_kernel);
    tools::set_end_parallel_scan_callback(end_kernel);
    tools::set_begin_fence_callback(begin_fence);
    tools::set_begin_deep_copy_callback(begin_copy);
    tools::set_allocate_data_callback(allocate);
  }
  ~recording() { Kokkos::Tools::Experimental::set_callbacks(before_); }
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

 private:
  Kokkos::Tools::Experimental::EventSet before_;
};

std::vector<std::string> labels() {
  std::vector<std::string> result;
  for (const auto& kernel : kernels) result.push_back(kernel.label);
  return result;
}

const std::vector<std::string> all_labels = {
    "Lanewise::transform",        "Lanewise::inclusive_scan",    "Lanewise::exclusive_scan",
    "Lanewise::reduce",           "Lanewise::multisplit::count", "Lanewise::multisplit::scan",
    "Lanewise::multisplit::place"};

}  // namespace

TEST_CASE(
    "Asynchronous calls launch labelled kernels on their instance, and neither fence, copy nor "
    "allocate in Kokkos",
    "[tools]") {
  const auto instances = two_instances();
  const auto& exec = instances.second;
  const auto items = random_items<u32>(140'000);
  const array<u32> in(items);
  const array<u32> out(140'000, 77u);
  const cell<u32> sum;
  const cell<std::int64_t> count(9'000);
  const cell<lanewise::status> errors;
  lanewise::workspace work;

  for (lanewise::workspace* given : {static_cast<lanewise::workspace*>(nullptr), &work}) {
    const recording now;
    lanewise::transform(exec, in.const_view(), out.view(), square_plus_one{}, {.work = given});
    lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{},
                             {.work = given, .count = count.view()});
    lanewise::exclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{}, 0u,
                             {.work = given});
    lanewise::reduce(exec, in.const_view(), sum.view(), lanewise::plus{}, 0u, {.work = given});
    lanewise::multisplit(exec, in.const_view(), out.view(), lanewise::at_most<256>{32}, modulo{33},
                         {.work = given, .errors = errors.view()});

    CAPTURE(given);
    CHECK(fences == std::vector<std::string>{});
    CHECK(copies == 0);
    CHECK(allocations == std::vector<std::string>{});
    CHECK(open_kernels == 0);
#if defined(LANEWISE_TEST_SPACE_EMULATED)
    CHECK(labels() == std::vector<std::string>{});
#else
    CHECK(labels() == all_labels);
    for (const auto& kernel : kernels)
      CHECK(kernel.device == Kokkos::Tools::Experimental::device_id(exec));
#endif
  }
  exec.fence();
}

#if defined(LANEWISE_TEST_SPACE_CUDA)
TEST_CASE("multisplit of up to 2^14 items is one launch", "[tools]") {
  const array<u32> in(random_items<u32>(1 << 14));
  const array<u32> out(1 << 14, 77u);
  const recording now;
  lanewise::multisplit(make_space(), in.const_view(), out.view(), lanewise::at_most<256>{32},
                       modulo{32});
  CHECK(labels() == std::vector<std::string>{"Lanewise::multisplit"});
}
#endif

namespace {

/// Does nothing.
struct idle_kernel {
  struct policy : lanewise::launch_policy {};
  template <class Team>
  struct scratch {};
  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team&, scratch<Team>&) const {}
};

}  // namespace

TEST_CASE("Tools see a launch of resident teams, and none that is refused", "[tools]") {
  const space exec = make_space();
  const std::int64_t most = lanewise::resident_teams<idle_kernel>(exec);
  std::vector<std::string> expected;
  const recording now;
  for (const std::int64_t league : {std::int64_t{1}, most}) {
    lanewise::launch_resident(exec, "Lanewise::test::resident", league, idle_kernel{});
    if (!is_emulated) expected.push_back("Lanewise::test::resident");
  }
  CHECK_THROWS_AS(
      lanewise::launch_resident(exec, "Lanewise::test::resident", most + 1, idle_kernel{}),
      std::invalid_argument);
  CHECK(labels() == expected);
  CHECK(open_kernels == 0);
  exec.fence();
}

// As above for one kind of host threads and for devices: what the others do differently is in the
// launch of any kernel.
#if defined(LANEWISE_TEST_SPACE_OPENMP) || defined(LANEWISE_TEST_SPACE_CUDA)

namespace {

struct is_even {
  KOKKOS_FUNCTION bool operator()(const u32& x) const { return x % 2 == 0; }
};

}  // namespace

TEST_CASE("Calls whose results are counted on the device are asynchronous too", "[tools]") {
  const auto instances = two_instances();
  const auto& exec = instances.second;
  const array<u32> in(random_items<u32>(10'000, 3));
  const array<u32> out(10'000, 77u), more(10'000, 77u);
  const array<u32> offsets(std::vector<u32>{0, 10, 10, 5'000, 10'000});
  const cell<std::int64_t> count;
  const cell<lanewise::indexed<u32>> greatest;
  lanewise::workspace work;

  for (lanewise::workspace* given : {static_cast<lanewise::workspace*>(nullptr), &work}) {
    const recording now;
    lanewise::select_if(exec, in.const_view(), out.view(), count.view(), is_even{},
                        {.work = given});
    lanewise::run_length_encode(exec, in.const_view(), out.view(), more.view(), count.view(),
                                lanewise::equal_to{}, {.work = given});
    lanewise::reduce_by_key(exec, in.const_view(), in.const_view(), out.view(), more.view(),
                            count.view(), lanewise::plus{}, lanewise::equal_to{}, {.work = given});
    lanewise::segmented_reduce(exec, in.const_view(), offsets.const_view(), out.view(),
                               lanewise::plus{}, 0u, {.work = given});
    lanewise::run_length_decode(exec, in.const_view(), in.const_view(), out.view(), count.view(),
                                {.work = given});
    lanewise::allocate(exec, in.const_view(), out.view(), count.view(), {.work = given});
    lanewise::inclusive_scan_reverse(exec, in.const_view(), out.view(), lanewise::plus{},
                                     {.work = given});
    lanewise::max_element(exec, in.const_view(), greatest.view(), lanewise::natural_order{},
                          {.work = given});

    CAPTURE(given);
    CHECK(fences == std::vector<std::string>{});
    CHECK(copies == 0);
    CHECK(allocations == std::vector<std::string>{});
    CHECK(open_kernels == 0);
    CHECK(labels() ==
          std::vector<std::string>{"Lanewise::select_if", "Lanewise::run_length_encode",
                                   "Lanewise::reduce_by_key", "Lanewise::segmented_reduce",
                                   "Lanewise::run_length_decode::allocate",
                                   "Lanewise::run_length_decode", "Lanewise::allocate",
                                   "Lanewise::inclusive_scan_reverse", "Lanewise::max_element"});
    for (const auto& kernel : kernels)
      CHECK(kernel.device == Kokkos::Tools::Experimental::device_id(exec));
  }
  exec.fence();
}

#endif

TEST_CASE("A call that returns a host value waits, and labels its memory", "[tools]") {
  const auto exec = make_space();
  const array<u32> in(1000, 1u);
  u32 sum = 0;
  {
    const recording now;
    sum = lanewise::reduce(exec, in.const_view(), lanewise::plus{}, 0u);
    for (const auto& label : allocations) CHECK(label.rfind("Lanewise::", 0) == 0);
    for (const auto& label : labels()) CHECK(label.rfind("Lanewise::", 0) == 0);
    if (!is_emulated) CHECK(!fences.empty());
  }
  CHECK(sum == 1000);
}
