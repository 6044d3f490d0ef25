#include "sync/autonomy/readiness.h"

#include <algorithm>
#include <initializer_list>

#include "platform/check.h"
#include "sync/autonomy/readiness_images.h"

namespace holdfast::sync {
namespace {

const json::value none = nullptr;

const json::value& at(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* found = &value;
  for (const std::string_view name : path) {
    const json::object* object = found->if_object();
    const json::value* next = object == nullptr ? nullptr : object->if_contains(name);
    if (next == nullptr) return none;
    found = next;
  }
  return *found;
}

std::string text(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::string* found = at(value, path).if_string();
  return found == nullptr ? std::string() : std::string(*found);
}

const json::array& items(const json::value& value, std::initializer_list<std::string_view> path) {
  static const json::array empty;
  const json::array* found = at(value, path).if_array();
  return found == nullptr ? empty : *found;
}

bool is_true(const json::value& value, std::string_view name) {
  const json::value& found = at(value, {name});
  return found.is_bool() && found.get_bool();
}

bool has(const json::value& value, std::string_view name) { return !at(value, {name}).is_null(); }

std::string minutes_of(Duration time) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time).count();
  return std::to_string(minutes) + (minutes == 1 ? " minute" : " minutes");
}

// How one kind is asked for and called.
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
constexpr Kind trust_bundle{Obstacle::trust_bundle, "certificates.k8s.io", "clustertrustbundles",
                            "ClusterTrustBundle"};

// Judges one pod.
class Judge {
 public:
  Judge(const json::value& pod, const OutageKnowledge& knowledge, const ReadinessLimits& limits,
        PodReadiness& verdict)
      : pod_(pod), knowledge_(knowledge), limits_(limits), verdict_(verdict) {}

  void run() {
    check_node();
    for (const json::value& each : items(pod_, {"spec", "volumes"})) check_volume(each);
    for (const char* list : {"initContainers", "containers"}) {
      for (const json::value& each : items(pod_, {"spec", list})) check_environment(each);
    }
    for (const json::value& each : items(pod_, {"spec", "imagePullSecrets"})) {
      (void)require(pull_secret, verdict_.namespace_name, text(each, {"name"}), true);
    }
    for (const json::value& each : items(pod_, {"spec", "resourceClaims"})) check_claim_of(each);
    check_service_account();
    check_images();
  }

 private:
  void add(Obstacle obstacle, std::string why) {
    Reason reason{obstacle, std::move(why)};
    const auto& known = verdict_.reasons;
    if (std::find(known.begin(), known.end(), reason) != known.end()) return;
    verdict_.reasons.push_back(std::move(reason));
  }

  static std::string named(const Kind& kind, std::string_view space, std::string_view name) {
    std::string shown(kind.shown);
    shown += ' ';
    if (!space.empty()) shown.append(space).append("/");
    return shown.append(name);
  }

  // The object, if it is there. Otherwise notes why that is an obstacle: an optional object must
  // be known not to exist.
  std::optional<json::value> require(const Kind& kind, std::string_view space,
                                     const std::string& name, bool optional) {
    if (name.empty()) return std::nullopt;
    Finding found = knowledge_.find({kind.group, kind.resource, space, name});
    if (found.presence == Presence::present) return std::move(found.object);
    if (found.presence == Presence::unknown) {
      add(kind.obstacle, named(kind, space, name) + " was never received");
    } else if (!optional) {
      add(kind.obstacle, named(kind, space, name) + " does not exist");
    }
    return std::nullopt;
  }

  void check_node() {
    const Finding node = knowledge_.find({"", "nodes", "", knowledge_.node_name});
    if (node.presence != Presence::present) {
      add(Obstacle::node_state, "Node " + knowledge_.node_name + " was never received");
    }
    if (!knowledge_.services_known) {
      add(Obstacle::node_state, "the list of Services was never received");
    }
    node_ = node.object;
  }

  void check_keyed(const Kind& kind, const json::value& reference) {
    const std::string name = text(reference, {"name"});
    const bool optional = is_true(reference, "optional");
    const auto object = require(kind, verdict_.namespace_name, name, optional);
    const std::string key = text(reference, {"key"});
    if (!object || object->is_null() || key.empty() || optional) return;
    if (at(*object, {"data", key}).is_null() && at(*object, {"binaryData", key}).is_null()) {
      add(kind.obstacle, named(kind, verdict_.namespace_name, name) + " has no key " + key);
    }
  }

  void check_environment(const json::value& container) {
    for (const json::value& each : items(container, {"envFrom"})) {
      if (has(each, "configMapRef")) check_keyed(config_map, at(each, {"configMapRef"}));
      if (has(each, "secretRef")) check_keyed(secret, at(each, {"secretRef"}));
    }
    for (const json::value& each : items(container, {"env"})) {
      const json::value& from = at(each, {"valueFrom"});
      if (has(from, "configMapKeyRef")) check_keyed(config_map, at(from, {"configMapKeyRef"}));
      if (has(from, "secretKeyRef")) check_keyed(secret, at(from, {"secretKeyRef"}));
    }
  }

  void check_volume(const json::value& mounted) {
    const std::string& space = verdict_.namespace_name;
    if (has(mounted, "configMap")) check_keyed(config_map, at(mounted, {"configMap"}));
    if (has(mounted, "secret")) {
      const json::value& source = at(mounted, {"secret"});
      (void)require(secret, space, text(source, {"secretName"}), is_true(source, "optional"));
    }
    for (const json::value& each : items(mounted, {"projected", "sources"})) check_source(each);
    if (has(mounted, "persistentVolumeClaim")) {
      check_volume_claim(text(mounted, {"persistentVolumeClaim", "claimName"}));
    }
    if (has(mounted, "ephemeral")) {
      check_volume_claim(verdict_.name + "-" + text(mounted, {"name"}));
    }
    if (has(mounted, "csi")) {
      check_driver(text(mounted, {"csi", "driver"}));
      (void)require(secret, space, text(mounted, {"csi", "nodePublishSecretRef", "name"}), false);
    }
    // Older volume plugins: one source per volume, whose secret has one of two names.
    const json::object* sources = mounted.if_object();
    if (sources == nullptr) return;
    for (const auto& source : *sources) {
      if (source.key() == "secret" || !source.value().is_object()) continue;
      (void)require(secret, space, text(source.value(), {"secretRef", "name"}), false);
      (void)require(secret, space, text(source.value(), {"secretName"}), false);
    }
  }

  void check_source(const json::value& source) {
    if (has(source, "configMap")) check_keyed(config_map, at(source, {"configMap"}));
    if (has(source, "secret")) check_keyed(secret, at(source, {"secret"}));
    if (has(source, "serviceAccountToken")) check_token(at(source, {"serviceAccountToken"}));
    if (has(source, "podCertificate")) {
      add(Obstacle::pod_certificate,
          "its certificate of " + text(source, {"podCertificate", "signerName"}) +
              " is lost with a reboot and only the cloud can issue another one");
    }
    if (has(source, "clusterTrustBundle")) {
      const json::value& bundle = at(source, {"clusterTrustBundle"});
      (void)require(trust_bundle, "", text(bundle, {"name"}), is_true(bundle, "optional"));
    }
  }

  void check_token(const json::value& wanted) {
    const std::string audience = text(wanted, {"audience"});
    const std::string uid = text(pod_, {"metadata", "uid"});
    std::optional<WallTime> expires;
    for (const StoredToken& token : knowledge_.tokens) {
      const bool ours = token.namespace_name == verdict_.namespace_name && token.pod_uid == uid;
      const auto& all = token.audiences;
      // Without one the API server's own audience is meant, whose name is not known here.
      const bool meant =
          audience.empty() || std::find(all.begin(), all.end(), audience) != all.end();
      if (ours && meant && (!expires || token.expires > *expires)) expires = token.expires;
    }
    const std::string shown = audience.empty() ? "its token" : "its token for audience " + audience;
    if (!expires) return add(Obstacle::token_missing, shown + " was never received");
    const Duration left = *expires - knowledge_.now;
    if (left <= Duration::zero()) {
      return add(Obstacle::token_missing, shown + " expired " + minutes_of(-left) + " ago");
    }
    verdict_.until = std::min(verdict_.until.value_or(*expires), *expires);
    if (left <= limits_.token_notice) {
      add(Obstacle::token_expires, shown + " expires in " + minutes_of(left));
    }
  }

  void check_volume_claim(const std::string& name) {
    const auto object = require(claim, verdict_.namespace_name, name, false);
    if (!object || object->is_null()) return;
    const std::string bound = text(*object, {"spec", "volumeName"});
    if (bound.empty()) {
      return add(Obstacle::volume_claim,
                 named(claim, verdict_.namespace_name, name) + " is not bound to a volume");
    }
    const auto found = require(volume, "", bound, false);
    if (!found || !has(at(*found, {"spec"}), "csi")) return;
    const std::string driver = text(*found, {"spec", "csi", "driver"});
    (void)require(secret, text(*found, {"spec", "csi", "nodePublishSecretRef", "namespace"}),
                  text(*found, {"spec", "csi", "nodePublishSecretRef", "name"}), false);
    check_driver(driver);
    const Finding registered = knowledge_.find({"storage.k8s.io", "csidrivers", "", driver});
    if (registered.presence != Presence::present || registered.object.is_null()) return;
    const json::value& attach = at(registered.object, {"spec", "attachRequired"});
    const bool attaches = !attach.is_bool() || attach.get_bool();
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
    const json::array& drivers = items(*node, {"spec", "drivers"});
    const bool registered =
        std::any_of(drivers.begin(), drivers.end(),
                    [&driver](const auto& each) { return text(each, {"name"}) == driver; });
    if (!registered) not_registered(driver);
  }
  [[nodiscard]] bool known_absent(const Kind& kind) const {
    return knowledge_.find({kind.group, kind.resource, "", knowledge_.node_name}).presence ==
           Presence::absent;
  }
  void not_registered(const std::string& driver) {
    add(Obstacle::csi_driver, "CSI driver " + driver + " is not registered on the node");
  }

  void check_claim_of(const json::value& wanted) {
    const std::string entry = text(wanted, {"name"});
    std::string name = text(wanted, {"resourceClaimName"});
    for (const json::value& each : items(pod_, {"status", "resourceClaimStatuses"})) {
      if (text(each, {"name"}) == entry) name = text(each, {"resourceClaimName"});
    }
    if (name.empty()) return;  // Nothing was made for it, as its status says, or not yet.
    const auto object = require(resource_claim, verdict_.namespace_name, name, false);
    if (!object || object->is_null() || has(at(*object, {"status"}), "allocation")) return;
    add(Obstacle::resource_claim,
        named(resource_claim, verdict_.namespace_name, name) + " is not allocated");
  }

  void check_service_account() {
    const std::string name = text(pod_, {"spec", "serviceAccountName"});
    if (name.empty()) return;
    // The kubelet does not read it to start a pod; one that was deleted gets no new token.
    const Finding found = knowledge_.find({"", "serviceaccounts", verdict_.namespace_name, name});
    if (found.presence != Presence::absent) return;
    add(Obstacle::service_account,
        "ServiceAccount " + verdict_.namespace_name + "/" + name + " does not exist");
  }

  void check_images() {
    const NodeImages images = images_of(node_, limits_.images_reported_max);
    verdict_.images_checked = images.complete;
    for (const char* list : {"initContainers", "containers"}) {
      for (const json::value& each : items(pod_, {"spec", list})) {
        const std::string image = text(each, {"image"});
        if (pulls_always(image, text(each, {"imagePullPolicy"}))) {
          add(Obstacle::image_pull_policy, "image " + image + " is always pulled");
        } else if (images.complete && !images.has(image)) {
          add(Obstacle::image_missing, "image " + image + " is not on the node");
        }
      }
    }
  }

  const json::value& pod_;
  const OutageKnowledge& knowledge_;
  const ReadinessLimits& limits_;
  PodReadiness& verdict_;
  json::value node_ = nullptr;
};

}  // namespace

std::string_view to_string(Obstacle obstacle) {
  constexpr std::string_view names[obstacles] = {
      "node_state",      "config_map",     "secret",        "image_pull_secret",
      "service_account", "volume_claim",   "volume",        "volume_attachment",
      "csi_driver",      "resource_claim", "token_missing", "token_expires",
      "pod_certificate", "trust_bundle",   "image_missing", "image_pull_policy"};
  return names[static_cast<std::size_t>(obstacle)];
}

Result<std::optional<PodReadiness>> judge_readiness(const json::value& pod,
                                                    const OutageKnowledge& knowledge,
                                                    const ReadinessLimits& limits) {
  CHECK(knowledge.find);
  PodReadiness verdict{.namespace_name = text(pod, {"metadata", "namespace"}),
                       .name = text(pod, {"metadata", "name"})};
  if (verdict.name.empty()) return fail(Errc::invalid, "a pod has a name");
  const std::string phase = text(pod, {"status", "phase"});
  const bool leaves = has(at(pod, {"metadata"}), "deletionTimestamp");
  if (leaves || phase == "Succeeded" || phase == "Failed") return std::nullopt;
  Judge(pod, knowledge, limits, verdict).run();
  return verdict;
}

}  // namespace holdfast::sync
