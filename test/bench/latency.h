// Times of many calls, and what is said of them: the median and the 99th percentile.

#pragma once

#include <string>
#include <vector>

#include "platform/time.h"

namespace holdfast::bench {

class Latency {
 public:
  void add(Duration time) { times_.push_back(time); }
  // `share` in [0, 1]. There must be a time.
  [[nodiscard]] Duration percentile(double share) const;
  // "0.31 / 1.20 ms": p50 and p99.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Duration> times_;
};

[[nodiscard]] std::string milliseconds(Duration time);

}  // namespace holdfast::bench
