#include "sync/autonomy/readiness.h"

#include <algorithm>

#include "platform/check.h"
#include "sync/autonomy/readiness_images.h"
#include "sync/objects/name.h"
#include "sync/wire/read.h"

namespace holdfast::sync::autonomy {
namespace {

std::string dig_string(const json::object& from, wire::Path path) {
  return std::string(wire::dig_text(from, path));
}

// "1 minute", "90 minutes", "5 hours", "40 days"
std::string rounded(Duration time) {
  using std::chrono::duration_cast;
  const auto hours = duration_cast<std::chrono::hours>(time).count();
  if (hours >= 48) return std::to_string(hours / 24) + " days";
  if (hours >= 2) return std::to_string(hours) + " hours";
  const auto minutes = duration_cast<std::chrono::minutes>(time).count();
  return std::to_string(minutes) + (minutes == 1 ? " minute" : " minutes");
}

// How objects of one kind are looked up and named in messages.
struct Kind {
  Obstacle obstacle;
  std::string_view group;
  std::string_view resource;
  std::string_view shown;
};
constexpr Kind config_map{Obstacle::config_map, "", "configmaps", "ConfigMap"};
constexpr Kind secret{Obstacle::secret, "", "secrets", "Secret"};
constexpr Kind pull_secret{Obstacle::image_pull_secret, "", "secrets", "Secret"};
constexpr Kind claim{Obstacle::volume_claim, "", "persistentvolumeclaims", "PersistentVolumeClaim"};
constexpr Kind volume{Obstacle::volume, "", "persistentvolumes", "PersistentVolume"};
constexpr Kind csi_node{Obstacle::csi_driver, "storage.k8s.io", "csinodes", "CSINode"};
constexpr Kind resource_claim{Obstacle::resource_claim, "resource.k8s.io", "resourceclaims",
                              "ResourceClaim"};
constexpr Kind runtime_class{Obstacle::runtime_class, "node.k8s.io", "runtimeclasses",
                             "RuntimeClass"};
constexpr Kind trust_bundle{Obstacle::trust_bundle, "certificates.k8s.io", "clustertrustbundles",
                            "ClusterTrustBundle"};

// That of the kubelet, which runs on the same node as this program.
constexpr std::string_view operating_system = "linux";

// Checks one pod.
class ReadinessCheck {
 public:
  ReadinessCheck(const json::object& pod, const ReadinessInput& knowledge,
                 const ReadinessLimits& limits, PodReadiness& readiness)
      : pod_(pod), knowledge_(knowledge), limits_(limits), readiness_(readiness) {}

  void run() {
    check_node();
    check_admission();
    each_of(pod_, {"spec", "volumes"}, &ReadinessCheck::check_volume);
    each_of(pod_, {"spec", "initContainers"}, &ReadinessCheck::check_environment);
    each_of(pod_, {"spec", "containers"}, &ReadinessCheck::check_environment);
    each_of(pod_, {"spec", "imagePullSecrets"}, &ReadinessCheck::check_pull_secret);
    each_of(pod_, {"spec", "resourceClaims"}, &ReadinessCheck::check_claim_of);
    check_service_account();
    check_images();
  }

 private:
  void each_of(const json::object& from, wire::Path list,
               void (ReadinessCheck::*check)(const json::object&)) {
    for (const json::value& each : wire::dig_list(from, list))
      (this->*check)(wire::as_object(each));
  }

  void add(Obstacle obstacle, std::string why) {
    add_to(readiness_.reasons, {obstacle, std::move(why)});
  }
  void warn(Obstacle obstacle, std::string why) {
    add_to(readiness_.warnings, {obstacle, std::move(why)});
  }
  static void add_to(std::vector<Reason>& known, Reason reason) {
    if (std::find(known.begin(), known.end(), reason) != known.end()) return;
    known.push_back(std::move(reason));
  }

  static std::string named(const Kind& kind, std::string_view space, std::string_view name) {
    std::string shown(kind.shown);
    shown += ' ';
    if (!space.empty()) shown.append(space).append("/");
    return shown.append(name);
  }

  // Returns the object if it is present. Otherwise adds the reason, unless the object is optional
  // and known not to exist.
  std::optional<json::value> require(const Kind& kind, std::string_view space,
                                     const std::string& name, bool optional) {
    if (name.empty()) return std::nullopt;
    LookupResult found = knowledge_.find({kind.group, kind.resource, space, name});
    if (found.presence == Presence::present) return std::move(found.object);
    if (found.presence == Presence::unknown) {
      add(kind.obstacle, named(kind, space, name) + " was never received");
    } else if (!optional) {
      add(kind.obstacle, named(kind, space, name) + " does not exist");
    }
    return std::nullopt;
  }

  void check_node() {
    const LookupResult node = knowledge_.find({"", "nodes", "", knowledge_.node_name});
    if (node.presence != Presence::present) {
      add(Obstacle::node_state, "Node " + knowledge_.node_name + " was never received");
    }
    if (!knowledge_.services_known) {
      add(Obstacle::node_state, "the list of Services was never received");
    }
    node_ = node.object;
  }

  void check_admission() {
    const auto refused = knowledge_.refused.find(wire::uid_of(pod_));
    if (refused != knowledge_.refused.end()) {
      add(Obstacle::admission, refused->second);
    }
    // The label of the pod, not its selector: as upstream's kubelet does.
    const std::string label = dig_string(pod_, {"metadata", "labels", "kubernetes.io/os"});
    if (!label.empty() && label != operating_system) {
      add(Obstacle::admission,
          "the kubelet would refuse it: PodOSSelectorNodeLabelDoesNotMatch: Failed to admit pod as "
          "the `kubernetes.io/os` label doesn't match node label");
    }
    const std::string system = dig_string(pod_, {"spec", "os", "name"});
    if (!system.empty() && system != operating_system) {
      add(Obstacle::admission,
          "the kubelet would refuse it: PodOSNotSupported: Failed to admit pod as the OS field "
          "doesn't match node OS");
    }
    (void)require(runtime_class, "", dig_string(pod_, {"spec", "runtimeClassName"}), false);
    each_of(pod_, {"spec", "initContainers"}, &ReadinessCheck::check_devices);
    each_of(pod_, {"spec", "containers"}, &ReadinessCheck::check_devices);
  }

  // A resource that the node does not have is none of its devices: the kubelet ignores it.
  void check_devices(const json::object& container) {
    for (const auto& each : wire::dig_object(container, {"resources", "requests"})) {
      const std::string resource(each.key());
      const json::object& node = wire::as_object(node_);
      const bool is_here = wire::dig(node, {"status", "allocatable", resource}) != nullptr;
      if (!is_here || !objects::is_extended_resource(resource)) continue;
      add(Obstacle::device,
          "it needs " + resource +
              ", and the kubelet refuses it if the device plug-in registers after "
              "the kubelet has started its pods");
    }
  }

  void check_pull_secret(const json::object& reference) {
    (void)require(pull_secret, readiness_.namespace_name, dig_string(reference, {"name"}), true);
  }

  void check_keyed(const Kind& kind, const json::object& reference) {
    const std::string name = dig_string(reference, {"name"});
    const bool optional = wire::dig_bool(reference, {"optional"});
    const auto object = require(kind, readiness_.namespace_name, name, optional);
    const std::string key = dig_string(reference, {"key"});
    if (!object || object->is_null() || key.empty() || optional) return;
    const json::object& held = wire::as_object(*object);
    if (wire::dig(held, {"data", key}) == nullptr &&
        wire::dig(held, {"binaryData", key}) == nullptr) {
      add(kind.obstacle, named(kind, readiness_.namespace_name, name) + " has no key " + key);
    }
  }

  void check_environment(const json::object& container) {
    for (const json::value& each : wire::dig_list(container, {"envFrom"})) {
      check_keyed(config_map, wire::dig_object(wire::as_object(each), {"configMapRef"}));
      check_keyed(secret, wire::dig_object(wire::as_object(each), {"secretRef"}));
    }
    for (const json::value& each : wire::dig_list(container, {"env"})) {
      check_keyed(config_map,
                  wire::dig_object(wire::as_object(each), {"valueFrom", "configMapKeyRef"}));
      check_keyed(secret, wire::dig_object(wire::as_object(each), {"valueFrom", "secretKeyRef"}));
    }
  }

  void check_volume(const json::object& mounted) {
    const std::string& space = readiness_.namespace_name;
    check_keyed(config_map, wire::dig_object(mounted, {"configMap"}));
    const json::object& source = wire::dig_object(mounted, {"secret"});
    (void)require(secret, space, dig_string(source, {"secretName"}),
                  wire::dig_bool(source, {"optional"}));
    each_of(mounted, {"projected", "sources"}, &ReadinessCheck::check_source);
    if (wire::dig(mounted, {"persistentVolumeClaim"}) != nullptr) {
      check_volume_claim(dig_string(mounted, {"persistentVolumeClaim", "claimName"}));
    }
    if (wire::dig(mounted, {"ephemeral"}) != nullptr) {
      check_volume_claim(readiness_.name + "-" + dig_string(mounted, {"name"}));
    }
    if (wire::dig(mounted, {"csi"}) != nullptr) {
      check_driver(dig_string(mounted, {"csi", "driver"}));
      (void)require(secret, space, dig_string(mounted, {"csi", "nodePublishSecretRef", "name"}),
                    false);
    }
    // Older volume plugins name their secret in one of two fields of the volume's source.
    for (const auto& each : mounted) {
      if (each.key() == "secret") continue;
      const json::object& older = wire::as_object(each.value());
      (void)require(secret, space, dig_string(older, {"secretRef", "name"}), false);
      (void)require(secret, space, dig_string(older, {"secretName"}), false);
    }
  }

  void check_source(const json::object& source) {
    check_keyed(config_map, wire::dig_object(source, {"configMap"}));
    check_keyed(secret, wire::dig_object(source, {"secret"}));
    if (const json::value* token = wire::dig(source, {"serviceAccountToken"})) {
      check_token(wire::as_object(*token));
    }
    if (wire::dig(source, {"podCertificate"}) != nullptr) {
      add(Obstacle::pod_certificate,
          "its certificate of " + dig_string(source, {"podCertificate", "signerName"}) +
              " is lost with a reboot and only the cloud can issue another one");
    }
    const json::object& bundle = wire::dig_object(source, {"clusterTrustBundle"});
    (void)require(trust_bundle, "", dig_string(bundle, {"name"}),
                  wire::dig_bool(bundle, {"optional"}));
  }

  void check_token(const json::object& wanted) {
    const std::string audience = dig_string(wanted, {"audience"});
    const std::string_view uid = wire::uid_of(pod_);
    bool is_stored = false;
    std::optional<WallTime> ends;
    for (const StoredToken& token : knowledge_.tokens) {
      const bool ours = token.namespace_name == readiness_.namespace_name && token.pod_uid == uid;
      const auto& all = token.audiences;
      // An empty audience means the API server's own one, whose name is not known here.
      const bool meant =
          audience.empty() || std::find(all.begin(), all.end(), audience) != all.end();
      if (!ours || !meant) continue;
      is_stored = true;
      ends = std::max(ends, token.ends);
    }
    const std::string shown = audience.empty() ? "its token" : "its token for audience " + audience;
    if (!is_stored) return add(Obstacle::token_missing, shown + " was never received");
    if (!ends) return;
    readiness_.until = std::min(readiness_.until.value_or(*ends), *ends);
    const Duration left = *ends - knowledge_.now;
    if (left > limits_.token_notice) return;
    const std::string when =
        left > Duration::zero() ? " ends in " + rounded(left) : " ended " + rounded(-left) + " ago";
    warn(Obstacle::token_ends, shown + when + "; the API server may refuse it");
  }

  void check_volume_claim(const std::string& name) {
    const auto object = require(claim, readiness_.namespace_name, name, false);
    if (!object || object->is_null()) return;
    const std::string bound = dig_string(wire::as_object(*object), {"spec", "volumeName"});
    if (bound.empty()) {
      return add(Obstacle::volume_claim,
                 named(claim, readiness_.namespace_name, name) + " is not bound to a volume");
    }
    const auto found = require(volume, "", bound, false);
    if (!found || wire::dig(wire::as_object(*found), {"spec", "csi"}) == nullptr) return;
    const json::object& csi = wire::dig_object(wire::as_object(*found), {"spec", "csi"});
    const std::string driver = dig_string(csi, {"driver"});
    (void)require(secret, wire::dig_text(csi, {"nodePublishSecretRef", "namespace"}),
                  dig_string(csi, {"nodePublishSecretRef", "name"}), false);
    check_driver(driver);
    const LookupResult registered = knowledge_.find({"storage.k8s.io", "csidrivers", "", driver});
    if (registered.presence != Presence::present || registered.object.is_null()) return;
    const json::value* attach =
        wire::dig(wire::as_object(registered.object), {"spec", "attachRequired"});
    const bool attaches = attach == nullptr || !attach->is_bool() || attach->get_bool();
    if (attaches && !knowledge_.attached.contains(bound)) {
      add(Obstacle::volume_attachment,
          "the VolumeAttachment of " + named(volume, "", bound) + " was never received");
    }
  }

  void check_driver(const std::string& driver) {
    const auto node = require(csi_node, "", knowledge_.node_name, true);
    if (!node) {
      if (known_absent(csi_node)) not_registered(driver);
      return;
    }
    if (node->is_null()) return;
    const json::array& drivers = wire::dig_list(wire::as_object(*node), {"spec", "drivers"});
    const bool registered =
        std::any_of(drivers.begin(), drivers.end(), [&driver](const json::value& each) {
          return wire::dig_text(wire::as_object(each), {"name"}) == driver;
        });
    if (!registered) not_registered(driver);
  }
  [[nodiscard]] bool known_absent(const Kind& kind) const {
    return knowledge_.find({kind.group, kind.resource, "", knowledge_.node_name}).presence ==
           Presence::absent;
  }
  void not_registered(const std::string& driver) {
    add(Obstacle::csi_driver, "CSI driver " + driver + " is not registered on the node");
  }

  void check_claim_of(const json::object& wanted) {
    const std::string entry = dig_string(wanted, {"name"});
    std::string name = dig_string(wanted, {"resourceClaimName"});
    for (const json::value& each : wire::dig_list(pod_, {"status", "resourceClaimStatuses"})) {
      const json::object& made = wire::as_object(each);
      if (wire::dig_text(made, {"name"}) == entry)
        name = wire::dig_text(made, {"resourceClaimName"});
    }
    if (name.empty()) return;  // No claim was made for this entry, or not yet.
    const auto object = require(resource_claim, readiness_.namespace_name, name, false);
    if (!object || object->is_null() ||
        wire::dig(wire::as_object(*object), {"status", "allocation"}) != nullptr)
      return;
    add(Obstacle::resource_claim,
        named(resource_claim, readiness_.namespace_name, name) + " is not allocated");
  }

  void check_service_account() {
    const std::string name = dig_string(pod_, {"spec", "serviceAccountName"});
    if (name.empty()) return;
    // The kubelet starts a pod without reading its ServiceAccount, but one that was deleted gets no
    // new tokens.
    const LookupResult found =
        knowledge_.find({"", "serviceaccounts", readiness_.namespace_name, name});
    if (found.presence != Presence::absent) return;
    add(Obstacle::service_account,
        "ServiceAccount " + readiness_.namespace_name + "/" + name + " does not exist");
  }

  void check_images() {
    const NodeImages images = images_of(node_, limits_.images_reported_max);
    readiness_.images_checked = images.complete;
    for (const char* list : {"initContainers", "containers"}) {
      for (const json::value& each : wire::dig_list(pod_, {"spec", list})) {
        const std::string image = dig_string(wire::as_object(each), {"image"});
        if (pulls_always(image, wire::dig_text(wire::as_object(each), {"imagePullPolicy"}))) {
          add(Obstacle::image_pull_policy, "image " + image + " is always pulled");
        } else if (images.complete && !images.has(image)) {
          add(Obstacle::image_missing, "image " + image + " is not on the node");
        }
      }
    }
  }

  const json::object& pod_;
  const ReadinessInput& knowledge_;
  const ReadinessLimits& limits_;
  PodReadiness& readiness_;
  json::value node_ = nullptr;
};

}  // namespace

std::string_view to_string(Obstacle obstacle) {
  constexpr std::string_view names[obstacles] = {
      "node_state",      "config_map",     "secret",        "image_pull_secret",
      "service_account", "volume_claim",   "volume",        "volume_attachment",
      "csi_driver",      "resource_claim", "token_missing", "token_ends",
      "pod_certificate", "trust_bundle",   "image_missing", "image_pull_policy",
      "runtime_class",   "admission",      "device"};
  return names[static_cast<std::size_t>(obstacle)];
}

Result<std::optional<PodReadiness>> check_readiness(const json::value& value,
                                                    const ReadinessInput& knowledge,
                                                    const ReadinessLimits& limits) {
  CHECK(knowledge.find);
  const json::object& pod = wire::as_object(value);
  PodReadiness readiness{.namespace_name = std::string(wire::namespace_of(pod)),
                         .name = std::string(wire::name_of(pod))};
  if (readiness.name.empty()) return fail(Errc::invalid, "the pod has no name");
  const std::string_view phase = wire::dig_text(pod, {"status", "phase"});
  if (wire::is_terminating(pod) || phase == "Succeeded" || phase == "Failed") return std::nullopt;
  ReadinessCheck(pod, knowledge, limits, readiness).run();
  return readiness;
}

}  // namespace holdfast::sync::autonomy
