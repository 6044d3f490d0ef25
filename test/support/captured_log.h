// Captures what this process logs.

#pragma once

#include <gtest/gtest.h>

#include <string>

#include "platform/log.h"

namespace holdfast::test {

// Captures all lines from its creation to take(), at the levels from info on, whatever other tests
// of this process have logged or set. One at a time.
class CapturedLog {
 public:
  CapturedLog() {
    set_log_level(LogLevel::info);
    set_log_limits({.window = std::chrono::seconds(0)});
    ::testing::internal::CaptureStderr();
  }
  // May be called once.
  [[nodiscard]] std::string take() {
    std::string text = ::testing::internal::GetCapturedStderr();
    set_log_level(LogLevel::error);  // The tests of a suite that captures its log print nothing.
    set_log_limits({});
    return text;
  }
};

}  // namespace holdfast::test
