// What 250 named watches cost: a kubelet has one for every secret and configmap of its pods.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>

#include "platform/result.h"

namespace holdfast::bench {

// Prints the TLS connections that an edge agent makes for them, its memory, and what one costs in a
// client that speaks HTTP/2 and in one that speaks HTTP/1.1. `data` is an existing directory.
boost::asio::awaitable<Status> measure_watches(std::filesystem::path data);

}  // namespace holdfast::bench
