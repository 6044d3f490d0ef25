#include "test/cases/deviations.h"

#include <array>
#include <utility>

namespace holdfast::cases {
namespace {

using Deviation = std::pair<std::string_view, std::string_view>;

// We behave as NodeResourcesFit of 1.34 does.
constexpr std::string_view hopeless =
    "a request above the node's capacity is unresolvable: evicting pods would not help (as 1.34)";

constexpr std::array<Deviation, 19> deviations = {{
    {"lease-seen-again-after-heartbeat",
     "a lease that was seen once stays known, so silence counts from its last renewal"},
    {"queue-swap-to-one-from-stopped-upstream-bug",
     "no rate stands for \"stopped\": a zone that is set to one node per second resumes"},
    {"zone-limiter-rate-exactly-one-never-resumes-upstream-bug",
     "no rate stands for \"stopped\": a zone that is set to one node per second resumes"},
    {"taint-nodes-enqueued-twice", "a name is never queued twice, so no entry can block a zone"},
    {"te-recreated-pod-with-same-name-never-evicted",
     "pods are identified by uid, so a new pod with the name of an evicted one is evicted, too"},
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
     "without victims there is no deletion to wait for (as 1.34)"},
    {"prepare-candidate/008-gone-sync-v132",
     "a victim that no longer exists when it is to be marked counts as deleted (as 1.36)"},
    {"prepare-candidate/011-gone-async-head",
     "if every victim is already gone, no deletion event wakes the pod, so it is woken at once"},
}};

}  // namespace

std::string_view deviation_of(std::string_view name) {
  for (const auto& [listed, reason] : deviations) {
    if (listed == name) return reason;
  }
  return {};
}

}  // namespace holdfast::cases
