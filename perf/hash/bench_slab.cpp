// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The slab map and the slab allocator on every backend of this Kokkos. insert, find_hit and
// find_miss work in the order of the arrays; build and find_batched in the order that the library
// chooses, and as variant by_region sorted.

#include "slab.hpp"
#include <lanewise/host.hpp>

namespace lanewise::perf {
namespace {

// The scalar face: every thread for itself, as users of Kokkos::UnorderedMap write it.

template <class Face, class View, class Keys>
struct scalar_insert {
  View table;
  Keys keys, values;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto value = values(i);
    Face(table, static_cast<std::uint64_t>(i)).insert(keys(i), value);
  }
};
template <class Face, class View, class Keys>
struct scalar_find {
  View table;
  Keys queries, answers;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Face(table, static_cast<std::uint64_t>(i)).find(queries(i), answers(i));
  }
};
template <class Exec, class T>
void add_scalar_face() {
  using map = typename slab_problem<Exec, T>::map;
  using view = typename map::view_type;
  using face = slab_scalar_face_t<Exec, map>;
  const auto look = [](auto& p, auto time) {
    const scalar_find<face, view, array<Exec, T>> one{p.table.view(), p.queries, p.answers};
    time([&] { Kokkos::parallel_for("perf::find", range<Exec>(p.exec, 0, p.n), one); });
  };
  add<find_problem<Exec, T, true, false>>("lanewise.scalar", look);
  add<find_problem<Exec, T, false, false>>("lanewise.scalar", look);
  add<change_problem<Exec, T, change::insert>>("lanewise.scalar", [](auto& p, auto time) {
    const scalar_insert<face, view, array<Exec, T>> one{p.table.view(), p.keys, p.values};
    time([&] { clear(p.exec, p.table); },
         [&] { Kokkos::parallel_for("perf::insert", range<Exec>(p.exec, 0, p.n), one); });
  });
}

template <class Exec, class T>
void add_slab_map() {
  const auto look = [](slab_order order) {
    return [order](auto& p, auto time) {
      time([&] {
        find(p.exec, p.table, p.queries, p.answers, slab_sorted{.work = &p.work, .order = order});
      });
    };
  };
  const auto fill_up = [](slab_order order) {
    return [order](auto& p, auto time) {
      time([&] { clear(p.exec, p.table); },
           [&] {
             insert(p.exec, p.table, p.keys, p.values,
                    slab_sorted{.work = &p.work, .order = order});
           });
    };
  };
  add<find_problem<Exec, T, true, false>>("lanewise", look(slab_order::as_given));
  add<find_problem<Exec, T, false, false>>("lanewise", look(slab_order::as_given));
  add<find_problem<Exec, T, true, true>>("lanewise", look(slab_order::automatic));
  add<find_problem<Exec, T, true, true>>("lanewise.by_region", look(slab_order::by_region));
  add<change_problem<Exec, T, change::insert>>("lanewise", fill_up(slab_order::as_given));
  add<change_problem<Exec, T, change::build>>("lanewise", fill_up(slab_order::automatic));
  add<change_problem<Exec, T, change::build>>("lanewise.by_region", fill_up(slab_order::by_region));
  add<change_problem<Exec, T, change::erase>>("lanewise", [](auto& p, auto time) {
    time(
        [&] {
          clear(p.exec, p.table);
          insert(p.exec, p.table, p.keys, p.values, {.work = &p.work});
        },
        [&] { erase(p.exec, p.table, p.queries, {.work = &p.work}); });
  });
  add<growing_problem<Exec, T>>("lanewise", [](auto& p, auto time) {
    time([&] { p.begin_again(); },
         [&] { insert(p.exec, p.table, p.keys, p.values, {.work = &p.work}); });
  });
  add<mixed_problem<Exec, T>>("lanewise", [](auto& p, auto time) {
    time([&] { p.prepare(); },
         [&] {
           apply(p.exec, p.table, p.operations, p.queries, p.answers,
                 {.work = &p.work, .tally = p.tally});
         });
  });
}

/// Batches put into the table that is there; and, as a structure that cannot change would have it,
/// the whole table built again for each, by our own build.
template <class Exec, class T>
void add_incremental() {
  using problem = incremental_problem<Exec, T>;
  const auto put = [](auto& p, std::int64_t begin, std::int64_t end) {
    insert(p.exec, p.table, p.part(p.keys, begin, end), p.part(p.values, begin, end),
           {.work = &p.work});
  };
  add<problem>("lanewise", [put](auto& p, auto time) {
    time([&] { clear(p.exec, p.table); },
         [&] {
           for (std::int64_t at = 0; at < p.n; at += p.batch) put(p, at, at + p.batch);
         });
  });
  add<problem>("rebuild", [put](auto& p, auto time) {
    time([&] {
      for (std::int64_t end = p.batch; end <= p.n; end += p.batch) {
        clear(p.exec, p.table);
        put(p, 0, end);
      }
    });
  });
}

template <bool gives_back, pool_kind kind>
struct allocate_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  slab_pool<kind> pool;
  std::int64_t n;
  std::uint64_t* failed;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    const std::int64_t id = std::int64_t{team.index()} * Team::warps + team.warp_index();
    const index_range mine =
        even_share(n / warp_type::width, id, std::int64_t{team.league()} * Team::warps);
    slab_resident<warp_type> resident(warp, static_cast<std::uint64_t>(id));
    std::uint64_t without = 0;
    for (std::int64_t w = mine.begin; w < mine.end; ++w) {
      const auto unit = pool.allocate(warp, resident, warp.first(warp_type::width));
      const auto have = unit != no_unit;
      without += static_cast<std::uint64_t>(warp.count(!have));
      if constexpr (gives_back) pool.deallocate(warp, have, unit);
    }
    if (without != 0) warp.fetch_add(*failed, without);
  }
};

template <class Exec, bool churn, pool_kind kind>
void add_allocator(const char* variant) {
  add<allocator_problem<Exec, churn, kind>>(variant, [](auto& p, auto time) {
    using kernel = allocate_kernel<churn, kind>;
    time([&] { p.prepare(); },
         [&] {
           launch(p.exec, "Lanewise::slab_allocator",
                  backend_of<Exec>::template resident_league<kernel>(p.exec, p.n / 256),
                  kernel{p.pool.view(), p.n, p.failed.data()});
         });
  });
}

template <class Exec>
void add_slab() {
  add_slab_map<Exec, std::uint32_t>();
  add_slab_map<Exec, std::uint64_t>();
  if constexpr (on_host<Exec>) {
    add_scalar_face<Exec, std::uint32_t>();
    add_scalar_face<Exec, std::uint64_t>();
  }
  add_incremental<Exec, std::uint32_t>();
  add_incremental<Exec, std::uint64_t>();
  add_allocator<Exec, false, pool_kind::growing>("lanewise");
  add_allocator<Exec, false, pool_kind::light>("lanewise.light");
  add_allocator<Exec, true, pool_kind::growing>("lanewise");
  add_allocator<Exec, true, pool_kind::light>("lanewise.light");
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  lanewise::perf::for_each_backend([](auto exec) { lanewise::perf::add_slab<decltype(exec)>(); });
  lanewise::perf::add_slab_peers();
  return lanewise::perf::run(argc, argv);
}
