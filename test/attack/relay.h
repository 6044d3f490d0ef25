// A root process that forwards what others send to it, as container runtimes do.

#pragma once

#include <cstdint>

namespace holdfast::attack {

// Listens on port `from` of 127.0.0.1 and forwards all bytes to port `to` and back. Does not
// return.
int relay(std::uint16_t from, std::uint16_t to);

}  // namespace holdfast::attack
