#include "agent/edge/node/local_pods.h"

#include "agent/edge/caller.h"
#include "platform/log.h"
#include "sync/api/codec.h"

namespace holdfast::agent {
namespace {

store::ScopeKey key_of(std::string resource, std::string namespace_name, std::string field) {
  return {.owner = std::string(node_owner),
          .version = "v1",
          .resource = std::move(resource),
          .namespace_name = std::move(namespace_name),
          .field_selector = std::move(field),
          .encoding = "json"};
}

template <class T>
sync::Lookup<T> look_up(Scopes& scopes, std::string resource, std::string_view namespace_name,
                        std::string_view name) {
  const auto scope = scopes.open(key_of(std::move(resource), std::string(namespace_name),
                                        "metadata.name=" + std::string(name)));
  if (!scope || !(*scope)->cache().complete()) return sync::NeverReceived{};
  const sync::CachedObject* object =
      (*scope)->cache().find({std::string(namespace_name), std::string(name)});
  if (object == nullptr) return sync::Absent{};
  auto decoded = sync::decode_bytes<T>(*object->bytes);
  if (!decoded) {
    log_error("object unreadable", {{"name", name}, {"error", decoded.error()}});
    return sync::NeverReceived{};
  }
  return std::make_shared<const T>(*std::move(decoded));
}

}  // namespace

LocalPods::LocalPods(std::string node_name, Scopes& scopes)
    : node_name_(std::move(node_name)), scopes_(scopes) {}

sync::DesiredPods LocalPods::desired() const {
  const auto scope = scopes_.open(key_of("pods", "", "spec.nodeName=" + node_name_));
  if (!scope || !(*scope)->cache().complete()) return sync::NeverReceived{};
  sync::CompletePods complete;
  std::map<sync::ObjectKey, Decoded> decoded;
  for (const auto& [key, object] : (*scope)->cache().objects()) {
    const auto known = decoded_.find(key);
    if (known != decoded_.end() && known->second.bytes == object.bytes) {
      decoded.insert(*known);
    } else if (auto pod = sync::decode_bytes<sync::Pod>(*object.bytes)) {
      decoded[key] = {object.bytes, std::make_shared<const sync::Pod>(*std::move(pod))};
    } else {
      // A pod that can't be read is not a pod that is gone: the list is not usable as a whole.
      log_error("pod unreadable", {{"name", key.name}, {"error", pod.error()}});
      return sync::NeverReceived{};
    }
    complete.pods.push_back(decoded[key].pod);
  }
  decoded_ = std::move(decoded);
  return complete;
}

sync::Lookup<sync::ConfigMap> LocalPods::config_map(std::string_view namespace_name,
                                                    std::string_view name) const {
  return look_up<sync::ConfigMap>(scopes_, "configmaps", namespace_name, name);
}

sync::Lookup<sync::Secret> LocalPods::secret(std::string_view namespace_name,
                                             std::string_view name) const {
  return look_up<sync::Secret>(scopes_, "secrets", namespace_name, name);
}

}  // namespace holdfast::agent
