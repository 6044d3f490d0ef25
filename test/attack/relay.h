// A root process that passes on what others send to it, as container runtimes do.

#pragma once

#include <cstdint>

namespace holdfast::attack {

// Accepts on port `from` of 127.0.0.1 and passes all bytes to port `to` and back, for ever.
int relay(std::uint16_t from, std::uint16_t to);

}  // namespace holdfast::attack
