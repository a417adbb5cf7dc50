// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// B+ trees that are changed in place, on every backend of this Kokkos: the calls of
// bench_ordered_map that change a map, with one operation by a lane for every item. The peers are
// there.

#include "ordered/ordered_map.hpp"
#include <lanewise/btree/btree_map.hpp>
#include <lanewise/host.hpp>

namespace lanewise::perf {
namespace {

/// The problems of ordered maps, with a tree beside the map.
template <class Base, class T>
struct btree_problem : Base {
  using exec_space = typename Base::exec_space;
  btree_map<T, T, typename exec_space::memory_space> tree;

  explicit btree_problem(const ordered_point& p) : Base(p) {}
  static row name(const ordered_point& p) {
    row r = Base::name(p);
    r.algorithm.replace(0, std::string("ordered_map").size(), "btree_map");
    return r;
  }
};
template <class Exec, class T, ordered_batch what, bool small>
struct btree_batch_problem : btree_problem<ordered_batch_problem<Exec, T, what, small>, T> {
  using base = btree_problem<ordered_batch_problem<Exec, T, what, small>, T>;
  using base::base;
  void fill_tree() { build(this->exec, this->tree, this->full, this->n); }
  bool correct() const {
    const std::int64_t there = size(this->exec, this->tree);
    if (what == ordered_batch::mixed || this->order == key_order::zipf) return there > 0;
    return there == this->elements + (what == ordered_batch::insert ? this->n : -this->n);
  }
};
template <class Exec, class T>
struct btree_find_problem : btree_problem<ordered_find_problem<Exec, T, true>, T> {
  using base = btree_problem<ordered_find_problem<Exec, T, true>, T>;
  explicit btree_find_problem(const ordered_point& p) : base(p) {
    build(this->exec, this->tree, this->table);
  }
};
/// 16 batches that double the tree, rebuilding it when there is no room: in elements of them all.
template <class Exec, class T>
struct btree_growth_problem : btree_problem<ordered_problem<Exec, T>, T> {
  using base = btree_problem<ordered_problem<Exec, T>, T>;
  static constexpr int batches = 16;
  typename ordered_problem<Exec, T>::map full = this->full_map();

  explicit btree_growth_problem(const ordered_point& p) : base(p) {
    fill(this->exec, this->keys, ordered_key<T>{this->order, this->n, 1});
  }
  static std::vector<ordered_point> points() { return ordered_points<Exec>(false); }
  static row name(const ordered_point& p) {
    row r = ordered_problem<Exec, T>::name("grow16", p);
    r.algorithm = "btree_map.grow16";
    return r;
  }
  bool correct() const { return size(this->exec, this->tree) == 2 * this->n; }
  void record(benchmark::UserCounters& counters) const {
    counters["bytes_per_element"] = statistics(this->exec, this->tree).bytes_per_element;
  }
};

template <class Exec, class T>
void add_btree() {
  add<btree_find_problem<Exec, T>>("lanewise", [](auto& p, auto time) {
    time([&] { find(p.exec, p.tree, p.keys, p.answers); });
  });
  add<btree_batch_problem<Exec, T, ordered_batch::insert, true>>(
      "lanewise", [](auto& p, auto time) {
        time([&] { p.fill_tree(); },
             [&] { insert(p.exec, p.tree, p.batch_keys, p.batch_values, {.work = &p.work}); });
      });
  add<btree_batch_problem<Exec, T, ordered_batch::insert, false>>(
      "lanewise", [](auto& p, auto time) {
        time([&] { p.fill_tree(); },
             [&] { insert(p.exec, p.tree, p.batch_keys, p.batch_values, {.grow = false}); });
      });
  add<btree_batch_problem<Exec, T, ordered_batch::erase, false>>(
      "lanewise", [](auto& p, auto time) {
        time([&] { p.fill_tree(); }, [&] { erase(p.exec, p.tree, p.batch_keys); });
      });
  add<btree_batch_problem<Exec, T, ordered_batch::mixed, false>>(
      "lanewise", [](auto& p, auto time) {
        time([&] { p.fill_tree(); },
             [&] {
               apply(p.exec, p.tree, p.operations, p.batch_keys, p.batch_values, {.grow = false});
             });
      });
  add<btree_growth_problem<Exec, T>>("lanewise", [](auto& p, auto time) {
    time([&] { build(p.exec, p.tree, p.full); },
         [&] {
           for (int b = 0; b < p.batches; ++b) {
             const auto part = Kokkos::make_pair(p.n * b / p.batches, p.n * (b + 1) / p.batches);
             insert(p.exec, p.tree, Kokkos::subview(p.keys, part), Kokkos::subview(p.values, part),
                    {.work = &p.work});
           }
         });
  });
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  using namespace lanewise::perf;
  Kokkos::ScopeGuard kokkos(argc, argv);
  for_each_backend([](auto exec) {
    add_btree<decltype(exec), std::uint32_t>();
    add_btree<decltype(exec), std::uint64_t>();
  });
  return run(argc, argv);
}
