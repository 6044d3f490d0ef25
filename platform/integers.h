// Integer types and conversions that differ between 32-bit and 64-bit machines.

#pragma once

#include <cstddef>
#include <utility>

#include "platform/check.h"

#ifndef __SIZEOF_INT128__
#include <boost/multiprecision/cpp_int.hpp>
#endif

namespace holdfast {

#ifdef __SIZEOF_INT128__
__extension__ using Int128 = __int128;
#else
using Int128 = boost::multiprecision::int128_t;
#endif

// Converts a 64-bit number that counts something in memory to std::size_t; CHECKs that it fits.
template <typename Number>
constexpr std::size_t to_size(Number number) {
  CHECK(std::in_range<std::size_t>(number));
  return static_cast<std::size_t>(number);
}

}  // namespace holdfast
