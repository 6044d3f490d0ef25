#include "sync/autonomy/registration.h"

#include <algorithm>
#include <array>

#include "sync/wire/read.h"

namespace holdfast::sync::autonomy {
namespace {

// Whether `domain` is `parent` or below it.
bool is_within(std::string_view domain, std::string_view parent) {
  if (!domain.ends_with(parent)) return false;
  return domain.size() == parent.size() || domain[domain.size() - parent.size() - 1] == '.';
}

}  // namespace

bool may_label_own_node(std::string_view label) {
  constexpr std::array<std::string_view, 11> known = {"beta.kubernetes.io/arch",
                                                      "beta.kubernetes.io/instance-type",
                                                      "beta.kubernetes.io/os",
                                                      "failure-domain.beta.kubernetes.io/region",
                                                      "failure-domain.beta.kubernetes.io/zone",
                                                      "kubernetes.io/arch",
                                                      "kubernetes.io/hostname",
                                                      "kubernetes.io/os",
                                                      "node.kubernetes.io/instance-type",
                                                      "topology.kubernetes.io/region",
                                                      "topology.kubernetes.io/zone"};
  const std::size_t slash = label.find('/');
  if (slash == std::string_view::npos) return true;
  const std::string_view domain = label.substr(0, slash);
  if (is_within(domain, "node-restriction.kubernetes.io")) return false;
  if (!is_within(domain, "kubernetes.io") && !is_within(domain, "k8s.io")) return true;
  if (is_within(domain, "kubelet.kubernetes.io") || is_within(domain, "node.kubernetes.io"))
    return true;
  return std::find(known.begin(), known.end(), label) != known.end();
}

json::object registration_of(const json::object& node) {
  json::object labels;
  for (const auto& [label, value] : wire::dig_object(node, {"metadata", "labels"})) {
    if (may_label_own_node(label)) labels[label] = value;
  }
  json::object metadata{{"name", wire::name_of(node)}, {"labels", std::move(labels)}};
  const json::object& annotations = wire::dig_object(node, {"metadata", "annotations"});
  if (!annotations.empty()) metadata["annotations"] = annotations;
  json::object spec;
  const std::string_view provider = wire::dig_text(node, {"spec", "providerID"});
  if (!provider.empty()) spec["providerID"] = provider;
  json::object status = wire::dig_object(node, {"status"});
  for (const char* of_cloud : {"volumesAttached", "volumesInUse", "config"}) status.erase(of_cloud);
  return {{"kind", "Node"},
          {"apiVersion", "v1"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)},
          {"status", std::move(status)}};
}

}  // namespace holdfast::sync::autonomy
