#include "sync/printing/resources.h"

#include <algorithm>
#include <array>

#include "platform/check.h"
#include "sync/printing/resource_parts.h"

namespace holdfast::sync::printing {
namespace {

using enum Verbs;

constexpr Subresource of_status{"status", "", "", "", get_patch_update};
constexpr Subresource of_scale{"scale", "Scale", "autoscaling", "v1", get_patch_update};

std::vector<Resource> core_resources() {
  const std::vector<ServedVersion> v1 = {{"v1"}};
  const std::vector<Subresource> of_pods = {
      {"binding", "Binding", "", "", create},
      {"eviction", "Eviction", "policy", "v1", create},
      {"exec", "PodExecOptions", "", "", create_get},
      {"log", "", "", "", get},
      {"portforward", "PodPortForwardOptions", "", "", create_get},
      of_status};
  return {
      {"", v1, "bindings", "Binding", true, create},
      {"", v1, "configmaps", "ConfigMap", true, all, {"cm"}, {}, "qFsyl6wFWjQ="},
      {"", v1, "endpoints", "Endpoints", true, all, {"ep"}, {}, "fWeeMqaN/OA="},
      {"", v1, "events", "Event", true, all, {"ev"}, {}, "r2yiGXH7wu8="},
      {"",
       v1,
       "namespaces",
       "Namespace",
       false,
       no_collection_delete,
       {"ns"},
       {},
       "Q3oi5N2YM8M=",
       {{"finalize", "", "", "", update}, of_status}},
      {"", v1, "nodes", "Node", false, all, {"no"}, {}, "XwShjMxG9Fs=", {of_status}},
      {"",
       v1,
       "persistentvolumeclaims",
       "PersistentVolumeClaim",
       true,
       all,
       {"pvc"},
       {},
       "QWTyNDq0dC4=",
       {of_status}},
      {"",
       v1,
       "persistentvolumes",
       "PersistentVolume",
       false,
       all,
       {"pv"},
       {},
       "HN/zwEC+JgM=",
       {of_status}},
      {"", v1, "pods", "Pod", true, all, {"po"}, {"all"}, "xPOwRZ+Yhw8=", of_pods},
      {"", v1, "secrets", "Secret", true, all, {}, {}, "S6u1pOWzb84="},
      {"",
       v1,
       "serviceaccounts",
       "ServiceAccount",
       true,
       all,
       {"sa"},
       {},
       "pbx9ZvyFpBE=",
       {{"token", "TokenRequest", "authentication.k8s.io", "v1", create}}},
      {"",
       v1,
       "services",
       "Service",
       true,
       no_collection_delete,
       {"svc"},
       {"all"},
       "0/CO1lhkEBI=",
       {of_status}},
  };
}

std::vector<Resource> workload_resources() {
  const std::vector<ServedVersion> v1 = {{"v1"}};
  return {
      {"apps", v1, "controllerrevisions", "ControllerRevision", true, all, {}, {}, "85nkx63pcBU="},
      {"apps",
       v1,
       "daemonsets",
       "DaemonSet",
       true,
       all,
       {"ds"},
       {"all"},
       "dd7pWHUlMKQ=",
       {of_status},
       true},
      {"apps",
       v1,
       "deployments",
       "Deployment",
       true,
       all,
       {"deploy"},
       {"all"},
       "8aSe+NMegvE=",
       {of_scale, of_status},
       true},
      {"apps",
       v1,
       "replicasets",
       "ReplicaSet",
       true,
       all,
       {"rs"},
       {"all"},
       "P1RzHs8/mWQ=",
       {of_scale, of_status},
       true},
      {"apps",
       v1,
       "statefulsets",
       "StatefulSet",
       true,
       all,
       {"sts"},
       {"all"},
       "H+vl74LkKdo=",
       {of_scale, of_status},
       true},
  };
}

std::vector<Resource> policy_and_review_resources() {
  const std::vector<ServedVersion> v1 = {{"v1"}};
  return {
      {"policy",
       {{"v1"},
        {"v1beta1", "",
         "policy/v1beta1 PodDisruptionBudget is deprecated in v1.22+, unavailable in v1.25+"}},
       "poddisruptionbudgets",
       "PodDisruptionBudget",
       true,
       all,
       {"pdb"},
       {},
       "6BGBu0kpHtk=",
       {of_status},
       true},
      {"events.k8s.io",
       {{"v1", "EventsEvent"}},
       "events",
       "Event",
       true,
       all,
       {"ev"},
       {},
       "r2yiGXH7wu8="},
      {"authentication.k8s.io", v1, "selfsubjectreviews", "SelfSubjectReview", false, create},
      {"authentication.k8s.io", v1, "tokenreviews", "TokenReview", false, create},
      {"authorization.k8s.io", v1, "localsubjectaccessreviews", "LocalSubjectAccessReview", true,
       create},
      {"authorization.k8s.io", v1, "selfsubjectaccessreviews", "SelfSubjectAccessReview", false,
       create},
      {"authorization.k8s.io", v1, "selfsubjectrulesreviews", "SelfSubjectRulesReview", false,
       create},
      {"authorization.k8s.io", v1, "subjectaccessreviews", "SubjectAccessReview", false, create},
  };
}

std::vector<Resource> machine_resources() {
  const std::vector<ServedVersion> v1 = {{"v1"}};
  return {
      {"certificates.k8s.io",
       v1,
       "certificatesigningrequests",
       "CertificateSigningRequest",
       false,
       all,
       {"csr"},
       {},
       "95fRKMXA+00=",
       {{"approval", "", "", "", get_patch_update}, of_status}},
      {"coordination.k8s.io", v1, "leases", "Lease", true, all, {}, {}, "/sY7hl8ol1U="},
      {"discovery.k8s.io",
       {{"v1"}, {"v1beta1", "EndpointSliceV1beta1"}},
       "endpointslices",
       "EndpointSlice",
       true,
       all,
       {},
       {},
       "Nx3SIv6I0mE="},
      {"node.k8s.io", v1, "runtimeclasses", "RuntimeClass", false, all, {}, {}, "8nMHWqj34s0="},
      {"scheduling.k8s.io",
       v1,
       "priorityclasses",
       "PriorityClass",
       false,
       all,
       {"pc"},
       {},
       "1QwjyaZjj3Y="},
      {"storage.k8s.io", v1, "csidrivers", "CSIDriver", false, all, {}, {}, "Z7aeXSiaYTw="},
      {"storage.k8s.io", v1, "csinodes", "CSINode", false, all, {}, {}, "Pe62DkZtjuo="},
      {"storage.k8s.io",
       v1,
       "storageclasses",
       "StorageClass",
       false,
       all,
       {"sc"},
       {},
       "K+m6uJwbjGY="},
      {"storage.k8s.io",
       v1,
       "volumeattachments",
       "VolumeAttachment",
       false,
       all,
       {},
       {},
       "tJx/ezt6UDU=",
       {of_status}},
  };
}

std::vector<Resource> extension_resources() {
  return {{"apiextensions.k8s.io",
           {{"v1"}},
           "customresourcedefinitions",
           "CustomResourceDefinition",
           false,
           all,
           {"crd", "crds"},
           {"api-extensions"},
           "jfWCUB31mvA=",
           {of_status},
           true}};
}

std::vector<Resource> build_table() {
  std::vector<Resource> table = core_resources();
  for (Resource& resource : workload_resources()) table.push_back(std::move(resource));
  for (Resource& resource : policy_and_review_resources()) table.push_back(std::move(resource));
  for (Resource& resource : machine_resources()) table.push_back(std::move(resource));
  for (Resource& resource : batch_resources()) table.push_back(std::move(resource));
  for (Resource& resource : rbac_resources()) table.push_back(std::move(resource));
  for (Resource& resource : extension_resources()) table.push_back(std::move(resource));
  return table;
}

const std::vector<Resource>& table() {
  static const std::vector<Resource> resources = build_table();
  return resources;
}

constexpr std::array<std::string_view, 14> groups = {
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "batch",
    "certificates.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
};

constexpr std::string_view words_all[] = {"create", "delete", "deletecollection", "get",
                                          "list",   "patch",  "update",           "watch"};
constexpr std::string_view words_no_collection[] = {"create", "delete", "get",  "list",
                                                    "patch",  "update", "watch"};
constexpr std::string_view words_create[] = {"create"};
constexpr std::string_view words_get_patch_update[] = {"get", "patch", "update"};
constexpr std::string_view words_get[] = {"get"};
constexpr std::string_view words_create_get[] = {"create", "get"};
constexpr std::string_view words_update[] = {"update"};

}  // namespace

std::span<const std::string_view> words(Verbs verbs) {
  switch (verbs) {
    case none:
      return {};
    case all:
      return words_all;
    case no_collection_delete:
      return words_no_collection;
    case get:
      return words_get;
    case create:
      return words_create;
    case create_get:
      return words_create_get;
    case update:
      return words_update;
    case get_patch_update:
      return words_get_patch_update;
  }
  UNREACHABLE();
}

bool allows(Verbs verbs, std::string_view verb) {
  const auto known = words(verbs);
  return std::find(known.begin(), known.end(), verb) != known.end();
}

const ServedVersion* Resource::version(std::string_view wanted) const {
  for (const ServedVersion& candidate : versions) {
    if (candidate.name == wanted) return &candidate;
  }
  return nullptr;
}

const Subresource* Resource::subresource(std::string_view wanted) const {
  for (const Subresource& candidate : subresources) {
    if (candidate.name == wanted) return &candidate;
  }
  return nullptr;
}

std::string Resource::qualified() const {
  std::string name(plural);
  if (!group.empty()) name.append(".").append(group);
  return name;
}

std::string Resource::qualified_kind() const {
  std::string name(kind);
  if (!group.empty()) name.append(".").append(group);
  return name;
}

std::string Resource::api_version(std::string_view version_name) const {
  if (group.empty()) return std::string(version_name);
  return std::string(group) + "/" + std::string(version_name);
}

std::span<const Resource> all_resources() { return table(); }

const Resource* find_resource(std::string_view group, std::string_view version,
                              std::string_view plural) {
  for (const Resource& resource : table()) {
    if (resource.group == group && resource.plural == plural &&
        resource.version(version) != nullptr) {
      return &resource;
    }
  }
  return nullptr;
}

const Resource* find_kind(std::string_view group, std::string_view kind) {
  for (const Resource& resource : table()) {
    if (resource.group == group && resource.kind == kind) return &resource;
  }
  return nullptr;
}

const Resource& known_kind(std::string_view group, std::string_view kind) {
  const Resource* resource = find_kind(group, kind);
  CHECK(resource != nullptr);
  return *resource;
}

std::span<const std::string_view> all_groups() { return groups; }

std::vector<std::string_view> versions_of(std::string_view group) {
  std::vector<std::string_view> found;
  for (const Resource& resource : table()) {
    if (resource.group != group) continue;
    for (const ServedVersion& version : resource.versions) {
      if (std::find(found.begin(), found.end(), version.name) == found.end()) {
        found.push_back(version.name);
      }
    }
  }
  return found;
}

}  // namespace holdfast::sync::printing
