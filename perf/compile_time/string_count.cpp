// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/strings/string_search.hpp>

using space = Kokkos::DefaultExecutionSpace;
std::int64_t count(const space& exec, const Kokkos::View<const char*, space>& text,
                   const lanewise::pattern<space::memory_space>& word) {
  return lanewise::count(exec, text, word);
}
