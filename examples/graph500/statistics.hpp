// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace graph500 {

/// Prints "<kernel>  <statistic>_<what>: <value>" for some values, one at least.
class statistics {
 public:
  statistics(const char* kernel, const char* what, std::vector<double> values)
      : kernel_(kernel), what_(what), values_(std::move(values)) {
    std::sort(values_.begin(), values_.end());
  }

  void print_quartiles() const {
    print("min", quantile(0));
    print("firstquartile", quantile(0.25));
    print("median", quantile(0.5));
    print("thirdquartile", quantile(0.75));
    print("max", quantile(1));
  }
  void print_mean() const {
    print("mean", mean(values_));
    print("stddev", deviation(values_));
  }
  /// For rates. The deviation is that of the mean, to the first order (Norris, 1940).
  void print_harmonic_mean() const {
    std::vector<double> times;
    for (const double rate : values_) times.push_back(1 / rate);
    const double harmonic = 1 / mean(times);
    print("harmonic_mean", harmonic);
    const double n = static_cast<double>(times.size());
    print("harmonic_stddev", n > 1 ? harmonic * harmonic * deviation(times) / std::sqrt(n) : 0.0);
  }

 private:
  void print(const char* statistic, double value) const {
    std::printf("%s  %s_%s: %.17g\n", kernel_, statistic, what_, value);
  }
  /// Between two values, in proportion.
  double quantile(double q) const {
    const double at = q * static_cast<double>(values_.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values_.size() - 1);
    return std::lerp(values_[below], values_[above], at - static_cast<double>(below));
  }
  static double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double x : values) sum += x;
    return sum / static_cast<double>(values.size());
  }
  static double deviation(const std::vector<double>& values) {
    if (values.size() < 2) return 0;
    const double middle = mean(values);
    double squares = 0;
    for (const double x : values) squares += (x - middle) * (x - middle);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
  }

  const char* kernel_;
  const char* what_;
  std::vector<double> values_;
};

}  // namespace graph500
