// Rejects pods that use what the scheduler does not support, with a message that names it.

#include <algorithm>
#include <string>
#include <vector>

#include "platform/text.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {

Plugin dynamic_resources() {
  return {plugin_dynamic_resources, [](const Cluster&, const PodView& pod) {
            std::vector<std::string> claims;
            for (const PodResourceClaim& each : pod.pod->spec.resource_claims) {
              claims.push_back(each.name);
            }
            if (claims.empty()) return Prepared{nullptr, {}};
            return Prepared{nullptr, reject(Code::unresolvable,
                                            "dynamic resource allocation is not supported: "
                                            "spec.resourceClaims [" +
                                                join(claims, " ") + "]",
                                            plugin_dynamic_resources)};
          }};
}

Plugin gang_scheduling() {
  return {plugin_gang, [](const Cluster&, const PodView& pod) {
            const auto& group = pod.pod->spec.scheduling_group;
            if (!group) return Prepared{nullptr, {}};
            return Prepared{nullptr, reject(Code::unresolvable,
                                            "scheduling pods as a group is not supported: "
                                            "spec.schedulingGroup \"" +
                                                group->pod_group_name + "\"",
                                            plugin_gang)};
          }};
}

}  // namespace holdfast::sync::schedule
