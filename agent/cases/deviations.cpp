#include "agent/cases/deviations.h"

#include <array>
#include <utility>

namespace holdfast::agent::cases {
namespace {

using Deviation = std::pair<std::string_view, std::string_view>;

constexpr std::array<Deviation, 5> deviations = {{
    {"lease-seen-again-after-heartbeat",
     "a lease once seen stays seen, so silence counts from the last real beat"},
    {"queue-swap-to-one-from-stopped-upstream-bug",
     "being stopped is no rate: a zone set to one node a second goes on"},
    {"zone-limiter-rate-exactly-one-never-resumes-upstream-bug",
     "being stopped is no rate: a zone set to one node a second goes on"},
    {"taint-nodes-enqueued-twice", "a name is never queued twice, so no entry can block a zone"},
    {"te-recreated-pod-with-same-name-never-evicted",
     "pods are known by uid: a new one of an evicted name is evicted in its turn"},
}};

}  // namespace

std::string_view deviation_of(std::string_view name) {
  for (const auto& [listed, reason] : deviations) {
    if (listed == name) return reason;
  }
  return {};
}

}  // namespace holdfast::agent::cases
