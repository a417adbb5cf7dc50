// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/structure_file.hpp>
#include <lanewise/hash/slab_file.hpp>
#include <lanewise/lsm/lsm_file.hpp>
#include <lanewise/ordered/ordered_file.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>
#include <support/words_of_file.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

// What the tests of files of ordered structures share.

namespace test {

template <class T>
std::string saved(const space& exec, const T& structure) {
  std::ostringstream out(std::ios::binary);
  lanewise::save(exec, structure, out);
  return out.str();
}
template <class T>
T loaded(const space& exec, const std::string& file) {
  std::istringstream in(file, std::ios::binary);
  return lanewise::load<T>(exec, in);
}
/// What load says, or nothing where it takes the file.
template <class T>
std::string load_refusal(const std::string& file) {
  try {
    (void)loaded<T>(make_space(), file);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

/// Every file that is cut short, and one of every byte changed, is refused.
template <class T>
void check_damage(const std::string& file) {
  int taken = 0;
  for (std::size_t n = 0; n < file.size(); ++n) taken += load_refusal<T>(file.substr(0, n)).empty();
  CHECK(taken == 0);
  auto random = make_random(file.size());
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string other = file;
    other[i] = static_cast<char>(other[i] ^ (1 << random_number(random, 7)));
    taken += load_refusal<T>(other).empty();
  }
  CHECK(taken == 0);
  CHECK_THAT(load_refusal<T>(""), Catch::Matchers::ContainsSubstring("ends early"));
  CHECK_THAT(load_refusal<T>(std::string(1000, 'x')),
             Catch::Matchers::ContainsSubstring("lanewise::load: this is no "));
}

/// A stream that takes `bytes` bytes.
class full_buffer : public std::streambuf {
 public:
  explicit full_buffer(std::size_t bytes) : room_(bytes) {}

 private:
  int_type overflow(int_type c) override {
    if (room_ == 0) return traits_type::eof();
    --room_;
    return c;
  }
  std::size_t room_;
};
template <class T>
void check_full_stream(const space& exec, const T& structure) {
  for (const std::size_t room : {0, 10, 60}) {
    full_buffer buffer(room);
    std::ostream out(&buffer);
    CHECK_THROWS_AS(lanewise::save(exec, structure, out), std::runtime_error);
  }
}

}  // namespace test
