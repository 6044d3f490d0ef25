#include "sync/printing/resource_parts.h"

namespace holdfast::sync::printing {
namespace {

constexpr Subresource job_status{"status", "", "", "", Verbs::get_patch_update};

Resource rbac(std::string_view plural, std::string_view kind, bool namespaced,
              std::string_view hash) {
  return {.group = "rbac.authorization.k8s.io",
          .versions = {{"v1"}},
          .plural = plural,
          .kind = kind,
          .namespaced = namespaced,
          .verbs = Verbs::all,
          .storage_hash = hash};
}

}  // namespace

std::vector<Resource> batch_resources() {
  return {{.group = "batch",
           .versions = {{"v1"}},
           .plural = "jobs",
           .kind = "Job",
           .namespaced = true,
           .verbs = Verbs::all,
           .categories = {"all"},
           .storage_hash = "mudhfqk/qZY=",
           .subresources = {job_status},
           .counts_generation = true}};
}

std::vector<Resource> rbac_resources() {
  return {rbac("clusterrolebindings", "ClusterRoleBinding", false, "48tpQ8gZHFc="),
          rbac("clusterroles", "ClusterRole", false, "bYE5ZWDrJ44="),
          rbac("rolebindings", "RoleBinding", true, "eGsCzGH6b1g="),
          rbac("roles", "Role", true, "7FuwZcIIItM=")};
}

}  // namespace holdfast::sync::printing
