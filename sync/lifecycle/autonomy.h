// A node's autonomy, from OpenYurt's annotations: whether and for how long its pods are kept while
// the cloud does not hear from the node.

#pragma once

#include <optional>
#include <string>

#include "platform/time.h"
#include "sync/lifecycle/options.h"
#include "sync/model/string_map.h"

namespace holdfast::sync::lifecycle {

struct Autonomy {
  bool bound = false;  // binding or autonomy is "true", or a duration is set, even a malformed one
  bool classic = false;  // node.beta.openyurt.io/autonomy is "true", all that 0.1 to 1.1 read
  bool wanted = false;   // the node is autonomous, for `duration`
  std::optional<Duration> duration = {};  // nullopt: for ever
  std::string malformed = {};  // a duration that cannot be parsed; it does not set `wanted`

  bool operator==(const Autonomy&) const = default;
};

// If apps.openyurt.io/binding or node.beta.openyurt.io/autonomy is "true", the node is autonomous
// for ever. Otherwise node.openyurt.io/autonomy-duration applies; zero or less also means for ever,
// as in OpenYurt's pod binding.
[[nodiscard]] Autonomy autonomy_of(const StringMap& annotations);

// Whether evictions are withheld at `now` from a node that has not been ready since `since`.
[[nodiscard]] bool is_withheld(const Autonomy& autonomy, AutonomyMode mode, MonoTime since,
                               MonoTime now);

// The last moment at which evictions are withheld; MonoTime::max(): for ever.
[[nodiscard]] MonoTime withheld_until(const Autonomy& autonomy, MonoTime since);

// Whether the pods of a node that is not ready keep their Ready condition.
[[nodiscard]] bool keeps_pods_ready(const Autonomy& autonomy, AutonomyMode mode, MonoTime since,
                                    MonoTime now);

}  // namespace holdfast::sync::lifecycle
