// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// A team that sees a part of its league as the whole: it is team `index` of `league`, which have
/// numbers of their own. What teams do together, as league_sums, they do among these then, by words
/// of their own. So a resident kernel can do several things at once.
template <class Team>
class subleague : public Team {
 public:
  LANEWISE_FUNCTION subleague(const Team& whole, std::uint32_t index, std::uint32_t league)
      : Team(whole), index_(index), league_(league) {}
  LANEWISE_FUNCTION std::uint32_t index() const { return index_; }
  LANEWISE_FUNCTION std::uint32_t league() const { return league_; }
  LANEWISE_FUNCTION index_range share(std::int64_t n) const {
    return even_share(n, index_, league_);
  }

 private:
  std::uint32_t index_;
  std::uint32_t league_;
};

LANEWISE_END_NAMESPACE
