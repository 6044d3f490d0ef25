// Measures the cost of 250 watches of single objects: a kubelet has one for every Secret and
// ConfigMap of its pods.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>

#include "platform/result.h"

namespace holdfast::bench {

// Prints the TLS connections that an edge agent makes for them, its memory, and the cost of one
// watch in a client with HTTP/2 and in one with HTTP/1.1. `data` is an existing directory.
boost::asio::awaitable<Status> measure_watches(std::filesystem::path data);

}  // namespace holdfast::bench
