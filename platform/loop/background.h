// Work that blocks and cannot be interrupted, such as a lookup by the C library, on a thread of its
// own.
//
// It does not keep its loop running: a program that ends does not wait for it.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>

#include "platform/result.h"

namespace holdfast::loop {

namespace asio = boost::asio;

// Runs `work` on a new thread in which all signals are blocked, then `done` on the loop's thread,
// never before this returns. If the loop ends first, `done` is dropped and `work` runs to its end
// by itself, so it must own what it uses. On a loop without threads (forbid_threads()) `work` runs
// at once. Call it on the loop's thread. Errors: exhausted (no thread); then neither is called.
[[nodiscard]] Status run_in_background(const asio::any_io_executor& executor,
                                       std::function<void()> work, std::function<void()> done);

}  // namespace holdfast::loop
