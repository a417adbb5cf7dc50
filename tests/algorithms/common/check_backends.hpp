// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/emulated.hpp>
#include <lanewise/host.hpp>
#include <support/generators.hpp>
#include <support/instances.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstring>

namespace test {

/// What algorithms write on an instance, as words.
template <class Exec>
class written_words {
 public:
  written_words(const Exec& exec, std::int64_t n) : exec_(exec), n_(n) {}

  std::vector<std::uint32_t> words;

 protected:
  using space_of = typename Exec::memory_space;

  template <class T>
  Kokkos::View<T*, space_of> copy(const char* name, const std::vector<T>& items) {
    const Kokkos::View<T*, space_of> view(name, items.size());
    Kokkos::deep_copy(view, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                                items.data(), items.size()));
    return view;
  }
  template <class T>
  Kokkos::View<T*, space_of> place() {
    return Kokkos::View<T*, space_of>("out", static_cast<std::size_t>(n_));
  }
  template <class T>
  static std::uint32_t word(const T& x) {
    std::uint32_t w;
    std::memcpy(&w, &x, sizeof(w));
    return w;
  }
  template <class V>
  void keep(const V& view) {
    exec_.fence();
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    for (std::size_t i = 0; i < host.extent(0); ++i) words.push_back(word(host(i)));
  }

 private:
  Exec exec_;
  std::int64_t n_;
};

/// Compares Results(exec, given...).words of the tested backend with those of the others that every
/// program has, and with those of parts of it.
template <template <class> class Results, class... Given>
void check_backends(const Given&... given) {
  const auto words = [&](const auto& exec) {
    return Results<std::decay_t<decltype(exec)>>(exec, given...).words;
  };
  const auto here = words(make_space());
  CHECK(difference(words(Kokkos::Serial()), here) == "");
  CHECK(difference(words(lanewise::emulated(seed() + 1, 3)), here) == "");
  const auto [one, other] = two_instances();
  CHECK(difference(words(one), here) == "");
  CHECK(difference(words(other), here) == "");
}

}  // namespace test
