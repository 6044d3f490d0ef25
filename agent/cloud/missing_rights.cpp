#include "agent/cloud/missing_rights.h"

#include <algorithm>
#include <vector>

#include "platform/log.h"
#include "platform/text.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent {
namespace {

constexpr auto repeat_after = std::chrono::hours(1);

struct Grant {
  std::string_view file;  // "cloud-rbac" FILE ".yaml"
  std::string_view group;
  std::string_view resource;
  std::string_view verbs;  // separated by spaces
};

// The rules of cross/k8s; a test compares them.
constexpr Grant grants[] = {
    {"", "", "nodes", "get list watch patch"},
    {"", "", "nodes/status", "patch"},
    {"", "", "pods", "list watch"},
    {"", "", "pods/status", "patch"},
    {"", "", "events", "create patch"},
    {"", "coordination.k8s.io", "leases", "get list watch create update"},
    {"-taint-eviction", "", "pods", "delete"},
    {"-taint-eviction", "storage.k8s.io", "volumeattachments", "list delete"},
    {"-direct-eviction", "apps", "daemonsets", "list watch"},
    {"-eviction-api", "", "pods/eviction", "create"},
    {"-node-deletion", "", "nodes", "delete"},
    {"-pod-binding", "", "pods", "get patch"},
    {"-scheduler", "", "pods", "get delete"},
    {"-scheduler", "", "pods/binding", "create"},
    {"-scheduler", "", "namespaces", "list watch"},
    {"-scheduler", "", "persistentvolumeclaims", "list watch patch"},
    {"-scheduler", "", "persistentvolumes", "list watch patch"},
    {"-scheduler", "storage.k8s.io", "storageclasses", "list watch"},
    {"-scheduler", "storage.k8s.io", "csinodes", "list watch"},
    {"-scheduler", "policy", "poddisruptionbudgets", "list watch"},
    {"-scheduler", "events.k8s.io", "events", "create patch"},
    {"-scheduler", "coordination.k8s.io", "leases", "get update list watch"},
};

bool has_word(std::string_view words, std::string_view word) {
  const auto all = split(words, ' ');
  return std::find(all.begin(), all.end(), word) != all.end();
}

}  // namespace

std::string files_granting(std::string_view verb, std::string_view group,
                           std::string_view resource) {
  std::vector<std::string> files;
  for (const Grant& grant : grants) {
    if (grant.group != group || grant.resource != resource || !has_word(grant.verbs, verb))
      continue;
    files.push_back("cloud-rbac" + std::string(grant.file) + ".yaml");
  }
  return join(files, " or ");
}

void MissingRights::refused(std::string_view method, std::string_view target) {
  const std::size_t query = std::min(target.find('?'), target.size());
  const std::string_view rest = target.substr(std::min(query + 1, target.size()));
  const auto info = sync::objects::parse_request(method, target.substr(0, query), rest);
  if (!info || !info->is_resource) return;
  std::string resource = info->resource;
  if (!info->subresource.empty()) resource += "/" + info->subresource;
  const MonoTime now = clock_.mono();
  const auto [known, is_new] = told_.try_emplace(info->verb + " " + info->group + " " + resource);
  if (!is_new && now - known->second < repeat_after) return;
  known->second = now;
  ++warnings_;
  const std::string files = files_granting(info->verb, info->group, resource);
  log_warn("the API server refuses requests, a right is missing",
           {{"verb", info->verb},
            {"resource", info->group.empty() ? resource : resource + "." + info->group},
            {"namespace", info->namespace_name},
            {"granted_by", files.empty() ? "no file of cross/k8s" : "cross/k8s/" + files}});
}

}  // namespace holdfast::agent
