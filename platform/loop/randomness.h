// The randomness of an event loop: what runs on a loop seeds its Random from it.
//
// A program's loop takes it from the kernel. A test in virtual time and a simulator give theirs a
// seed, so that the same run draws the same numbers. Secrets and keys never come from here.
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <cstdint>

#include "platform/random.h"

namespace holdfast::loop {

namespace asio = boost::asio;

// From now on make_random() of `loop` depends only on `seed` and on the calls before it. Can be
// called only once for a loop.
void set_seed(asio::execution_context& loop, std::uint64_t seed);

// A new Random that differs from all others of the executor's loop.
[[nodiscard]] Random make_random(const asio::any_io_executor& executor);

}  // namespace holdfast::loop
