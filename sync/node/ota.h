// OpenYurt's over-the-air (OTA) upgrade: a person on the node decides when a pod of a DaemonSet or
// a static pod is replaced by its next version, and may have its images pulled before. Pure.
//
// yurt-manager does the rest in the cluster: it sets the condition PodNeedUpgrade on pods of
// DaemonSets and YurtStaticSets with the update strategy OTA, and has images pulled for pods whose
// condition PodImageReady is False.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::sync::node {

enum class OtaAction : std::uint8_t { upgrade, image_pull };

// Parses "upgrade" and "imagepull", the last part of the endpoints' paths.
[[nodiscard]] std::optional<OtaAction> parse_ota_action(std::string_view text);

struct OtaDecision {
  int status = 200;     // HTTP status of the answer
  std::string message;  // why it was refused, or what was started
  // With status 200, the body for the API server: DeleteOptions for `upgrade`, a strategic merge
  // patch of the pod's status for `image_pull`. Both name the pod's uid.
  std::string body = {};
  // Instead of `body`, for `upgrade` of a static pod: the ConfigMap with the next manifest, in the
  // pod's namespace, and the name that the manifest must have.
  std::string config_map = {};
  std::string static_name = {};

  bool operator==(const OtaDecision&) const = default;
};

// `pod` is the pod as the API server has it now, in JSON. Errors: invalid (not a pod).
[[nodiscard]] Result<OtaDecision> decide_ota(OtaAction action, std::string_view pod,
                                             std::string_view node_name, WallTime now);

}  // namespace holdfast::sync::node
