#include "sync/autonomy/admit.h"

#include "platform/check.h"

namespace holdfast::sync::autonomy {
namespace {

bool is_update(const objects::RequestInfo& request) {
  return request.verb == "patch" || request.verb == "update";
}

Admission admit_core(const objects::RequestInfo& request, std::string_view node_name) {
  const bool status = request.subresource == "status";
  const bool whole = request.subresource.empty();
  if (request.resource == "nodes") {
    if (whole && request.verb == "create") return Admission::registration;
    const bool ours = request.name == node_name;
    if (ours && status && is_update(request)) return Admission::node_status;
  }
  if (request.resource == "pods") {
    if (status && is_update(request)) return Admission::pod_status;
    if (whole && request.verb == "delete") return Admission::final_delete;
    if (whole && request.verb == "create") return Admission::mirror_pod;
  }
  if (request.resource == "events" && whole && (request.verb == "create" || is_update(request))) {
    return Admission::event;
  }
  const bool token = request.resource == "serviceaccounts" && request.subresource == "token";
  if (token && request.verb == "create") return Admission::token;
  return Admission::refuse;
}

}  // namespace

std::string_view to_string(Admission admission) {
  switch (admission) {
    case Admission::refuse:
      return "refuse";
    case Admission::own_lease:
      return "own_lease";
    case Admission::registration:
      return "registration";
    case Admission::node_status:
      return "node_status";
    case Admission::pod_status:
      return "pod_status";
    case Admission::final_delete:
      return "final_delete";
    case Admission::mirror_pod:
      return "mirror_pod";
    case Admission::csi_node:
      return "csi_node";
    case Admission::event:
      return "event";
    case Admission::token:
      return "token";
  }
  UNREACHABLE();
}

bool is_shown_locally(std::string_view resource) { return resource != "events"; }

bool is_own_lease(const objects::RequestInfo& request, std::string_view node_name) {
  const bool leases = request.is_resource && request.group == "coordination.k8s.io" &&
                      request.resource == "leases" && request.subresource.empty();
  if (!leases || request.namespace_name != lease_namespace) return false;
  const bool by_name = request.verb == "get" || is_update(request);
  return request.verb == "create" || (by_name && request.name == node_name);
}

Admission admit(const objects::RequestInfo& request, std::string_view node_name) {
  if (!request.is_resource) return Admission::refuse;
  if (is_own_lease(request, node_name)) return Admission::own_lease;
  if (request.group.empty()) return admit_core(request, node_name);
  const bool csi = request.group == "storage.k8s.io" && request.resource == "csinodes";
  if (csi && request.name == node_name && is_update(request)) return Admission::csi_node;
  const bool event = request.group == "events.k8s.io" && request.resource == "events";
  if (event && (request.verb == "create" || is_update(request))) return Admission::event;
  return Admission::refuse;
}

}  // namespace holdfast::sync::autonomy
