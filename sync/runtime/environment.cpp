#include "sync/runtime/environment.h"

#include <optional>

#include "sync/runtime/expand.h"

namespace holdfast::sync::runtime {
namespace {

// How error messages spell the two kinds.
struct KindWords {
  std::string_view lower;  // in "not found"
  std::string_view upper;  // in "couldn't find key"
};
constexpr KindWords config_map_words{"configmap", "ConfigMap"};
constexpr KindWords secret_words{"secret", "Secret"};

// An object that was found, kept alive by this pointer; nullptr if it is absent and optional.
template <class T>
using Found = std::shared_ptr<const T>;

template <class T>
Result<Found<T>> require(Lookup<T> lookup, const KeyReference& reference, const KindWords& words) {
  if (std::holds_alternative<NeverReceived>(lookup)) {
    return fail(Errc::unavailable, "failed to sync " + std::string(words.lower) +
                                       " cache: timed out waiting for the condition");
  }
  if (std::holds_alternative<Absent>(lookup)) {
    if (reference.optional.value_or(false)) return Found<T>();
    return fail(Errc::not_found,
                std::string(words.lower) + " \"" + reference.name + "\" not found");
  }
  return std::get<Found<T>>(std::move(lookup));
}

// The value of one key; std::nullopt if it is missing and optional.
template <class T>
Result<std::optional<std::string>> value_of_key(Lookup<T> lookup, const KeyReference& reference,
                                                std::string_view namespace_name,
                                                const KindWords& words) {
  TRY(const Found<T> object, require<T>(std::move(lookup), reference, words));
  const std::string* value = object ? object->data.find(reference.key) : nullptr;
  if (value != nullptr) return *value;
  if (reference.optional.value_or(false)) return std::nullopt;
  return fail(Errc::not_found, "couldn't find key " + reference.key + " in " +
                                   std::string(words.upper) + " " + std::string(namespace_name) +
                                   "/" + reference.name);
}

// Whether a process can have a variable of this name.
bool is_variable_name(std::string_view name) {
  return !name.empty() && name.find('=') == name.npos && name.find('\0') == name.npos;
}

template <class T>
Status add_all(EnvList& list, Lookup<T> lookup, const KeyReference& reference,
               const std::string& prefix, const KindWords& words) {
  TRY(const Found<T> object, require<T>(std::move(lookup), reference, words));
  if (!object) return {};
  for (const auto& [key, value] : object->data) {
    const std::string name = prefix + key;
    if (is_variable_name(name)) set_variable(list, name, value);
  }
  return {};
}

Status add_env_from(EnvList& list, const EnvFrom& from, std::string_view namespace_name,
                    const ConfigSource& configs) {
  if (from.config_map_ref) {
    const KeyReference& reference = *from.config_map_ref;
    return add_all<ConfigMap>(list, configs.config_map(namespace_name, reference.name), reference,
                              from.prefix, config_map_words);
  }
  if (from.secret_ref) {
    const KeyReference& reference = *from.secret_ref;
    return add_all<Secret>(list, configs.secret(namespace_name, reference.name), reference,
                           from.prefix, secret_words);
  }
  return {};
}

Result<std::optional<std::string>> value_from(const EnvVar& variable, const Pod& pod,
                                              const NodeFacts& node, const ConfigSource& configs) {
  const EnvSource& source = *variable.value_from;
  const std::string& home = pod.metadata.namespace_name;
  if (source.field_ref) {
    TRY(std::string value, pod_field(pod, source.field_ref->field_path, node));
    return std::optional(std::move(value));
  }
  if (source.config_map_key_ref) {
    const KeyReference& reference = *source.config_map_key_ref;
    return value_of_key<ConfigMap>(configs.config_map(home, reference.name), reference, home,
                                   config_map_words);
  }
  if (source.secret_key_ref) {
    const KeyReference& reference = *source.secret_key_ref;
    return value_of_key<Secret>(configs.secret(home, reference.name), reference, home,
                                secret_words);
  }
  return fail(Errc::invalid,
              "the process runtime cannot read valueFrom of variable " + variable.name);
}

// With the prefix "labels", "labels['app']" gives "app".
std::optional<std::string_view> subscript(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return std::nullopt;
  path.remove_prefix(prefix.size());
  if (!path.starts_with("['") || !path.ends_with("']") || path.size() < 4) return std::nullopt;
  return path.substr(2, path.size() - 4);
}

}  // namespace

const std::string* find_variable(const EnvList& list, std::string_view name) {
  for (const auto& [known, value] : list) {
    if (known == name) return &value;
  }
  return nullptr;
}

void set_variable(EnvList& list, std::string_view name, std::string_view value) {
  for (auto& [known, old] : list) {
    if (known != name) continue;
    old = value;
    return;
  }
  list.emplace_back(name, value);
}

Result<std::string> pod_field(const Pod& pod, std::string_view path, const NodeFacts& node) {
  const ObjectMeta& meta = pod.metadata;
  if (path == "metadata.name") return meta.name;
  if (path == "metadata.namespace") return meta.namespace_name;
  if (path == "metadata.uid") return meta.uid;
  if (path == "spec.nodeName") return node.node_name;
  if (path == "spec.serviceAccountName") return pod.spec.service_account_name;
  if (path == "status.podIP" || path == "status.podIPs") return node.pod_ip;
  if (path == "status.hostIP" || path == "status.hostIPs") return node.host_ip;
  if (const auto key = subscript(path, "metadata.labels")) {
    return std::string(meta.labels.get(*key));
  }
  if (const auto key = subscript(path, "metadata.annotations")) {
    return std::string(meta.annotations.get(*key));
  }
  return fail(Errc::invalid, "unsupported fieldPath: " + std::string(path));
}

Result<EnvList> make_environment(const Pod& pod, const Container& container, const NodeFacts& node,
                                 const ConfigSource& configs) {
  EnvList list;
  for (const EnvFrom& from : container.env_from) {
    if (auto added = add_env_from(list, from, pod.metadata.namespace_name, configs); !added) {
      return fail(added.error());
    }
  }
  // Variables a value may refer to: earlier ones in `env`, but none of envFrom.
  EnvList earlier;
  const Variables variables = [&earlier](std::string_view name) -> std::optional<std::string_view> {
    const std::string* value = find_variable(earlier, name);
    if (value == nullptr) return std::nullopt;
    return std::string_view(*value);
  };
  for (const EnvVar& variable : container.env) {
    std::string value = expand(variable.value, variables);
    if (variable.value.empty() && variable.value_from) {
      TRY(auto found, value_from(variable, pod, node, configs));
      if (!found) continue;
      value = std::move(*found);
    }
    if (!is_variable_name(variable.name)) continue;
    set_variable(list, variable.name, value);
    set_variable(earlier, variable.name, value);
  }
  return list;
}

}  // namespace holdfast::sync::runtime
