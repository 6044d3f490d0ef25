// Executes the `call` steps of lifecycle cases: pure functions of the rules, and operations on one
// rate-limited and one timed queue, which keep their content from step to step.

#pragma once

#include <memory>
#include <vector>

#include "platform/time.h"
#include "sync/lifecycle/options.h"
#include "sync/pacing/rate_queue.h"
#include "sync/pacing/timed_queue.h"
#include "test/cases/fields.h"

namespace holdfast::cases {

class Calls {
 public:
  Calls(const sync::lifecycle::Options& options, WallTime epoch)
      : options_(options), epoch_(epoch) {}

  // `call` has the members "fn" and "args". Throws Malformed if the function is unknown, or if an
  // argument is missing or cannot be read.
  [[nodiscard]] json::value call(MonoTime now, const json::object& call);

 private:
  [[nodiscard]] json::value zone_call(const std::string& fn, const json::object& args);
  [[nodiscard]] json::value toleration_call(const std::string& fn, const json::object& call);
  [[nodiscard]] json::value health_call(MonoTime now, const json::object& args);
  [[nodiscard]] json::value binding_call(const json::object& args);
  [[nodiscard]] json::value queue_call(MonoTime now, const json::object& call);
  [[nodiscard]] json::value timed_call(MonoTime now, const json::object& call);
  json::array try_queue(MonoTime now, const json::array& script);

  sync::lifecycle::Options options_;
  WallTime epoch_;
  std::unique_ptr<sync::pacing::RateQueue> queue_;
  sync::pacing::TimedQueue timed_;
  std::vector<std::string> runs_;
};

}  // namespace holdfast::cases
