// The cases for the filters, one row each: an object, the known facts, and the result.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sync/filters/filter.h"
#include "sync/filters/filters.h"

namespace holdfast::sync::filters::cases {

using enum Filter;
using enum Effect;

inline FilterKnowledge knowledge() {
  FilterKnowledge known{.node_name = "edge-a", .master = MasterAddress{"169.254.2.1", 10268}};
  known.services = TopologyMap{{{"ns", "local"}, Topology::node}, {{"ns", "near"}, Topology::pool}};
  known.node_pool = "hangzhou";
  known.pool_nodes = std::set<std::string>{"edge-b"};
  return known;
}

inline FilterKnowledge knowing(const std::function<void(FilterKnowledge&)>& change) {
  FilterKnowledge known = knowledge();
  change(known);
  return known;
}

inline const FilterKnowledge no_services = knowing([](auto& known) { known.services.reset(); });
inline const FilterKnowledge no_node = knowing([](auto& known) { known.node_pool.reset(); });
inline const FilterKnowledge no_pool_nodes = knowing([](auto& known) { known.pool_nodes.reset(); });
inline const FilterKnowledge without_pool = knowing([](auto& known) { known.node_pool = ""; });
inline const FilterKnowledge pools_off = knowing([](auto& known) { known.pool_topology = false; });
inline const FilterKnowledge no_master = knowing([](auto& known) { known.master.reset(); });
inline const FilterKnowledge ipv6 = knowing([](auto& known) {
  known.master = MasterAddress{"fd00::2:1", 10268};
});
inline const FilterKnowledge known = knowledge();

// Makes the JSON of an object with more metadata than name and namespace, and more fields.
inline std::string object(const std::string& space, const std::string& name,
                          const std::string& metadata, const std::string& rest) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":")" + space +
         R"(","uid":"u","resourceVersion":"7")" + metadata + "}" + rest + "}";
}

inline std::string slice(const std::string& service, const std::string& endpoints) {
  const std::string label =
      service.empty() ? "" : R"(,"labels":{"kubernetes.io/service-name":")" + service + R"("})";
  return object("ns", "slice-x", label,
                R"(,"addressType":"IPv4","endpoints":)" + endpoints +
                    R"(,"ports":[{"name":"","protocol":"TCP","port":80}])");
}

inline std::string on(const std::string& node) {
  return R"({"addresses":["10.0.0.1"],"conditions":{"ready":true},"nodeName":")" + node + R"("})";
}
inline const std::string nowhere = R"({"addresses":["10.0.0.9"],"conditions":{}})";
inline const std::string all_endpoints =
    "[" + on("edge-a") + "," + on("edge-b") + "," + on("cloud") + "," + nowhere + "]";

inline std::string beta(const std::string& endpoints) {
  return object("ns", "slice-x", R"(,"labels":{"kubernetes.io/service-name":"local"})",
                R"(,"addressType":"IPv4","endpoints":)" + endpoints + R"(,"ports":[])");
}
inline std::string beta_on(const std::string& node) {
  return R"({"addresses":["10.0.0.1"],"conditions":{},"topology":{"kubernetes.io/hostname":")" +
         node + R"("}})";
}

inline std::string endpoints_of(const std::string& name, const std::string& subsets) {
  return object("ns", name, "", R"(,"subsets":)" + subsets);
}
inline std::string address(const std::string& node) {
  return R"({"ip":"10.0.0.1","nodeName":")" + node + R"("})";
}

inline std::string master(const std::string& ip, const std::string& port, const std::string& name) {
  return object("default", "kubernetes", "",
                R"(,"spec":{"ports":[{"name":")" + name + R"(","protocol":"TCP","port":)" + port +
                    R"(,"targetPort":6443}],"clusterIP":")" + ip + R"(","clusterIPs":[")" + ip +
                    R"("],"type":"ClusterIP"},"status":{"loadBalancer":{}})");
}

inline std::string master_slice(const std::string& family, const std::string& endpoints,
                                const std::string& port, const std::string& name = "https") {
  return object("default", "kubernetes", R"(,"labels":{"kubernetes.io/service-name":"kubernetes"})",
                R"(,"addressType":")" + family + R"(","endpoints":)" + endpoints +
                    R"(,"ports":[{"name":")" + name + R"(","protocol":"TCP","port":)" + port +
                    "}]");
}
inline const std::string to_cloud = R"([{"addresses":["10.1.0.1"],"conditions":{"ready":true}}])";
inline const std::string to_agent =
    R"([{"addresses":["169.254.2.1"],"conditions":{"ready":true}}])";

inline std::string service(const std::string& space, const std::string& name,
                           const std::string& type, const std::string& annotations) {
  return object(space, name, R"(,"annotations":{)" + annotations + "}",
                R"(,"spec":{"ports":[{"port":80,"targetPort":80}],"type":")" + type +
                    R"("},"status":{"loadBalancer":{}})");
}
inline std::string listens(const std::string& pools) {
  return service("ns", "web", "NodePort", R"("nodeport.openyurt.io/listen":")" + pools + R"(")");
}

inline std::string proxy_config(const std::string& name, const std::string& text) {
  return object("kube-system", name, "", R"(,"data":{"config.conf":")" + text + R"(","x":"y"})");
}

inline std::string pod(const std::string& list, const std::string& env) {
  const std::string container =
      R"([{"name":"c","image":"i","env":[)" + env + R"(],"resources":{}}])";
  const std::string others = list == "containers" ? "" : R"("containers":[],)";
  return object("ns", "p", "", R"(,"spec":{)" + others + "\"" + list + "\":" + container + "}");
}
inline std::string variable(const std::string& name, const std::string& value) {
  return R"({"name":")" + name + R"(","value":")" + value + R"("})";
}
inline const std::string from_field =
    R"({"name":"KUBERNETES_SERVICE_HOST","valueFrom":{"fieldRef":{"fieldPath":"status.hostIP"}}})";

struct Row {
  std::string name;
  Filter filter;
  std::string kind;  // kind and apiVersion, for protobuf
  std::string in;
  Effect effect = none;
  std::string out = {};  // for `changed`
  FilterKnowledge with = known;
  Need need = Need::services;  // for `unknown`
};

inline const std::string v1_slice = "EndpointSlice discovery.k8s.io/v1";

inline const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      // servicetopology
      {"node", service_topology, v1_slice, slice("local", all_endpoints), changed,
       slice("local", "[" + on("edge-a") + "]")},
      {"node, none here: an empty slice", service_topology, v1_slice,
       slice("local", "[" + on("cloud") + "]"), changed, slice("local", "[]")},
      {"node, all here", service_topology, v1_slice, slice("local", "[" + on("edge-a") + "]")},
      {"pool, this node is one of it", service_topology, v1_slice, slice("near", all_endpoints),
       changed, slice("near", "[" + on("edge-a") + "," + on("edge-b") + "]")},
      {"pool, of a node in none", service_topology, v1_slice, slice("near", all_endpoints), changed,
       slice("near", "[" + on("edge-a") + "]"), without_pool},
      {"pool, switched off", service_topology, v1_slice, slice("near", all_endpoints), none, "",
       pools_off},
      {"pool, its nodes are not known", service_topology, v1_slice, slice("near", all_endpoints),
       unknown, "", no_pool_nodes, Need::pool_nodes},
      {"pool, the node is not known", service_topology, v1_slice, slice("near", all_endpoints),
       unknown, "", no_node, Need::node},
      {"services are not known", service_topology, v1_slice, slice("other", all_endpoints), unknown,
       "", no_services, Need::services},
      {"a service without topology, or none", service_topology, v1_slice,
       slice("other", all_endpoints)},
      {"a slice without label", service_topology, v1_slice, slice("", all_endpoints)},
      {"the same without services", service_topology, v1_slice, slice("", all_endpoints), none, "",
       no_services},
      {"another namespace's service", service_topology, v1_slice,
       object("elsewhere", "s", R"(,"labels":{"kubernetes.io/service-name":"local"})",
              R"(,"addressType":"IPv4","endpoints":)" + all_endpoints + R"(,"ports":[])")},
      {"an old slice", service_topology, "EndpointSlice discovery.k8s.io/v1beta1",
       beta("[" + beta_on("edge-a") + "," + beta_on("cloud") + "]"), changed,
       beta("[" + beta_on("edge-a") + "]")},
      {"Endpoints", service_topology, "Endpoints v1",
       endpoints_of("local", R"([{"addresses":[)" + address("edge-a") + "," + address("cloud") +
                                 R"(],"notReadyAddresses":[)" + address("cloud") +
                                 R"(],"ports":[{"port":80}]},{"addresses":[)" + address("cloud") +
                                 R"(],"ports":[{"port":81}]}])"),
       changed,
       endpoints_of("local",
                    R"([{"addresses":[)" + address("edge-a") + R"(],"ports":[{"port":80}]}])")},
      {"Endpoints of another service", service_topology, "Endpoints v1",
       endpoints_of("other", R"([{"addresses":[)" + address("cloud") + "]}]")},

      // masterservice
      {"the API server's", master_service, "Service v1", master("10.96.0.1", "443", "https"),
       changed, master("169.254.2.1", "10268", "https")},
      {"already so", master_service, "Service v1", master("169.254.2.1", "10268", "https")},
      {"without a port https", master_service, "Service v1", master("10.96.0.1", "443", "web")},
      {"no address for pods", master_service, "Service v1", master("10.96.0.1", "443", "https"),
       none, "", no_master},
      {"of that name elsewhere", master_service, "Service v1",
       service("ns", "kubernetes", "ClusterIP", "")},

      // discardcloudservice
      {"a cloud's balancer", discard_cloud_service, "Service v1",
       service("ns", "lb", "LoadBalancer", R"("svc.openyurt.io/discard":"true")"), dropped},
      {"not said to be", discard_cloud_service, "Service v1",
       service("ns", "lb", "LoadBalancer", R"("svc.openyurt.io/discard":"yes")")},
      {"no balancer", discard_cloud_service, "Service v1",
       service("ns", "lb", "ClusterIP", R"("svc.openyurt.io/discard":"true")")},
      {"the tunnel's", discard_cloud_service, "Service v1",
       service("kube-system", "x-tunnel-server-internal-svc", "ClusterIP", ""), dropped},

      // inclusterconfig
      {"kube-proxy's", in_cluster_config, "ConfigMap v1",
       proxy_config("kube-proxy",
                    R"(clientConnection:\n  kubeconfig: /var/lib/kube-proxy/a:b.conf\nmode: \"\")"),
       changed,
       proxy_config(
           "kube-proxy",
           R"(clientConnection:\n  #kubeconfig: /var/lib/kube-proxy/a:b.conf\nmode: \"\")")},
      {"a comment already", in_cluster_config, "ConfigMap v1",
       proxy_config("kube-proxy", R"(  #kubeconfig: x\nmykubeconfig: y\n# kubeconfig: z)")},
      {"another one", in_cluster_config, "ConfigMap v1",
       proxy_config("kubelet", R"(kubeconfig: x\n)")},
      {"without the key", in_cluster_config, "ConfigMap v1",
       object("kube-system", "kube-proxy", "", R"(,"data":{"kubeconfig.conf":"kubeconfig: x"})")},

      // nodeportisolation
      {"this pool", node_port_isolation, "Service v1", listens("beijing, hangzhou")},
      {"other pools", node_port_isolation, "Service v1", listens("beijing,shanghai"), dropped},
      {"all", node_port_isolation, "Service v1", listens("*")},
      {"all but this", node_port_isolation, "Service v1", listens("*,-hangzhou"), dropped},
      {"all but this, said first", node_port_isolation, "Service v1", listens("-hangzhou,*"),
       dropped},
      {"the first word counts", node_port_isolation, "Service v1", listens("hangzhou,-hangzhou")},
      {"none", node_port_isolation, "Service v1", listens(""), dropped},
      {"nonsense", node_port_isolation, "Service v1", listens(", -,,--hangzhou"), dropped},
      {"a node in no pool", node_port_isolation, "Service v1", listens("beijing"), none, "",
       without_pool},
      {"the node is not known", node_port_isolation, "Service v1", listens("beijing"), unknown, "",
       no_node, Need::node},
      {"not annotated", node_port_isolation, "Service v1", service("ns", "w", "NodePort", ""), none,
       "", no_node},
      {"no node port", node_port_isolation, "Service v1",
       service("ns", "w", "ClusterIP", R"("nodeport.openyurt.io/listen":"beijing")")},

      // forwardkubesvctraffic
      {"to the agent", forward_kube_svc_traffic, v1_slice, master_slice("IPv4", to_cloud, "6443"),
       changed, master_slice("IPv4", to_agent, "10268")},
      {"to the agent already", forward_kube_svc_traffic, v1_slice,
       master_slice("IPv4", to_agent, "10268")},
      {"another family", forward_kube_svc_traffic, v1_slice,
       master_slice("IPv6", to_cloud, "6443")},
      {"another family than the agent's", forward_kube_svc_traffic, v1_slice,
       master_slice("IPv4", to_cloud, "6443"), none, "", ipv6},
      {"a slice without a port https", forward_kube_svc_traffic, v1_slice,
       master_slice("IPv4", to_cloud, "6443", "web")},
      {"another slice", forward_kube_svc_traffic, v1_slice, slice("kubernetes", to_cloud)},
      {"no address for pods to forward to", forward_kube_svc_traffic, v1_slice,
       master_slice("IPv4", to_cloud, "6443"), none, "", no_master},

      // serviceenvupdater
      {"both variables", service_env_updater, "Pod v1",
       pod("containers", variable("KUBERNETES_SERVICE_HOST", "10.96.0.1") + "," +
                             variable("A", "b") + "," + variable("KUBERNETES_SERVICE_PORT", "443")),
       changed,
       pod("containers", variable("KUBERNETES_SERVICE_HOST", "169.254.2.1") + "," +
                             variable("A", "b") + "," +
                             variable("KUBERNETES_SERVICE_PORT", "10268"))},
      {"an init container", service_env_updater, "Pod v1",
       pod("initContainers", variable("KUBERNETES_SERVICE_HOST", "10.96.0.1")), changed,
       pod("initContainers", variable("KUBERNETES_SERVICE_HOST", "169.254.2.1"))},
      {"from elsewhere", service_env_updater, "Pod v1", pod("containers", from_field), changed,
       pod("containers", variable("KUBERNETES_SERVICE_HOST", "169.254.2.1"))},
      {"none of them", service_env_updater, "Pod v1",
       pod("containers", variable("KUBERNETES_SERVICE_HOSTS", "x"))},
      {"right already", service_env_updater, "Pod v1",
       pod("containers", variable("KUBERNETES_SERVICE_HOST", "169.254.2.1"))},
  };
  return all;
}

}  // namespace holdfast::sync::filters::cases
