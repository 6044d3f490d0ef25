// Private to platform/loop.

#pragma once

#include <functional>
#include <thread>

namespace holdfast::loop {

// Starts a thread that never receives a signal: the loop's thread handles them all. Throws
// std::system_error if there is none to be had.
[[nodiscard]] std::thread start_thread(std::function<void()> body);

}  // namespace holdfast::loop
