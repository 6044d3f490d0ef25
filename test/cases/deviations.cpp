#include "test/cases/deviations.h"

#include <array>
#include <utility>

namespace holdfast::cases {
namespace {

using Deviation = std::pair<std::string_view, std::string_view>;

// NodeResourcesFit of 1.34.
constexpr std::string_view hopeless =
    "a request above all that a node has is unresolvable: no victim would help (as 1.34)";

constexpr std::array<Deviation, 19> deviations = {{
    {"lease-seen-again-after-heartbeat",
     "a lease once seen stays seen, so silence counts from the last real beat"},
    {"queue-swap-to-one-from-stopped-upstream-bug",
     "being stopped is no rate: a zone set to one node a second goes on"},
    {"zone-limiter-rate-exactly-one-never-resumes-upstream-bug",
     "being stopped is no rate: a zone set to one node a second goes on"},
    {"taint-nodes-enqueued-twice", "a name is never queued twice, so no entry can block a zone"},
    {"te-recreated-pod-with-same-name-never-evicted",
     "pods are known by uid: a new one of an evicted name is evicted in its turn"},
    {"dry-run/026-statuses-mixed-v132", hopeless},
    {"filter/018-fit-ext-capacity-init-v120", hopeless},
    {"filter/022-fit-ext-sum-v120", hopeless},
    {"filter/027-fit-ext-unknown-v120", hopeless},
    {"filter/029-fit-ext-unknown-init-v120", hopeless},
    {"filter/031-fit-kio-v120", hopeless},
    {"filter/033-fit-kio-init-v120", hopeless},
    {"filter/035-fit-hugepages-v120", hopeless},
    {"filter/037-fit-hugepages-init-v120", hopeless},
    {"filter/044-fit-ignored-group-v120", hopeless},
    {"filter/052-fit-storage-3-v120", hopeless},
    {"prepare-candidate/002-no-victims-async-v132",
     "with nobody left to ask there is nothing to wait for (as 1.34)"},
    {"prepare-candidate/008-gone-sync-v132",
     "a victim that is gone when it is to be marked is as good as deleted (as 1.36)"},
    {"prepare-candidate/011-gone-async-head",
     "when every victim is gone already, no deletion may ever wake the pod: it is woken at once"},
}};

}  // namespace

std::string_view deviation_of(std::string_view name) {
  for (const auto& [listed, reason] : deviations) {
    if (listed == name) return reason;
  }
  return {};
}

}  // namespace holdfast::cases
