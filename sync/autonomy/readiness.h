// Decides whether the pods of a node would start again after a reboot while the cloud is
// unreachable, and lists what is missing. Pure: it reads the cache through ReadinessInput.
//
// The kubelet starts a pod only after it has read every object that the pod names: ConfigMaps,
// Secrets, claims, volumes, tokens. For an object that was never received the agent answers 503,
// and the kubelet waits. For an object that does not exist according to the API server the agent
// answers 404, which suffices if the reference is optional. Before that it admits the pod, and a
// pod that it refuses has ended for ever.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"
#include "sync/autonomy/token.h"
#include "sync/wire/json.h"

namespace holdfast::sync::autonomy {

enum class Obstacle : std::uint8_t {
  node_state,         // the node or the list of services was never received
  config_map,         // never received, does not exist, or lacks a key
  secret,             // as config_map
  image_pull_secret,  // never received
  service_account,    // the ServiceAccount was deleted
  volume_claim,       // a PersistentVolumeClaim: never received, or not bound
  volume,             // a PersistentVolume: never received
  volume_attachment,  // never received, though the volume must be attached
  csi_driver,         // not registered on the node's CSINode
  resource_claim,     // never received, or not allocated
  token_missing,      // no stored token for the pod
  token_ends,         // only as a warning: the stored token has ended, or ends within
                      // ReadinessLimits::token_notice
  pod_certificate,    // its key exists in memory only and a new one needs the cloud
  trust_bundle,       // a ClusterTrustBundle: never received
  image_missing,      // not in the node's list of images
  image_pull_policy,  // the policy is Always, so the registry must be reachable
  runtime_class,      // a RuntimeClass: never received, or does not exist
  admission,          // the kubelet would refuse the pod: labels, taints, resources, ports, OS
  device,             // it needs a device whose plug-in may register too late
};
inline constexpr std::size_t obstacles = 19;

// The name for metrics and JSON: "config_map".
[[nodiscard]] std::string_view to_string(Obstacle obstacle);

// Identifies an object; `namespace_name` is empty if it is cluster-scoped.
struct ObjectLookup {
  std::string_view group;
  std::string_view resource;
  std::string_view namespace_name;
  std::string_view name;
};

enum class Presence : std::uint8_t {
  unknown,  // never received
  absent,   // the API server answered that it does not exist
  present,
};

struct LookupResult {
  Presence presence = Presence::unknown;
  json::value object = nullptr;  // only if present; null when it cannot be parsed
};

struct ReadinessInput {
  std::string node_name;
  WallTime now{};
  std::function<LookupResult(const ObjectLookup&)>
      find;                    // looks up an object in the cache; required
  bool services_known = true;  // a complete list of Services was received
  std::vector<StoredToken> tokens = {};
  // Names of the PersistentVolumes that are attached to the node.
  std::set<std::string> attached = {};
  // By uid, the pods that the kubelet would refuse, and why.
  std::map<std::string, std::string, std::less<>> refused = {};
};

struct ReadinessLimits {
  // A stored token that ends earlier is reported. The kubelet renews a token when a fifth of its
  // lifetime is left (12 minutes of an hour), so less than that means that renewal fails.
  Duration token_notice = std::chrono::minutes(10);
  // The kubelet reports at most this many images (nodeStatusMaxImages), so a shorter list is
  // complete.
  std::size_t images_reported_max = 50;
};

struct Reason {
  Obstacle obstacle;
  std::string text;  // "Secret default/tls was never received"

  bool operator==(const Reason&) const = default;
};

struct PodReadiness {
  std::string namespace_name;
  std::string name;
  std::vector<Reason> reasons = {};  // empty: it would start again now
  // What does not keep it from starting. A token that has ended is given to the pod all the same,
  // because only the API server can refuse it.
  std::vector<Reason> warnings = {};
  std::optional<WallTime> until = {};  // when the first of its tokens ends
  bool images_checked = false;  // the node's list of images is complete, so images were checked

  [[nodiscard]] bool ready() const { return reasons.empty(); }
};

// `pod` is a whole Pod in JSON. Returns std::nullopt for a pod that would not be started again
// anyway, because it has ended or is being deleted. Errors: invalid (not a Pod).
[[nodiscard]] Result<std::optional<PodReadiness>> check_readiness(
    const json::value& pod, const ReadinessInput& knowledge, const ReadinessLimits& limits = {});

}  // namespace holdfast::sync::autonomy
