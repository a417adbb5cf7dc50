// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// One call of each algorithm and structure, after all public headers: for the warnings that users
// may turn into errors. Nothing of it runs. LANEWISE_CALLS_EMULATED: on the emulated backend.
#include "public_headers.hpp"

#include <sstream>
#include <string_view>

namespace user {

#if defined(LANEWISE_CALLS_EMULATED)
using space = lanewise::emulated;  // what devices run
#else
using space = Kokkos::DefaultHostExecutionSpace;
#endif
using memory = Kokkos::HostSpace;
using u32 = std::uint32_t;
using i64 = std::int64_t;
template <class T>
using view = Kokkos::View<T*, memory>;
template <class T>
using place = Kokkos::View<T, memory>;

struct is_odd {
  KOKKOS_FUNCTION bool operator()(u32 x) const { return x % 2 != 0; }
};
struct last_digit {
  KOKKOS_FUNCTION u32 operator()(u32 x) const { return x % 10; }
};
struct square {
  KOKKOS_FUNCTION u32 operator()(i64 i) const { return static_cast<u32>(i * i); }
};
struct particle {
  u32 cell;
  float mass;
};
struct cell_of {
  KOKKOS_FUNCTION u32 operator()(const particle& p) const { return p.cell; }
};
struct is_lighter {
  KOKKOS_FUNCTION bool operator()(const particle& a, const particle& b) const {
    return a.mass < b.mass;
  }
};
struct pair_of {
  KOKKOS_FUNCTION lanewise::tuple<u32, u32> operator()(u32 x) const { return {x % 16, 1u}; }
};

void folds_and_scans(const space& exec, const view<u32>& in, const view<u32>& out,
                     const view<i64>& offsets, const view<double>& wide) {
  lanewise::transform(exec, lanewise::generated(1000, square{}), out, lanewise::identity{});
  lanewise::transform(exec, in, out, wide, lanewise::plus{});
  lanewise::reduce(exec, in, lanewise::plus{}, 0u);
  lanewise::reduce(exec, wide, lanewise::deterministic(lanewise::plus{}), 0.0);
  lanewise::min_element(exec, in, place<lanewise::indexed<u32>>("least"));
  lanewise::inclusive_scan(exec, in, out, lanewise::plus{});
  lanewise::exclusive_scan(exec, in, wide, lanewise::accumulate_as<double>(lanewise::plus{}), 0.0);
  lanewise::exclusive_scan_reverse(exec, in, out, lanewise::maximum{}, 0u);
  lanewise::two_level::inclusive_scan(exec, in, out, lanewise::plus{});
  lanewise::inclusive_scan_by_key(exec, in, in, out, lanewise::plus{});
  lanewise::inclusive_segmented_scan(exec, in, 100, out, lanewise::plus{});
  lanewise::segmented_reduce(exec, in, offsets, out, lanewise::plus{}, 0u);
  lanewise::adjacent_difference(exec, in, out);
  lanewise::adjacent_difference_right(exec, in, out);
}
void selections(const space& exec, const view<u32>& in, const view<u32>& out,
                const view<u32>& others, const view<i64>& offsets) {
  lanewise::select_if(exec, in, out, is_odd{});
  lanewise::partition(exec, in, out, others, is_odd{});
  lanewise::three_way_partition(exec, in, out, others, out, is_odd{}, is_odd{});
  lanewise::unique(exec, in, out);
  lanewise::run_length_encode(exec, in, out, others);
  lanewise::run_length_decode(exec, in, others, out);
  lanewise::reduce_by_key(exec, in, in, out, others, lanewise::plus{});
  lanewise::allocate(exec, in, offsets);
}
void sorts(const space& exec, const view<u32>& in, const view<u32>& out, const view<i64>& offsets,
           const view<particle>& particles, const view<particle>& sorted) {
  lanewise::sort(exec, out);
  lanewise::sort_by_key(exec, out, in);
  lanewise::radix_sort_by(exec, particles, sorted, cell_of{});
  lanewise::merge_sort(exec, particles, sorted, is_lighter{});
  lanewise::merge(exec, in, in, out);
  lanewise::set_union(exec, in, in, out);
  lanewise::segmented_sort(exec, in, offsets, out);
  lanewise::multisplit(exec, in, out, 10, last_digit{});
  lanewise::top_k(exec, in, 10, out);
  lanewise::nth_element(exec, in, 10);
  lanewise::sorted_unique(exec, in, out, place<i64>("count"));
  lanewise::is_sorted(exec, in);
  lanewise::find_if(exec, in, is_odd{});
  lanewise::lower_bound(exec, in, in, offsets);
  lanewise::histogram(exec, in, out, lanewise::even_bins_between<u32>{0, 1000});
  lanewise::map_reduce(exec, in, pair_of{}, out, out, lanewise::plus{});
  lanewise::argsort(exec, in, out);
  lanewise::bin_sort(exec, in, 10, last_digit{});
  lanewise::partial_sort(exec, in, 10, out);
  lanewise::merge_runs(exec, in, offsets, out);
  lanewise::set_intersection(exec, in, in, out);
  lanewise::segmented_sort_by_key(exec, in, in, offsets, out, out);
  lanewise::segmented_multisplit(exec, in, offsets, out, 10, last_digit{});
  lanewise::sparse_histogram(exec, in, out, out);
}
void strings(const space& exec, const view<const char>& text, const view<i64>& places,
             const view<u32>& ids) {
  const lanewise::pattern<memory> word("word");
  const lanewise::pattern_set<memory> set(std::vector<std::string>{"one", "another"});
  lanewise::count(exec, text, word);
  lanewise::find_first(exec, text, word);
  lanewise::find_all(exec, text, word, places);
  lanewise::find_all(exec, text, set, places, ids);
  lanewise::find_mismatches(exec, text, lanewise::mismatch_pattern<memory>("mismatches", 2),
                            places);
  lanewise::find_non_overlapping(exec, text, word, places);
  lanewise::search_stream<memory> stream(word);
  stream.find_all(exec, text, places, place<i64>("number"));
}
void rows_of_strings(const space& exec, const view<const char>& text, const view<i64>& offsets,
                     const view<int>& out) {
  const lanewise::pattern<memory> word("word");
  const lanewise::pattern_set<memory> set(std::vector<std::string>{"one", "another"});
  const lanewise::string_rows rows(text, offsets);
  lanewise::rows_count(exec, rows, word, out);
  lanewise::rows_find_last(exec, rows, word, out);
  lanewise::rows_contains(exec, rows, set, out);
}
void graphs(const space& exec, const view<int>& levels, const view<u32>& labels) {
  const auto graph =
      lanewise::build_csr(exec, lanewise::rmat_edges(12, 30'000), {.symmetrise = true});
  lanewise::bfs(exec, graph.symmetric(), 0, levels);
  lanewise::connected_components(exec, graph.symmetric(), labels);
  lanewise::papers::bfs_by_frontiers(exec, graph, 0, levels);
  lanewise::for_each_edge(exec, graph, labels, [](auto, auto to, auto) { return to % 2 == 0; });
}
void graphs_with_weights(const space& exec, const view<float>& x, const view<float>& y,
                         const view<u32>& sources,
                         const Kokkos::View<int**, Kokkos::LayoutRight, memory>& levels) {
  const lanewise::csr_graph<memory, u32, i64, float> graph;
  lanewise::bfs_batch(exec, graph, sources, levels);
  lanewise::sssp(exec, graph, 0, x);
  lanewise::sssp(exec, graph, 0, x, sources);
  lanewise::papers::sssp_by_buckets(exec, graph, 0, x);
  lanewise::papers::bellman_ford(exec, graph, 0, x);
  lanewise::spmv(exec, graph, x, y);
  lanewise::pagerank(exec, graph, y);
}
void tables(const space& exec, const view<u32>& keys, const view<u32>& values,
            const view<i64>& offsets) {
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.expected = 100});
  lanewise::insert(exec, map, keys, values);
  lanewise::upsert(exec, map, keys, values, lanewise::plus{});
  lanewise::find(exec, map, keys, values);
  lanewise::erase(exec, map, keys);
  std::stringstream file;
  lanewise::save(exec, map, file);
  lanewise::load<lanewise::slab_hash_map<u32, u32, memory>>(exec, file);
  lanewise::ordered_map<u32, u32, memory> ordered;
  lanewise::insert(exec, ordered, keys, values);
  lanewise::find(exec, ordered, keys, values);
  lanewise::btree_map<std::int64_t, u32, memory> tree;
  lanewise::reserve(exec, tree, 100);
  lanewise::lsm_map<u32, u32, memory> lsm;
  lanewise::insert(exec, lsm, keys, values);
  lanewise::count(exec, lsm, keys, keys, offsets);
  lanewise::range(exec, ordered, keys, keys, offsets, values, values);
  lanewise::slab_hash_multimap<u32, u32, memory> multimap(exec, {.expected = 100});
  lanewise::insert(exec, multimap, keys, values);
  lanewise::slab_hash_set<u32, memory> set(exec, {.expected = 100});
  lanewise::insert(exec, set, keys);
}

}  // namespace user
