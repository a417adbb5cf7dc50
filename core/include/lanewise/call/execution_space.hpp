// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

LANEWISE_BEGIN_NAMESPACE

/// What calls take first: an instance of an execution space, of Kokkos or lanewise::emulated. Calls
/// ask for it, so that an unqualified reduce(first, last, ...) with a lanewise operator among its
/// arguments stays somebody else's.
template <class E>
concept execution_space = requires(const E& exec) {
  typename E::memory_space;
  E::name();
  exec.fence("");
};

LANEWISE_END_NAMESPACE
