// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/source.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// n items of a source, and what lies in front of the first and behind the last.
template <class Source>
struct bordered {
  using value_type = typename Source::value_type;

  Source items;
  std::int64_t n;
  value_type front;
  value_type behind;
};

LANEWISE_END_NAMESPACE
