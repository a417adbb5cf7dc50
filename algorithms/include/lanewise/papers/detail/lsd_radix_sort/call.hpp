// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/lsd_radix_sort/multi_scan.hpp>
#include <lanewise/papers/detail/names.hpp>
#include <lanewise/papers/radix_pass_cost.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/detail/multisplit_call.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace kernels {

/// What is sorted, and by which bits.
template <class Bits, class Value>
struct passes_call {
  detail::radix_arrays<Bits> keys;
  detail::radix_arrays<Value> values;
  item_count n;
  option_view<const std::int64_t> count;  ///< the one that n reads
  detail::key_map<Bits> map;
  detail::radix_range range;
  int bits;  ///< of a pass

  int passes() const { return radix_passes(range.high - range.low, bits); }
  detail::mapped_digit<Bits> digit(int pass) const {
    const int shift = range.low + pass * bits;
    const int width = std::min(bits, range.high - shift);
    return {map, {shift, (std::uint32_t{1} << width) - 1}};
  }
  /// Whether the input can be read while the output is written.
  bool is_apart() const { return keys.in != keys.out && (is_alone || values.in != values.out); }
  /// Whether what moves next from the input goes to the output: an odd number of passes then ends
  /// there.
  bool begins_out(int pass) const { return is_apart() && (passes() - pass) % 2 == 1; }

 private:
  static constexpr bool is_alone = std::is_empty_v<Value>;
};

/// The parts of a sort's workspace: room for the items, then what a way of ranking needs.
template <class Bits, class Value>
struct passes_layout {
  std::size_t values_at;
  std::size_t rest_at;

  explicit passes_layout(std::int64_t n)
      : values_at(whole_lines(static_cast<std::size_t>(n) * sizeof(Bits))),
        rest_at(values_at +
                kernels::whole_lines(static_cast<std::size_t>(n) * moved_bytes<Value>)) {}
};

/// Copies what ended elsewhere.
template <class Exec, class T>
void copy_to_output(const Exec& exec, const T* from, T* to, std::int64_t n,
                    const option_view<const std::int64_t>& count) {
  using target = Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>;
  if (from == to) return;
  lanewise::transform(exec, array_source<T, identity>{from, n, {}}, target(to, n), identity{},
                      {.count = count});
}

/// The library's multisplit for every digit.
struct passes_by_splits {
  template <class Bits, class Value>
  using policy = split_policy_for<Bits, moved_bytes<Value>, false>;

  template <class Bits, class Value, class Exec>
  static workspace_size need(std::int64_t n) {
    return kernels::split_size<policy<Bits, Value>, Exec, Bits, Value>(n, most_buckets, false);
  }

  template <class Exec, class Bits, class Value>
  static void sort(const Exec& exec, workspace& work, char* memory,
                   const passes_call<Bits, Value>& call) {
    auto at = detail::radix_array::in;
    for (int p = 0; p < call.passes(); ++p) {
      const bool out = at == detail::radix_array::in && call.begins_out(p);
      const auto to = out ? detail::radix_array::out : call.keys.next(at);
      const auto digit = call.digit(p);
      const split_call split{call.n, digit.digit.mask + 1, {}, nullptr};
      const auto run = [&](const auto& values, const auto& values_out) {
        kernels::split_in<policy<Bits, Value>, most_buckets>(
            exec, work, memory,
            kernels::arrays_of(array_source<Bits, identity>{call.keys(at), call.n.bound, {}},
                               array_sink<Bits>{call.keys.to(to), call.n.bound}, values,
                               values_out),
            split, digit);
      };
      if constexpr (std::is_empty_v<Value>) {
        run(nullptr, nullptr);
      } else {
        run(array_source<Value, identity>{call.values(at), call.n.bound, {}},
            array_sink<Value>{call.values.to(to), call.n.bound});
      }
      at = to;
    }
    kernels::copy_to_output(exec, call.keys(at), call.keys.out, call.n.bound, call.count);
    if constexpr (!std::is_empty_v<Value>)
      kernels::copy_to_output(exec, call.values(at), call.values.out, call.n.bound, call.count);
  }
};

/// Two sweeps and a spine for every digit.
struct passes_by_multi_scans {
  /// So that the workspace does not depend on the machine; more teams than any has.
  static constexpr std::int64_t most_teams = 4096;
  static constexpr std::size_t counts_bytes =
      most_teams * detail::most_scanned_digits * sizeof(std::int64_t);

  template <class Bits, class Value, class Exec>
  static workspace_size need(std::int64_t) {
    return {0, counts_bytes + (8 * sizeof(Bits) + 2) * sizeof(detail::pass_state)};
  }

  template <class Exec, class Bits, class Value>
  static void sort(const Exec& exec, workspace&, char* memory,
                   const passes_call<Bits, Value>& call) {
    digit_pass<Bits, Value> pass{call.keys,
                                 call.values,
                                 call.n,
                                 reinterpret_cast<std::int64_t*>(memory),
                                 reinterpret_cast<detail::pass_state*>(memory + counts_bytes),
                                 0,
                                 {}};
    for (; pass.number < call.passes(); ++pass.number) {
      pass.digit = call.digit(pass.number);
      const std::uint32_t digits = pass.digit.digit.mask + 1;
      const bool to_out = call.begins_out(pass.number);
      if (digits <= 4) {
        run<1>(exec, pass, to_out);
      } else if (digits <= 8) {
        run<2>(exec, pass, to_out);
      } else if (digits <= 16) {
        run<4>(exec, pass, to_out);
      } else {
        run<8>(exec, pass, to_out);
      }
    }
    using leaving = to_output_kernel<Bits, Value>;
    lanewise::launch(exec, "Lanewise::lsd_passes::to_output",
                     backend_of<Exec>::template resident_league<leaving>(
                         exec, lanewise::divide_up(call.n.bound, 8192)),
                     leaving{pass});
  }

 private:
  template <int words, class Exec, class Bits, class Value>
  static void run(const Exec& exec, const digit_pass<Bits, Value>& pass, bool to_out) {
    using backend = backend_of<Exec>;
    using upsweep = upsweep_digits_kernel<Bits, Value, words>;
    using downsweep = downsweep_digits_kernel<Bits, Value, words>;
    using team = team_t<Exec, typename downsweep::policy>;
    const std::int64_t tiles =
        lanewise::divide_up(pass.n.bound, std::int64_t{downsweep::template tile_items<team>});
    const std::int64_t league =
        std::min(backend::template resident_league<downsweep>(exec, tiles), most_teams);
    lanewise::launch(exec, "Lanewise::lsd_passes::upsweep", league, upsweep{pass});
    lanewise::launch(exec, "Lanewise::lsd_passes::spine", 1,
                     digit_spine_kernel{pass.counts, league, pass.digit.digit.mask + 1, pass.n,
                                        pass.states, pass.number, to_out});
    lanewise::launch(exec, "Lanewise::lsd_passes::downsweep", league, downsweep{pass});
  }
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
