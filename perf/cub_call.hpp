// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support.hpp"

namespace lanewise::perf {

/// Times a CUB call f(storage, bytes), with its temporary storage allocated beforehand.
template <class Time, class F>
void time_cub(const Time& time, const F& f) {
  std::size_t bytes = 0;
  expect_success(f(nullptr, bytes));
  const Kokkos::View<char*, Kokkos::CudaSpace> storage("perf::storage", bytes);
  time([&] { expect_success(f(storage.data(), bytes)); });
}

}  // namespace lanewise::perf
