// OpenYurt's over-the-air upgrade: a person on the node, not the rollout, says when a pod of a
// DaemonSet or a static pod is replaced by its next version, and may have the images pulled before.
//
// The cluster's part is yurt-manager's: it marks pods of DaemonSets and YurtStaticSets with the
// update strategy OTA by the condition PodNeedUpgrade, and pulls images for those whose
// PodImageReady is False.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::sync {

enum class OtaAction : std::uint8_t { upgrade, image_pull };

// "upgrade" and "imagepull", as in the paths of the endpoints.
[[nodiscard]] std::optional<OtaAction> parse_ota_action(std::string_view text);

struct OtaDecision {
  int status = 200;     // the answer's
  std::string message;  // why not, or what has begun
  // With status 200, what the API server is to be sent: of `upgrade` DeleteOptions for the pod, of
  // `image_pull` a strategic merge patch of its status. Either names the pod's uid.
  std::string body = {};
  // Instead, of `upgrade` for a static pod: the ConfigMap, in the pod's namespace, with its next
  // manifest, and the name that the manifest must have.
  std::string config_map = {};
  std::string static_name = {};

  bool operator==(const OtaDecision&) const = default;
};

// `pod` is what the API server has now, as JSON.
// Errors: invalid (not a pod).
[[nodiscard]] Result<OtaDecision> decide_ota(OtaAction action, std::string_view pod,
                                             std::string_view node_name, WallTime now);

}  // namespace holdfast::sync
