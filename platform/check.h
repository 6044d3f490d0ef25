// Assertions that stay on in release builds: a failed one prints file, line and condition to
// standard error and aborts. A restart is cheaper than a wrong eviction.

#pragma once

#include <cstdio>
#include <cstdlib>

namespace holdfast {

[[noreturn]] inline void check_failed(const char* file, int line, const char* what) {
  (void)std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
  std::abort();
}

}  // namespace holdfast

#define CHECK(condition) \
  ((condition) ? void() : ::holdfast::check_failed(__FILE__, __LINE__, "CHECK(" #condition ")"))
#define UNREACHABLE() ::holdfast::check_failed(__FILE__, __LINE__, "unreachable")
