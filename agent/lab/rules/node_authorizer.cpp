#include "agent/lab/rules/node_authorizer.h"

#include <algorithm>
#include <boost/json.hpp>

#include "platform/text.h"
#include "sync/objects/selector.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view lease_namespace = "kube-node-lease";

// The rules of upstream's cluster role system:node (1.36.2), and of system:basic-user and
// system:discovery, which all authenticated users have, except for resources that are handled
// separately below. Verbs are enclosed in commas.
struct Rule {
  std::string_view group;
  std::string_view resource;  // with "/subresource"
  std::string_view verbs;
};
constexpr std::string_view read = ",get,list,watch,";
constexpr Rule rules[] = {
    {"", "services", read},
    {"", "endpoints", ",get,"},
    {"", "events", ",create,patch,update,"},
    {"events.k8s.io", "events", ",create,patch,update,"},
    {"authentication.k8s.io", "tokenreviews", ",create,"},
    {"authentication.k8s.io", "selfsubjectreviews", ",create,"},
    {"authorization.k8s.io", "localsubjectaccessreviews", ",create,"},
    {"authorization.k8s.io", "subjectaccessreviews", ",create,"},
    {"authorization.k8s.io", "selfsubjectaccessreviews", ",create,"},
    {"authorization.k8s.io", "selfsubjectrulesreviews", ",create,"},
    {"certificates.k8s.io", "certificatesigningrequests", ",create,get,list,watch,"},
    {"storage.k8s.io", "csidrivers", read},
    {"node.k8s.io", "runtimeclasses", read},
};

NodeDecision yes() { return {.allowed = true}; }
NodeDecision no(std::string why = {}) { return {.why = std::move(why)}; }

bool is_any_of(std::string_view verb, std::string_view verbs) {
  return verbs.find("," + std::string(verb) + ",") != std::string_view::npos;
}

// Decides about one request of one node.
class NodeAuthorizer {
 public:
  NodeAuthorizer(std::string_view node, const sync::objects::RequestInfo& info,
                 const NodeObjects& objects)
      : node_(node), info_(info), objects_(objects) {}

  [[nodiscard]] NodeDecision related(std::string_view resource) const {
    if (info_.name.empty()) return no("No Object name found");
    if (belongs_to_node(node_, resource, info_.namespace_name, info_.name, objects_)) return yes();
    return unrelated();
  }

  [[nodiscard]] NodeDecision unrelated() const {
    return no("no relationship found between node '" + std::string(node_) + "' and this object");
  }

  [[nodiscard]] NodeDecision get_only() const {
    if (info_.verb != "get") return no("can only get individual resources of this type");
    if (!info_.subresource.empty()) return no("cannot get subresource");
    return related(info_.resource);
  }

  // Secrets and ConfigMaps: kubelets watch each of them by name.
  [[nodiscard]] NodeDecision named_only() const {
    if (!is_any_of(info_.verb, read)) return no("can only read resources of this type");
    if (!info_.subresource.empty()) return no("cannot read subresource");
    if (info_.namespace_name.empty()) return no("can only read namespaced object of this type");
    return related(info_.resource);
  }

  [[nodiscard]] NodeDecision claim() const {
    if (info_.subresource != "status") return get_only();
    if (!is_any_of(info_.verb, ",update,patch,")) return no("can only get/update/patch this type");
    return related(info_.resource);
  }

  [[nodiscard]] NodeDecision attachment() const {
    if (info_.verb != "get") return no("can only get individual resources of this type");
    if (info_.name.empty()) return no("No Object name found");
    bool own = false;
    objects_.attachments([this, &own](const json::object& attachment) {
      own = own || (sync::wire::name_of(attachment) == info_.name &&
                    sync::wire::dig_text(attachment, {"spec", "nodeName"}) == node_);
    });
    return own ? yes() : unrelated();
  }

  [[nodiscard]] NodeDecision account() const {
    if (info_.verb == "get" && info_.subresource.empty()) return get_only();
    if (info_.verb != "create" || info_.name.empty()) {
      return no("can only create tokens for individual service accounts");
    }
    if (info_.subresource != "token") {
      return no("can only create token subresource of serviceaccount");
    }
    return related(info_.resource);
  }

  // Leases and CSINodes must have the node's name. The name of a new one is in its body, which is
  // not checked here.
  [[nodiscard]] NodeDecision own_name(const std::string& noun, const std::string& same) const {
    if (!is_any_of(info_.verb, ",get,create,update,patch,delete,")) {
      return no("can only get, create, update, patch, or delete a " + noun);
    }
    if (info_.resource == "leases" && info_.namespace_name != lease_namespace) {
      return no("can only access leases in the " + sync::wire::quoted(lease_namespace) +
                " system namespace");
    }
    if (info_.verb != "create" && info_.name != node_) {
      return no("can only access " + same + " with the same name as the requesting node");
    }
    return yes();
  }

  [[nodiscard]] NodeDecision node() const {
    if (info_.subresource == "status")
      return is_any_of(info_.verb, ",update,patch,") ? yes() : no();
    if (!info_.subresource.empty()) return no();
    if (is_any_of(info_.verb, ",create,update,patch,")) return yes();
    if (!is_any_of(info_.verb, read)) return no();
    if (info_.name == node_) return yes();
    const std::string which = info_.name.empty() ? "all nodes" : "'" + info_.name + "'";
    return no("node '" + std::string(node_) + "' cannot read " + which +
              ", only its own Node object");
  }

  [[nodiscard]] NodeDecision pod() const {
    if (info_.subresource == "status")
      return is_any_of(info_.verb, ",update,patch,") ? yes() : no();
    if (info_.subresource == "eviction") return info_.verb == "create" ? yes() : no();
    if (!info_.subresource.empty()) return no();
    if (is_any_of(info_.verb, ",create,delete,")) return yes();
    if (info_.verb == "get") return get_only();
    if (info_.verb != "list" && info_.verb != "watch") return no();
    if (selects("spec.nodeName")) return yes();
    if (!info_.name.empty()) return related(info_.resource);
    return no("can only list/watch pods with spec.nodeName field selector");
  }

  // The lab has no ResourceSlices, so a named one belongs to no node.
  [[nodiscard]] NodeDecision slice() const {
    if (info_.verb == "create") return yes();
    if (is_any_of(info_.verb, ",get,update,patch,delete,")) {
      return info_.name.empty() ? no("No Object name found") : unrelated();
    }
    if (selects("spec.nodeName")) return yes();
    return no("can only list/watch/deletecollection resourceslices with nodeName field selector");
  }

  [[nodiscard]] NodeDecision by_rule() const {
    std::string resource = info_.resource;
    if (!info_.subresource.empty()) resource += "/" + info_.subresource;
    for (const Rule& rule : rules) {
      const bool meant = rule.group == info_.group && rule.resource == resource;
      if (meant && is_any_of(info_.verb, rule.verbs)) return yes();
    }
    return no();
  }

 private:
  // Whether the field selector requires that `field` is the node's name.
  [[nodiscard]] bool selects(std::string_view field) const {
    const auto query = sync::objects::FieldQuery::parse(info_.field_selector);
    return query && query->exact(field) == node_;
  }

  std::string_view node_;
  const sync::objects::RequestInfo& info_;
  const NodeObjects& objects_;
};

}  // namespace

std::string_view node_of(const Identity& identity) {
  constexpr std::string_view prefix = "system:node:";
  const std::string_view name = identity.name;
  if (!name.starts_with(prefix) || !identity.in_group("system:nodes")) return {};
  return name.substr(prefix.size());
}

NodeDecision authorize_node(std::string_view node, const sync::objects::RequestInfo& info,
                            const NodeObjects& objects) {
  const NodeAuthorizer authorizer(node, info, objects);
  const std::string_view resource = info.resource;
  if (info.group.empty()) {
    if (resource == "secrets" || resource == "configmaps") return authorizer.named_only();
    if (resource == "persistentvolumeclaims") return authorizer.claim();
    if (resource == "persistentvolumes") return authorizer.get_only();
    if (resource == "serviceaccounts") return authorizer.account();
    if (resource == "nodes") return authorizer.node();
    if (resource == "pods") return authorizer.pod();
  }
  if (info.group == "resource.k8s.io" && resource == "resourceclaims") return authorizer.get_only();
  if (info.group == "resource.k8s.io" && resource == "resourceslices") return authorizer.slice();
  if (info.group == "storage.k8s.io" && resource == "volumeattachments")
    return authorizer.attachment();
  if (info.group == "storage.k8s.io" && resource == "csinodes") {
    return authorizer.own_name("CSINode", "CSINode");
  }
  if (info.group == "coordination.k8s.io" && resource == "leases") {
    return authorizer.own_name("node lease", "node lease");
  }
  return authorizer.by_rule();
}

}  // namespace holdfast::agent::lab
