#include "test/bench/latency.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "platform/check.h"

namespace holdfast::bench {

Duration Latency::percentile(double share) const {
  CHECK(!times_.empty());
  std::vector<Duration> sorted = times_;
  const auto last = static_cast<double>(sorted.size() - 1);
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(share * last);
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

std::string milliseconds(Duration time) {
  std::array<char, 32> buffer{};
  const double value = std::chrono::duration<double, std::milli>(time).count();
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.2f", value);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string Latency::text() const {
  return milliseconds(percentile(0.5)) + " / " + milliseconds(percentile(0.99)) + " ms";
}

}  // namespace holdfast::bench
