// Distributes a periodic duty of many nodes evenly over its interval: the nodes take turns in a
// fixed order, so that no deadline has to be stored for each of them. Pure.

#pragma once

#include <cstdint>
#include <optional>

#include "platform/time.h"

namespace holdfast::agent::hollow {

class Rotation {
 public:
  // `count` nodes have one turn each per `interval` (above zero), from `start` on. With `spread`
  // their turns are evenly distributed; otherwise all are due when the interval begins.
  Rotation(std::uint32_t count, MonoTime start, Duration interval, bool spread);

  // The next node whose turn has come. Turns that are more than one interval late are skipped: a
  // node never has two turns in a row to catch up.
  [[nodiscard]] std::optional<std::uint32_t> take(MonoTime now);
  // When take() will return the next node; MonoTime::max() without nodes.
  [[nodiscard]] MonoTime next() const;

 private:
  std::uint32_t count_;
  Duration interval_;
  bool spread_;
  MonoTime round_;  // when the current interval began
  std::uint32_t turn_ = 0;
};

}  // namespace holdfast::agent::hollow
