#include "agent/lab/apiserver/nodes.h"

#include <boost/json.hpp>

#include "agent/lab/apiserver/rbac.h"
#include "agent/lab/rules/node_restriction.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

NodeObjects::Each all_of(const Registry& registry, std::string_view group, std::string_view kind) {
  const sync::printing::Resource* const resource = sync::printing::find_kind(group, kind);
  return [&registry, resource](const NodeObjects::Visit& visit) {
    if (resource == nullptr) return;  // The lab does not have this kind.
    for (const StoredPtr& stored : registry.list(*resource)) visit(stored->object);
  };
}

// The pod that a TokenRequest is bound to or that an eviction names.
StoredPtr pod_of(const Backend& backend, const Call& call, const json::object* now) {
  std::string_view name = call.info.name;
  if (call.info.resource == "serviceaccounts" && now != nullptr) {
    name = sync::wire::dig_text(*now, {"spec", "boundObjectRef", "name"});
  }
  return backend.registry.find(sync::printing::known_kind("", "Pod"), call.name_space(), name);
}

}  // namespace

NodeObjects node_objects(const Registry& registry) {
  return {.pods = all_of(registry, "", "Pod"),
          .volumes = all_of(registry, "", "PersistentVolume"),
          .attachments = all_of(registry, "storage.k8s.io", "VolumeAttachment")};
}

Answer<bool> authorize(const Backend& backend, const Identity& caller,
                       const sync::objects::RequestInfo& info) {
  const Verdict verdict = decide(backend, caller, info);
  if (verdict.allowed) return true;
  sync::wire::ApiStatus refused = access_denied(caller, info);
  if (!verdict.reason.empty()) refused.message += ": " + verdict.reason;
  return refuse(std::move(refused));
}

Answer<bool> admit_write(const Backend& backend, const Call& call, const json::object* now,
                         const json::object* before) {
  const bool grants = backend.rbac && now != nullptr && call.resource().group == rbac_group;
  if (grants) {
    if (auto fine = admit_role(backend, call, *now, before); !fine) return refuse(fine.error());
  }
  const std::string_view node = backend.node_authorizer ? node_of(call.caller) : std::string_view();
  if (node.empty()) return true;
  const bool about_pod = call.info.subresource == "token" || call.info.subresource == "eviction";
  const StoredPtr pod = about_pod ? pod_of(backend, call, now) : nullptr;
  const std::string_view verb = call.info.verb == "create"   ? "create"
                                : call.info.verb == "delete" ? "delete"
                                                             : "update";
  const bool made = verb == "update" && before == nullptr;  // a PUT that creates the object
  const auto why = restrict_node(node, {.resource = call.info.resource,
                                        .subresource = call.info.subresource,
                                        .verb = made ? "create" : verb,
                                        .name_space = call.name_space(),
                                        .name = call.info.name,
                                        .now = now,
                                        .before = before,
                                        .pod = pod ? &pod->object : nullptr});
  if (!why) return true;
  const std::string_view name =
      call.info.name.empty() && now != nullptr ? sync::wire::name_of(*now) : call.info.name;
  return refuse(sync::wire::status::forbidden({call.info.group, call.info.resource}, name, *why));
}

}  // namespace holdfast::agent::lab
