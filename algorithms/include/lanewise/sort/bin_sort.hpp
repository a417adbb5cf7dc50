// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/histogram/bins.hpp>
#include <lanewise/sort/detail/within_bins.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <lanewise/sort/sort.hpp>

#include <bit>
#include <limits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

// Items are known by their numbers, and a bin by its own; `none` is one more than the last bin.

/// Numbers of items, in the order in which they are split into bins: their own, or another.
struct numbers_in_order {
  const std::uint32_t* order;
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return order != nullptr ? order[i] : static_cast<std::uint32_t>(i);
  }
};

template <class Source, class Bins>
struct bin_of_item {
  Source keys;
  Bins bins;
  std::uint32_t none;
  LANEWISE_FUNCTION std::uint32_t operator()(const std::uint32_t& i) const {
    std::uint32_t bin = 0;
    const bool inside = bins.find(keys(static_cast<std::int64_t>(i)), bin);
    return inside ? bin : none;
  }
};
template <class Source>
struct less_of_items {
  Source keys;
  LANEWISE_FUNCTION bool operator()(const std::uint32_t& i, const std::uint32_t& j) const {
    return keys(static_cast<std::int64_t>(i)) < keys(static_cast<std::int64_t>(j));
  }
};

/// Whether a type has what binning operators of Kokkos have.
template <class Op>
inline constexpr bool is_binning_operator = requires(const Op& op) {
  op.max_bins();
};

/// As the two above, by a binning operator of Kokkos, which is called with a View and numbers.
template <class Keys, class Op>
struct bin_by_operator {
  Keys keys;
  Op op;
  std::uint32_t none;
  LANEWISE_FUNCTION std::uint32_t operator()(const std::uint32_t& i) const {
    const auto bin = static_cast<std::uint32_t>(op.bin(keys, static_cast<int>(i)));
    return bin < none ? bin : none;
  }
};
template <class Keys, class Op>
struct less_by_operator {
  Keys keys;
  Op op;
  LANEWISE_FUNCTION bool operator()(const std::uint32_t& i, const std::uint32_t& j) const {
    const int left = static_cast<int>(i), right = static_cast<int>(j);
    return op(keys, left, right);
  }
};

/// The bin of a place, by the bins of places, or of numbers that lie there.
template <class Id>
struct bin_of_number {
  const Id* ids;
  const std::uint32_t* numbers;
  LANEWISE_FUNCTION std::uint32_t operator()(std::uint32_t place) const {
    return ids[numbers[place]];
  }
};
struct bin_of_place {
  const std::uint32_t* ids;
  LANEWISE_FUNCTION std::uint32_t operator()(std::uint32_t place) const { return ids[place]; }
};

struct items_of_bin {
  const std::uint32_t* offsets;
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t b) const {
    return offsets[b + 1] - offsets[b];
  }
};

/// A View of any layout and of rank 1, or of rank 2, whose rows are the first extent. Items are
/// addressed by numbers that go along the columns of a LayoutLeft, else along rows.
template <class V, bool by_columns>
struct items_by_rows {
  using item = typename V::non_const_value_type;

  Kokkos::View<typename V::data_type, typename V::array_layout, typename V::device_type,
               Kokkos::MemoryUnmanaged>
      values;
  std::int64_t rows;
  std::int64_t columns;

  explicit items_by_rows(const V& v)
      : values(v),
        rows(static_cast<std::int64_t>(v.extent(0))),
        columns(V::rank() == 1 ? 1 : static_cast<std::int64_t>(v.extent(1))) {}

  LANEWISE_FUNCTION std::int64_t size() const { return rows * columns; }
  /// f(item) of item i; or of the one in the row of another number, if there is a permutation.
  template <class F>
  LANEWISE_FUNCTION void at(std::int64_t i, const std::uint32_t* permutation, const F& f) const {
    const auto row_of = [&](std::int64_t row) LANEWISE_INLINE_LAMBDA {
      return permutation != nullptr ? static_cast<std::int64_t>(permutation[row]) : row;
    };
    if constexpr (V::rank() == 1) {
      f(values(row_of(i)));
    } else {
      const std::int64_t length = by_columns ? rows : columns;
      const std::int64_t line =
          by_columns || fixed_columns == 0 ? quotient(i, length) : i / divisor;
      const std::int64_t in_line = i - line * length;
      f(values(row_of(by_columns ? in_line : line), by_columns ? line : in_line));
    }
  }

 private:
  /// The number of items of a row if the View's type states it, else 0. As a constant, it needs no
  /// division.
  static constexpr std::int64_t fixed_columns =
      V::rank() == 2 && V::rank_dynamic == 1 ? static_cast<std::int64_t>(V::static_extent(1)) : 0;
  static constexpr std::int64_t divisor = fixed_columns > 0 ? fixed_columns : 1;

  /// Divisions of 64 bits take a GPU several times as long.
  static LANEWISE_FUNCTION std::int64_t quotient(std::int64_t i, std::int64_t length) {
    return i >> 32 == 0 && length >> 32 == 0
               ? static_cast<std::int64_t>(static_cast<std::uint32_t>(i) /
                                           static_cast<std::uint32_t>(length))
               : i / length;
  }
};

/// Items of permuted rows. A processor alone waits for few of them at a time, and asks for the item
/// that is `ahead` items further on: none on devices, whose warps wait for many.
template <class Rows, std::int64_t ahead, class Warp>
struct fetch_by_rows {
  Rows from;
  const std::uint32_t* permutation;
  LANEWISE_FUNCTION auto operator()(std::int64_t i) const {
    if constexpr (ahead > 0) {
      if (i + ahead < from.size())
        from.at(i + ahead, permutation,
                [](const auto& item) LANEWISE_INLINE_LAMBDA { Warp::prefetch(&item); });
    }
    typename Rows::item x;
    from.at(i, permutation, [&](const auto& item) LANEWISE_INLINE_LAMBDA { x = item; });
    return x;
  }
};
template <class Rows>
struct store_by_rows {
  Rows to;
  LANEWISE_FUNCTION void operator()(std::int64_t i, const typename Rows::item& x) const {
    to.at(i, nullptr, [&](auto& item) LANEWISE_INLINE_LAMBDA { item = x; });
  }
};

/// The memory that a View of any layout spans.
template <class V>
auto span_of(const V& values) {
  return array_source<char, identity>{
      reinterpret_cast<const char*>(values.data()),
      static_cast<std::int64_t>(values.span() * sizeof(typename V::value_type)), identity{}};
}

/// Whether values can be permuted.
template <class Exec, class V>
constexpr bool check_permuted() {
  constexpr bool view = Kokkos::is_view_v<V>;
  static_assert(view, "lanewise::bin_sort: values are a Kokkos::View");
  if constexpr (view) {
    constexpr bool rank = V::rank() == 1 || V::rank() == 2;
    static_assert(rank, "lanewise::bin_sort: values are Views of rank 1, or of rank 2 by rows");
    detail::check_reachable<Exec, V>();
    return rank && detail::check_item_type<typename V::non_const_value_type>();
  }
  return view;
}

}  // namespace kernels

/// Options of bin_sort.
struct bin_sort_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// Items of one bin are in the order of their keys, and not in that of the input.
  bool within_bins = false;
};

/// The order of items by bins, which an object makes once from keys, holds, and applies to any
/// number of arrays beside them. In place of Kokkos::BinSort.
///
///   const lanewise::bin_sort by_cell(exec, cell, 1000, lanewise::even_bins(0, 1000));
///   by_cell.sort(exec, cell);
///   by_cell.sort(exec, position);  // rank 2: by rows
///
/// permutation()(r) is the number of the item at place r. Bin b has the places from offsets()(b) up
/// to, and without, offsets()(b + 1). Items that are in no bin, as a NaN or what is out of range,
/// are after all bins, from offsets()(bin_count()) on: none is lost.
///
/// Shapes: up to 2^32 - 1 items; any number of bins up to 2^31 - 1, or up to 2^21 of even_bins and
/// range_bins. The object has n + bin_count + 2 numbers of 4 bytes.
///
/// O(n) work. Keys are read once, and the bin of each is written. For up to 255 bins this takes 1
/// byte, and the items' numbers are split by bins (multisplit). On hosts up to 65,535 bins are
/// handled the same way, in 2 bytes. Else bins take 4 bytes, and radix_sort sorts pairs of bin and
/// number by the bits that bins have. This is the papers' reduced-bit sort, with a search for each
/// bin. Sorting within bins takes an argsort of the keys before, where radix_sort takes them.
/// Otherwise bins are sorted one by one: on devices a lane compares its item with all others of a
/// bin of up to 256 items, on hosts a thread sorts a bin. Larger ones (of more than 16,384 items,
/// and than half of a thread's part) are listed, and merged together. Bins, and numbers of items,
/// are in memory that the call allocates in the order of its instance, beside options.work.
///
/// Stable: items of one bin are in the order of the input. With options.within_bins they are in the
/// order of their keys, equal ones in the order of the input. The order is the same on every
/// backend.
///
/// No call blocks. An object can be moved and not copied; the Views that it returns live as long as
/// it does. Calls come on one instance, or are ordered by the caller.
///
/// Throws std::invalid_argument on a wrong number of bins, more items than are allowed, wrong
/// extents, or overlap. (GPU Multisplit, section 3.4; Ashkiani, 3.3.4.)
template <execution_space Exec>
class bin_sort {
 public:
  using memory_space = typename Exec::memory_space;
  using index_view = Kokkos::View<const std::uint32_t*, memory_space, Kokkos::MemoryUnmanaged>;

  /// keys is a rank-1 View or a source; bins is even_bins(lower, upper), range_bins(edges), or a
  /// pure scalar function object from a key to an integer, called once per key.
  /// Within bins keys are in the order of radix_sort where it takes them, else of their <.
  template <class Keys, class Bins>
  bin_sort(const Exec& exec, const Keys& keys, std::int64_t bin_count, const Bins& bins,
           const bin_sort_options& options = {}) {
    assign(exec, keys, bin_count, bins, options);
  }

  /// Overload by a binning operator of Kokkos: BinOp1D, BinOp3D, or what has their members
  /// max_bins() and bin(keys, i). For options.within_bins it also has operator()(keys, i, j), which
  /// says whether item i comes before item j. keys is a View of any rank and layout, of fewer than
  /// 2^31 items. Items whose bin is not in [0, max_bins()) are in no bin.
  template <class Keys, class Op>
  requires(kernels::is_binning_operator<Op>)
      bin_sort(const Exec& exec, const Keys& keys, const Op& op,
               const bin_sort_options& options = {}) {
    assign(exec, keys, op, options);
  }

  /// Makes the order of other keys, on the same instance, in the same memory where it suffices.
  template <class Keys, class Bins>
  void assign(const Exec& exec, const Keys& keys, std::int64_t bin_count, const Bins& bins,
              const bin_sort_options& options = {}) {
    constexpr bool by_function = !requires {
      bins.edges;
    }
    &&!requires {
      bins.lower;
    };
    constexpr std::int64_t most =
        by_function ? std::int64_t{std::numeric_limits<std::int32_t>::max()} : most_bins;
    const auto source = kernels::as_items<Exec>(keys);
    using source_type = std::decay_t<decltype(source)>;
    using item = typename source_type::value_type;
    detail::expects_memory(source, "bin_sort", "keys");
    detail::expects(bin_count >= 1 && bin_count <= most, "bin_sort: bin_count is ", bin_count,
                    ", not in [1, ", most, "]");
    if constexpr (detail::check_bins<Exec, item>(static_cast<const Bins*>(nullptr))) {
      const auto found = detail::prepare<item>(bins, bin_count, "bin_sort");
      const kernels::bin_of_item<source_type, std::decay_t<decltype(found)>> bin{
          source, found, static_cast<std::uint32_t>(bin_count)};
      const kernels::less_of_items<source_type> less{source};
      make_room(exec, source.extent, bin_count);
      if constexpr (radix_sortable<item>) {
        if (!options.within_bins) return order_by_bins(exec, nullptr, bin, nothing{}, options);
        kernels::call_memory<Exec> memory(
            exec, static_cast<std::size_t>(n_) * sizeof(std::uint32_t), "bin_sort");
        const auto by_key = memory.template view<std::uint32_t>(n_);
        lanewise::argsort(exec, source, by_key, {.work = options.work});
        order_by_bins(exec, by_key.data(), bin, nothing{}, options);
      } else if constexpr (requires(const item& x) { x < x; }) {
        order_by_bins(exec, nullptr, bin, less, options);
      } else {
        detail::expects(!options.within_bins,
                        "bin_sort: options.within_bins is set, and keys have no <");
        order_by_bins(exec, nullptr, bin, nothing{}, options);
      }
    }
  }

  /// Overload by a binning operator of Kokkos.
  template <class Keys, class Op>
  requires(kernels::is_binning_operator<Op>) void assign(const Exec& exec, const Keys& keys,
                                                         const Op& op,
                                                         const bin_sort_options& options = {}) {
    static_assert(Kokkos::is_view_v<Keys>, "lanewise::bin_sort: keys are a Kokkos::View");
    detail::check_reachable<Exec, Keys>();
    using view = Kokkos::View<typename Keys::const_data_type, typename Keys::array_layout,
                              typename Keys::device_type, Kokkos::MemoryUnmanaged>;
    const std::int64_t n = static_cast<std::int64_t>(keys.extent(0)), bins = op.max_bins();
    detail::expects(bins >= 1, "bin_sort: op.max_bins() is ", bins, ", less than 1");
    detail::expects(n <= std::numeric_limits<int>::max(), "bin_sort: keys has ", n,
                    " items, operators of Kokkos count up to ", std::numeric_limits<int>::max());
    detail::expects(n == 0 || keys.data() != nullptr, "bin_sort: keys has ", n,
                    " items and no memory");
    const kernels::bin_by_operator<view, Op> bin{keys, op, static_cast<std::uint32_t>(bins)};
    const kernels::less_by_operator<view, Op> less{keys, op};
    make_room(exec, n, bins);
    order_by_bins(exec, nullptr, bin, less, options);
  }

  std::int64_t size() const { return n_; }
  std::int64_t bin_count() const { return bins_; }
  index_view permutation() const { return index_view(numbers() + bins_ + 2, n_); }
  /// The begins of the bins, followed by the end of the last bin.
  index_view offsets() const { return index_view(numbers(), bins_ + 1); }
  /// A source of the numbers of items of the bins: an argument of any algorithm, and callable in
  /// kernels.
  auto counts() const { return generated(bins_, kernels::items_of_bin{numbers()}); }

  /// Sorts values, one for each key: a View of rank 1, or of rank 2 by rows, of any layout. Values
  /// are read and written twice, and lie in memory of the call in between.
  template <class Values>
  void sort(const Exec& exec, const Values& values, workspace_ref work = {}) const {
    if constexpr (kernels::check_permuted<Exec, Values>()) {
      using item = typename Values::non_const_value_type;
      expects_rows(values, "values");
      auto own = call_workspace::make<backend_of<Exec>>(
          exec, work, {0, values.size() * sizeof(item)}, "bin_sort");
      const Kokkos::View<item*, memory_space, Kokkos::MemoryUnmanaged> fetched(
          static_cast<item*>(own.get().plain()), values.size());
      lanewise::transform(exec, fetched_rows<by_columns<Values>>(values), fetched, identity{});
      store(exec, fetched, values);
    }
  }

  /// Overload that sorts from one View to another, which does not overlap: values are read and
  /// written once.
  template <class In, class Out>
  requires(Kokkos::is_view_v<Out>) void sort(const Exec& exec, const In& in, const Out& out) const {
    if constexpr (kernels::check_permuted<Exec, In>() && kernels::check_permuted<Exec, Out>()) {
      static_assert(In::rank() == Out::rank(), "lanewise::bin_sort: in and out have the same rank");
      expects_rows(in, "in");
      expects_rows(out, "out");
      detail::expects(in.size() == out.size(), "bin_sort: in has ", in.size(), " items, out ",
                      out.size());
      detail::expects_no_partial_overlap(kernels::span_of(in), kernels::span_of(out), "bin_sort",
                                         "in", "out", false);
      store(exec, fetched_rows<by_columns<Out>>(in), out);
    }
  }

 private:
  template <class V>
  static constexpr bool by_columns = std::is_same_v<typename V::array_layout, Kokkos::LayoutLeft>;

  std::uint32_t* numbers() const { return static_cast<std::uint32_t*>(memory_.plain()); }

  struct nothing {};

  void make_room(const Exec& exec, std::int64_t n, std::int64_t bins) {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    detail::expects(n <= most, "bin_sort: keys has ", n, " items, more than ", most);
    const std::size_t all = static_cast<std::size_t>(n + bins + 2);
    memory_.template reserve_for<backend_of<Exec>>(exec, {0, all * sizeof(std::uint32_t)},
                                                   "bin_sort");
    n_ = n;
    bins_ = bins;
  }

  /// Sorts numbers of items by bin, those of a bin as they come, or by `less` where options ask for
  /// it. What is in no bin is in one more.
  template <class Bin, class Less>
  void order_by_bins(const Exec& exec, const std::uint32_t* from, const Bin& bin, const Less& less,
                     const bin_sort_options& options) {
    using view = Kokkos::View<std::uint32_t*, memory_space, Kokkos::MemoryUnmanaged>;
    const view offsets(numbers(), bins_ + 2), permutation(numbers() + bins_ + 2, n_);
    const auto items = generated(n_, kernels::numbers_in_order{from});
    const auto sort_within = [&](const auto& bin_of) {
      if constexpr (!std::is_same_v<Less, nothing>) {
        if (options.within_bins && n_ > 1)
          kernels::sort_within_bins(exec, permutation.data(), n_, offsets.data(), bins_ + 1, bin_of,
                                    less, options.work);
      }
    };
    const auto split = [&]<class Id, std::int64_t most>(Id, at_most<most> buckets) {
      kernels::call_memory<Exec> memory(exec, static_cast<std::size_t>(n_) * sizeof(Id),
                                        "bin_sort");
      const auto ids = memory.template view<Id>(n_);
      lanewise::transform(exec, items, ids, bin);
      lanewise::multisplit(exec, items, permutation, buckets, lanewise::bucket_ids(ids),
                           {.work = options.work, .offsets = offsets});
      sort_within([&](const std::uint32_t* numbers) {
        return kernels::bin_of_number<Id>{ids.data(), numbers};
      });
    };
    if (bins_ < most_buckets) return split(std::uint8_t{}, at_most<most_buckets>{bins_ + 1});
    // Two rounds of a split take a host less time than a sort of pairs.
    if constexpr (team_t<Exec, launch_policy>::is_single_thread) {
      if (bins_ < most_multisplit_buckets)
        return split(std::uint16_t{}, at_most<most_multisplit_buckets>{bins_ + 1});
    }
    kernels::call_memory<Exec> memory(exec, static_cast<std::size_t>(n_) * sizeof(std::uint32_t),
                                      "bin_sort");
    const auto ids = memory.template view<std::uint32_t>(n_);
    lanewise::transform(exec, items, ids, bin);
    const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(bins_)));
    lanewise::radix_sort(exec, ids, items, ids, permutation,
                         {.work = options.work, .end_bit = bits});
    using begins = kernels::begins_kernel<std::uint32_t, identity>;
    lanewise::launch(
        exec, "Lanewise::bin_sort::begins",
        backend_of<Exec>::template league_for_tiles<begins>(exec, divide_up(bins_ + 2, 128)),
        begins{ids.data(),
               {n_},
               identity{},
               static_cast<std::uint32_t>(bins_ + 1),
               detail::integers(offsets.data())});
    sort_within([&](const std::uint32_t*) { return kernels::bin_of_place{ids.data()}; });
  }

  template <class Values>
  void expects_rows(const Values& values, const char* name) const {
    const auto rows = static_cast<std::int64_t>(values.extent(0));
    detail::expects(rows == n_, "bin_sort: ", name, " has ", rows, " rows, keys had ", n_);
    detail::expects(values.size() == 0 || values.data() != nullptr, "bin_sort: ", name, " has ",
                    values.size(), " items and no memory");
  }
  template <bool by_columns, class In>
  auto fetched_rows(const In& in) const {
    using rows = kernels::items_by_rows<In, by_columns>;
    constexpr std::int64_t ahead = team_t<Exec, launch_policy>::is_single_thread ? 64 : 0;
    return lanewise::generated(
        static_cast<std::int64_t>(in.size()),
        kernels::fetch_by_rows<rows, ahead, warp_t<Exec>>{rows(in), permutation().data()});
  }
  template <class From, class Out>
  static void store(const Exec& exec, const From& from, const Out& out) {
    static_assert(!std::is_const_v<typename Out::value_type>,
                  "lanewise::bin_sort: values are sorted in a View whose items are not const");
    if constexpr (Out::rank() == 1 &&
                  !std::is_same_v<typename Out::array_layout, Kokkos::LayoutStride>) {
      lanewise::transform(exec, from, out, identity{});
    } else {
      using rows = kernels::items_by_rows<Out, by_columns<Out>>;
      lanewise::transform(exec, from,
                          lanewise::consumed(static_cast<std::int64_t>(out.size()),
                                             kernels::store_by_rows<rows>{rows(out)}),
                          identity{});
    }
  }

  workspace memory_;
  std::int64_t n_ = 0;
  std::int64_t bins_ = 0;
};

LANEWISE_END_TARGET_NAMESPACE
