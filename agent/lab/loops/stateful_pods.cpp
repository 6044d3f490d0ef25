#include <boost/json.hpp>

#include "agent/lab/loops/stateful_parts.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

std::string claim_name(const json::object& set, const json::object& claim, std::int64_t ordinal) {
  std::string name(sync::wire::name_of(claim));
  name.append("-").append(sync::wire::name_of(set));
  return name.append("-").append(std::to_string(ordinal));
}

// The pod's volumes: those of the claims, then the template's others.
json::array volumes_of(const json::object& set, const json::object& pod, std::int64_t ordinal) {
  json::array volumes;
  for (const json::value& item : sync::wire::dig_list(set, {"spec", "volumeClaimTemplates"})) {
    const json::object& claim = sync::wire::as_object(item);
    const json::object source = {{"claimName", claim_name(set, claim, ordinal)}};
    volumes.push_back(
        json::object{{"name", sync::wire::name_of(claim)}, {"persistentVolumeClaim", source}});
  }
  const std::size_t claimed = volumes.size();
  for (const json::value& volume : sync::wire::dig_list(pod, {"spec", "volumes"})) {
    bool hidden = false;
    for (std::size_t at = 0; at < claimed; ++at) {
      hidden = hidden || sync::wire::dig_text(sync::wire::as_object(volume), {"name"}) ==
                             sync::wire::dig_text(volumes[at].get_object(), {"name"});
    }
    if (!hidden) volumes.push_back(volume);
  }
  return volumes;
}

bool names_uid(const json::array& owners, std::string_view uid) {
  for (const json::value& owner : owners) {
    if (sync::wire::dig_text(sync::wire::as_object(owner), {"uid"}) == uid) return true;
  }
  return false;
}

// An owner of the same kind and name as `object`, but another object.
bool names_predecessor(const json::array& owners, const json::object& object,
                       std::string_view kind) {
  for (const json::value& item : owners) {
    const json::object& owner = sync::wire::as_object(item);
    const bool same = sync::wire::dig_text(owner, {"kind"}) == kind &&
                      sync::wire::dig_text(owner, {"name"}) == sync::wire::name_of(object);
    if (same && sync::wire::dig_text(owner, {"uid"}) != sync::wire::uid_of(object)) return true;
  }
  return false;
}

}  // namespace

std::int64_t ordinal_of(const json::object& pod) {
  const std::string_view name = sync::wire::name_of(pod);
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return -1;
  const auto ordinal = parse_int<std::int32_t>(name.substr(dash + 1));
  return ordinal ? std::int64_t{*ordinal} : -1;
}

std::int64_t first_ordinal(const json::object& set) {
  return sync::wire::dig_int(set, {"spec", "ordinals", "start"});
}

std::string_view revision_of_pod(const json::object& pod) {
  return sync::wire::dig_text(sync::wire::dig_object(pod, {"metadata", "labels"}),
                              {set_revision_label});
}

json::object stateful_pod(const json::object& set, const json::object& revision,
                          std::int64_t ordinal) {
  json::object made_from = set;
  json::object& made_spec = sync::wire::make_object(made_from, {"spec"});
  made_spec["template"] = sync::wire::dig_object(revision, {"data", "spec", "template"});
  json::object pod = pod_of(made_from);
  const std::string name = std::string(sync::wire::name_of(set)) + "-" + std::to_string(ordinal);
  json::object& metadata = sync::wire::make_object(pod, {"metadata"});
  metadata["name"] = name;
  json::object& labels = sync::wire::make_object(metadata, {"labels"});
  labels["statefulset.kubernetes.io/pod-name"] = name;
  labels["apps.kubernetes.io/pod-index"] = std::to_string(ordinal);
  labels[set_revision_label] = sync::wire::name_of(revision);
  json::array volumes = volumes_of(set, pod, ordinal);
  json::object& spec = sync::wire::make_object(pod, {"spec"});
  spec["hostname"] = name;
  spec["subdomain"] = sync::wire::dig_text(set, {"spec", "serviceName"});
  spec["volumes"] = std::move(volumes);
  return pod;
}

std::vector<json::object> claims_of(const json::object& set, std::int64_t ordinal) {
  std::vector<json::object> claims;
  for (const json::value& item : sync::wire::dig_list(set, {"spec", "volumeClaimTemplates"})) {
    const json::object& made_from = sync::wire::as_object(item);
    json::object metadata = sync::wire::dig_object(made_from, {"metadata"});
    metadata["name"] = claim_name(set, made_from, ordinal);
    metadata["namespace"] = sync::wire::namespace_of(set);
    json::object& labels = sync::wire::make_object(metadata, {"labels"});
    for (const auto& label : sync::wire::dig_object(set, {"spec", "selector", "matchLabels"})) {
      labels[label.key()] = label.value();
    }
    json::object claim = {{"kind", "PersistentVolumeClaim"}, {"apiVersion", "v1"}};
    claim["metadata"] = std::move(metadata);
    claim["spec"] = sync::wire::dig_object(made_from, {"spec"});
    claims.push_back(std::move(claim));
  }
  return claims;
}

std::optional<json::array> claim_owners(const json::object& set, const json::object& pod,
                                        const json::object& claim, bool condemned) {
  const json::array& owners = sync::wire::dig_list(claim, {"metadata", "ownerReferences"});
  // Claims of a former set or pod of these names are left to garbage collection.
  if (names_predecessor(owners, set, "StatefulSet") || names_predecessor(owners, pod, "Pod"))
    return std::nullopt;
  const json::object& policy =
      sync::wire::dig_object(set, {"spec", "persistentVolumeClaimRetentionPolicy"});
  const bool by_pod = condemned && sync::wire::dig_text(policy, {"whenScaled"}) == "Delete";
  const bool by_set = !by_pod && sync::wire::dig_text(policy, {"whenDeleted"}) == "Delete";
  if (names_uid(owners, sync::wire::uid_of(set)) == by_set &&
      names_uid(owners, sync::wire::uid_of(pod)) == by_pod)
    return std::nullopt;
  json::array wanted;
  for (const json::value& item : owners) {
    const std::string_view uid = sync::wire::dig_text(sync::wire::as_object(item), {"uid"});
    if (uid != sync::wire::uid_of(set) && uid != sync::wire::uid_of(pod)) wanted.push_back(item);
  }
  if (by_set) wanted.push_back(controller_reference(set));
  if (by_pod) wanted.push_back(controller_reference(pod));
  return wanted;
}

}  // namespace holdfast::agent::lab
