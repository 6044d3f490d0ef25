// Whether a node's pods are to be kept while the cloud cannot hear it, as OpenYurt's annotations
// say it, and for how long.

#pragma once

#include <optional>
#include <string>

#include "platform/time.h"
#include "sync/lifecycle/options.h"
#include "sync/model/string_map.h"

namespace holdfast::sync::lifecycle {

struct Autonomy {
  bool bound = false;    // binding or autonomy is "true", or a duration is written, even a bad one
  bool classic = false;  // node.beta.openyurt.io/autonomy is "true": all that 0.1 to 1.1 knew
  bool wanted = false;   // as resolved: for `duration`, or for ever without one
  std::optional<Duration> duration = {};
  std::string malformed = {};  // the duration that is none; reported, and not autonomous by it

  bool operator==(const Autonomy&) const = default;
};

// "true" in one of the two switches means for ever; else the duration counts, and zero or less
// means for ever, too, as OpenYurt's pod binding has it.
[[nodiscard]] Autonomy autonomy_of(const StringMap& annotations);

// Whether evictions are withheld at `now` from a node that has not been ready since `since`.
[[nodiscard]] bool is_withheld(const Autonomy& autonomy, AutonomyMode mode, MonoTime since,
                               MonoTime now);

// When that ends by itself; MonoTime::max() when it does not.
[[nodiscard]] MonoTime withheld_until(const Autonomy& autonomy, MonoTime since);

// Whether the pods of a node that is not ready keep their Ready condition.
[[nodiscard]] bool keeps_pods_ready(const Autonomy& autonomy, AutonomyMode mode, MonoTime since,
                                    MonoTime now);

}  // namespace holdfast::sync::lifecycle
