// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hyperscan, or Vectorscan, which has the same interface and the same files: one of them is
// installed.

#include <cstdint>
#include <hs/hs.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace lanewise::perf {

/// The last Hyperscan with this interface is 5.4.2; Vectorscan went on.
inline constexpr const char* hyperscan_name = HS_PATCH > 2 ? "vectorscan" : "hyperscan";

/// Literals, compiled once.
class hyperscan_literals {
 public:
  /// The most bytes of a pattern that it compiles.
  static constexpr std::size_t most_bytes = 10'000;

  explicit hyperscan_literals(const std::vector<std::string>& patterns) {
    std::vector<const char*> bytes;
    std::vector<std::size_t> sizes;
    std::vector<unsigned> flags(patterns.size(), 0), ids;
    for (const std::string& p : patterns) {
      bytes.push_back(p.data());
      sizes.push_back(p.size());
      ids.push_back(static_cast<unsigned>(ids.size()));
    }
    hs_database_t* made = nullptr;
    hs_compile_error_t* error = nullptr;
    if (hs_compile_lit_multi(bytes.data(), flags.data(), ids.data(), sizes.data(),
                             static_cast<unsigned>(patterns.size()), HS_MODE_BLOCK, nullptr, &made,
                             &error) != HS_SUCCESS) {
      const std::string what = error->message;
      hs_free_compile_error(error);
      throw std::runtime_error(std::string(hyperscan_name) + ": " + what);
    }
    database_.reset(made);
    hs_scratch_t* room = nullptr;
    if (hs_alloc_scratch(made, &room) != HS_SUCCESS)
      throw std::runtime_error(std::string(hyperscan_name) + ": no scratch");
    scratch_.reset(room);
  }
  /// How often they occur in a text of less than 2^32 bytes.
  std::int64_t count(const char* text, std::int64_t n) const {
    std::int64_t number = 0;
    const auto take = [](unsigned, unsigned long long, unsigned long long, unsigned, void* all) {
      ++*static_cast<std::int64_t*>(all);
      return 0;
    };
    if (hs_scan(database_.get(), text, static_cast<unsigned>(n), 0, scratch_.get(), take,
                &number) != HS_SUCCESS)
      throw std::runtime_error(std::string(hyperscan_name) + ": the scan failed");
    return number;
  }

 private:
  struct ends {
    void operator()(hs_database_t* database) const { hs_free_database(database); }
    void operator()(hs_scratch_t* scratch) const { hs_free_scratch(scratch); }
  };
  std::unique_ptr<hs_database_t, ends> database_;
  std::unique_ptr<hs_scratch_t, ends> scratch_;
};

}  // namespace lanewise::perf
