#include "agent/lab/rules/identity.h"

#include <algorithm>

#include "platform/text.h"
#include "sync/wire/quote.h"

namespace holdfast::agent::lab {
namespace {

// Splits a line into fields; a field in double quotes may contain commas.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (const char c : line) {
    if (c == '"') {
      inside = !inside;
    } else if (c == ',' && !inside) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) field = std::string(trim(field));
  return fields;
}

bool is_public(const sync::objects::RequestInfo& info) {
  if (info.is_resource || (info.verb != "get" && info.verb != "head")) return false;
  constexpr std::string_view paths[] = {"/healthz", "/livez", "/readyz", "/version", "/version/"};
  return std::find(std::begin(paths), std::end(paths), info.path) != std::end(paths);
}

bool is_reading(const sync::objects::RequestInfo& info) {
  return info.verb == "get" || info.verb == "list" || info.verb == "watch" || info.verb == "head";
}

// New nodes read it to learn the cluster's CA; anybody may read it.
bool is_cluster_info(const sync::objects::RequestInfo& info) {
  return info.verb == "get" && info.resource == "configmaps" &&
         info.namespace_name == "kube-public" && info.name == "cluster-info";
}

bool bootstrapper_may(const sync::objects::RequestInfo& info) {
  return info.resource == "certificatesigningrequests" && info.subresource.empty() &&
         (info.verb == "create" || is_reading(info));
}

// Less strict than upstream's node authorizer: a node may read everything, and write what nodes
// write.
bool node_may(const sync::objects::RequestInfo& info) {
  if (is_reading(info)) return true;
  constexpr std::string_view written[] = {"nodes", "pods", "leases", "events", "csinodes"};
  if (std::find(std::begin(written), std::end(written), info.resource) != std::end(written)) {
    return true;
  }
  if (info.resource == "serviceaccounts") return info.subresource == "token";
  if (info.resource == "certificatesigningrequests") return bootstrapper_may(info);
  return info.group == "authentication.k8s.io" || info.group == "authorization.k8s.io";
}

}  // namespace

bool Identity::in_group(std::string_view group) const {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

Identity anonymous() { return {"system:anonymous", "", {"system:unauthenticated"}}; }

Result<TokenTable> TokenTable::parse(std::string_view csv) {
  TokenTable table;
  std::size_t number = 0;
  for (const std::string_view line : split(csv, '\n')) {
    ++number;
    if (trim(line).empty() || trim(line).starts_with('#')) continue;
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() < 3 || fields[0].empty() || fields[1].empty()) {
      return fail(Errc::invalid, "token file, line " + std::to_string(number) +
                                     ": expected token,user,uid[,\"groups\"]");
    }
    Identity identity{fields[1], fields[2], {}};
    const std::string groups = fields.size() > 3 ? fields[3] : std::string();
    for (const std::string_view group : split(groups, ',')) {
      if (!trim(group).empty()) identity.groups.emplace_back(trim(group));
    }
    identity.groups.emplace_back("system:authenticated");
    table.add(fields[0], std::move(identity));
  }
  return table;
}

const Identity* TokenTable::find(std::string_view token) const {
  const auto found = identities_.find(token);
  return found == identities_.end() ? nullptr : &found->second;
}

void TokenTable::add(std::string token, Identity identity) {
  identities_.insert_or_assign(std::move(token), std::move(identity));
}

sync::wire::ApiStatus access_denied(const Identity& identity,
                                    const sync::objects::RequestInfo& info) {
  const std::string user = "User " + sync::wire::quoted(identity.name) + " cannot " + info.verb;
  if (!info.is_resource) {
    return sync::wire::status::forbidden({}, "", user + " path " + sync::wire::quoted(info.path));
  }
  std::string resource = info.resource;
  if (!info.subresource.empty()) resource += "/" + info.subresource;
  const std::string scope = info.namespace_name.empty()
                                ? std::string(" at the cluster scope")
                                : " in the namespace " + sync::wire::quoted(info.namespace_name);
  return sync::wire::status::forbidden({info.group, info.resource}, info.name,
                                       user + " resource " + sync::wire::quoted(resource) +
                                           " in API group " + sync::wire::quoted(info.group) +
                                           scope);
}

Answer<bool> authorize(const Identity& identity, const sync::objects::RequestInfo& info) {
  if (identity.in_group("system:masters") || is_public(info)) return true;
  if (is_cluster_info(info)) return true;
  if (identity.in_group("system:bootstrappers") && bootstrapper_may(info)) return true;
  if (identity.in_group("system:nodes") && node_may(info)) return true;
  return refuse(access_denied(identity, info));
}

}  // namespace holdfast::agent::lab
