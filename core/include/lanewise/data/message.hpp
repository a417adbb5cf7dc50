// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>

// Texts of exceptions. One function makes all of them, whatever their parts are: a stream for the
// types of every call takes g++ half a second in a unit with a slab table.

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Text, which has to outlive the part, a number or an address.
class message_part {
 public:
  message_part(const char* text) : kind_(kind::text), text_(text) {}
  message_part(const std::string& text) : message_part(text.c_str()) {}
  message_part(const void* address) : kind_(kind::address), address_(address) {}
  message_part(double number) : kind_(kind::real), real_(number) {}
  template <std::signed_integral T>
  message_part(T number) : kind_(kind::integer), integer_(number) {}
  template <std::unsigned_integral T>
  message_part(T number) : kind_(kind::natural), natural_(number) {}

  void write(std::ostream& to) const {
    switch (kind_) {
      case kind::text:
        to << text_;
        break;
      case kind::address:
        to << address_;
        break;
      case kind::real:
        to << real_;
        break;
      case kind::integer:
        to << integer_;
        break;
      case kind::natural:
        to << natural_;
        break;
    }
  }

 private:
  enum class kind { text, address, real, integer, natural } kind_;
  union {
    const char* text_;
    const void* address_;
    double real_;
    std::int64_t integer_;
    std::uint64_t natural_;
  };
};

inline std::string message_of(std::initializer_list<message_part> parts) {
  std::ostringstream text;
  for (const message_part& part : parts) part.write(text);
  return text.str();
}
template <class... Parts>
std::string message(const Parts&... parts) {
  return detail::message_of({parts...});
}

[[noreturn]] inline void refuse(std::initializer_list<message_part> parts) {
  throw std::invalid_argument("lanewise::" + message_of(parts));
}
/// Throws std::invalid_argument with the text made of parts unless the precondition holds.
template <class... Parts>
void expects(bool holds, const Parts&... parts) {
  if (!holds) detail::refuse({parts...});
}
/// Throws std::length_error if an output has fewer places than a call had results. The first
/// results have been written.
inline void expects_room(const char* call, const char* output, std::int64_t places,
                         std::int64_t results) {
  if (places < results)
    throw std::length_error(detail::message("lanewise::", call, ": ", output, " has ", places,
                                            " places, there were ", results, " results"));
}

}  // namespace detail
LANEWISE_END_NAMESPACE
