#include "sync/filters/filter.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync::filters {
namespace {

struct Rule {
  Filter filter;
  std::string_view name;
  std::span<const std::string_view> components;
  std::span<const std::string_view> resources;
  std::span<const std::string_view> verbs;
};

constexpr std::string_view kubelet[] = {"kubelet"};
constexpr std::string_view kube_proxy[] = {"kube-proxy"};
constexpr std::string_view service_clients[] = {"kube-proxy", "coredns",
                                                "nginx-ingress-controller"};
constexpr std::string_view endpoints[] = {"endpoints", "endpointslices"};
constexpr std::string_view slices[] = {"endpointslices"};
constexpr std::string_view services[] = {"services"};
constexpr std::string_view configmaps[] = {"configmaps"};
constexpr std::string_view pods[] = {"pods"};
constexpr std::string_view of_many[] = {"list", "watch"};
constexpr std::string_view of_all_reads[] = {"list", "watch", "get"};
constexpr std::string_view of_pods[] = {"list", "watch", "get", "patch"};

constexpr Rule rules[] = {
    {Filter::service_topology, "servicetopology", service_clients, endpoints, of_many},
    {Filter::master_service, "masterservice", kubelet, services, of_many},
    {Filter::discard_cloud_service, "discardcloudservice", kube_proxy, services, of_many},
    {Filter::in_cluster_config, "inclusterconfig", kubelet, configmaps, of_all_reads},
    {Filter::node_port_isolation, "nodeportisolation", kube_proxy, services, of_many},
    {Filter::forward_kube_svc_traffic, "forwardkubesvctraffic", kube_proxy, slices, of_many},
    {Filter::service_env_updater, "serviceenvupdater", kubelet, pods, of_pods},
};

const Rule& rule_of(Filter filter) {
  const Rule& rule = rules[static_cast<std::size_t>(filter)];
  CHECK(rule.filter == filter);
  return rule;
}

bool has(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string_view to_string(Filter filter) { return rule_of(filter).name; }

std::optional<Filter> parse_filter(std::string_view name) {
  for (const Rule& rule : rules) {
    if (rule.name == name) return rule.filter;
  }
  return std::nullopt;
}

std::span<const std::string_view> default_components(Filter filter) {
  return rule_of(filter).components;
}

bool concerns(Filter filter, std::string_view verb, std::string_view group,
              std::string_view resource) {
  const Rule& rule = rule_of(filter);
  // Other API groups have resources named "pods" and "services", too.
  const std::string_view home = resource == "endpointslices" ? "discovery.k8s.io" : "";
  return group == home && has(rule.verbs, verb) && has(rule.resources, resource);
}

}  // namespace holdfast::sync::filters
