// The durations of many calls, with their median and 99th percentile.

#pragma once

#include <string>
#include <vector>

#include "platform/time.h"

namespace holdfast::bench {

class Latency {
 public:
  void add(Duration time) { times_.push_back(time); }
  // `share` is in [0, 1]. At least one duration must have been added.
  [[nodiscard]] Duration percentile(double share) const;
  // p50 and p99: "0.31 / 1.20 ms".
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Duration> times_;
};

[[nodiscard]] std::string milliseconds(Duration time);

}  // namespace holdfast::bench
