// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/scratch_items.hpp>

#include <bit>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// Items on their way to scratch, which come as late as they may: until wait() there are others.
template <class Raw, int n>
class staging {
 public:
  template <class Team>
  void init(const Team&) {}

  template <class Team, class F>
  void load_async(const Team& team, const array_source<Raw, F>& source, std::int64_t first,
                  std::int64_t count) {
    if (team.warp_index() > 0) return;
    fill(team, count, [](std::int64_t) { return unlike_anything(); });
    team.warp().once([&] {
      from_ = source.data + first;
      count_ = count;
    });
  }

  template <class Team, class F>
  lanewise::detail::staged_source<Raw, F> wait(const Team& team, const array_source<Raw, F>& source,
                                               std::uint32_t) {
    team.barrier();
    if (team.warp_index() == 0) fill(team, count_, [&](std::int64_t i) { return from_[i]; });
    team.barrier();
    return {{room_.data(), count_, source.f}};
  }

 private:
  static Raw unlike_anything() {
    struct bytes {
      unsigned char byte[sizeof(Raw)];
    } b;
    for (auto& byte : b.byte) byte = 0xA5;
    return std::bit_cast<Raw>(b);
  }
  template <class Team, class Item>
  void fill(const Team& team, std::int64_t count, Item item) {
    constexpr std::int64_t width = Team::warp_type::width;
    const auto warp = team.warp();
    for (std::int64_t i = 0; i < count; i += width) {
      const auto some = warp.template first<Raw>(static_cast<int>(std::min(width, count - i)));
      warp.store(some, room_.data() + i,
                 warp.map([&](std::uint32_t lane) { return item(std::min(i + lane, count - 1)); },
                          warp.lane()));
    }
  }

  lanewise::detail::raw_array<Raw, n> room_;
  const Raw* from_;
  std::int64_t count_;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
