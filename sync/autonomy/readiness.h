// Decides whether the pods of a node would come back after a reboot while the cloud is out of
// reach, and if not, what is missing. Pure: what the cache knows is asked through OutageKnowledge.
//
// The kubelet starts a pod only after it has read everything that the pod names: ConfigMaps,
// Secrets, claims, volumes, tokens. An object that was never received is answered 503 by the agent,
// and the kubelet waits; an object that the API server said does not exist is answered 404, which
// is good enough for an optional reference.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"
#include "sync/api/json.h"

namespace holdfast::sync {

enum class Obstacle : std::uint8_t {
  node_state,         // the node or the list of services was never received
  config_map,         // never received, does not exist, or lacks a key
  secret,             // the same
  image_pull_secret,  // never received
  service_account,    // was deleted
  volume_claim,       // a PersistentVolumeClaim: never received, or not bound
  volume,             // a PersistentVolume: never received
  volume_attachment,  // of a volume that must be attached: never received
  csi_driver,         // not registered on the node's CSINode
  resource_claim,     // never received, or not allocated
  token_missing,      // no stored token for the pod, or it has expired
  token_expires,      // the stored token expires within ReadinessLimits::token_notice
  pod_certificate,    // its key exists in memory only and a new one needs the cloud
  trust_bundle,       // a ClusterTrustBundle: never received
  image_missing,      // not among the images of the node
  image_pull_policy,  // Always: the registry must be reached
};
inline constexpr std::size_t obstacles = 16;

// "config_map": for metrics and documents.
[[nodiscard]] std::string_view to_string(Obstacle obstacle);

// Which object is meant; `namespace_name` is empty for objects of the cluster.
struct ObjectQuestion {
  std::string_view group;
  std::string_view resource;
  std::string_view namespace_name;
  std::string_view name;
};

enum class Presence : std::uint8_t {
  unknown,  // never received
  absent,   // the API server said so
  present,
};

struct Finding {
  Presence presence = Presence::unknown;
  json::value object = nullptr;  // if it is present; null when it cannot be read
};

// A token that the agent would answer a TokenRequest with.
struct StoredToken {
  std::string namespace_name;
  std::string service_account;
  std::string pod_uid;
  std::vector<std::string> audiences;
  WallTime expires;
};

struct OutageKnowledge {
  std::string node_name;
  WallTime now{};
  std::function<Finding(const ObjectQuestion&)> find;  // required
  bool services_known = true;  // the list of services was completely received
  std::vector<StoredToken> tokens = {};
  std::set<std::string> attached = {};  // PersistentVolumes that are attached to the node
};

struct ReadinessLimits {
  // The kubelet renews a token when a fifth of its life is left: 12 minutes of the usual hour. Less
  // than that means that renewal fails.
  Duration token_notice = std::chrono::minutes(10);
  // The kubelet reports no more images than this (nodeStatusMaxImages): a list that is shorter is
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
  std::vector<Reason> reasons = {};    // none: it would come back now
  std::optional<WallTime> until = {};  // when the first of its tokens expires
  bool images_checked = false;         // the node's list of images is complete

  [[nodiscard]] bool ready() const { return reasons.empty(); }
};

// `pod` is a whole Pod in JSON. Nothing for pods that would not be started again anyway: those that
// have ended or are being deleted. Errors: invalid (no pod).
[[nodiscard]] Result<std::optional<PodReadiness>> judge_readiness(
    const json::value& pod, const OutageKnowledge& knowledge, const ReadinessLimits& limits = {});

}  // namespace holdfast::sync
