// Counts the bytes and connections of an HTTP client.

#pragma once

#include <cstdint>

namespace holdfast::http {

struct Traffic {
  std::uint64_t sent = 0;  // bytes of HTTP, without TLS overhead
  std::uint64_t received = 0;
  std::uint64_t connections = 0;  // opened so far

  Traffic& operator+=(const Traffic& other) {
    sent += other.sent;
    received += other.received;
    connections += other.connections;
    return *this;
  }
};

}  // namespace holdfast::http
