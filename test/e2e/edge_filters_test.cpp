// The components of an OpenYurt node as callers of a real agent: each one reads only the objects
// meant for it. The admin listener upgrades pods.

#include <fstream>

#include "platform/fs/file.h"
#include "test/e2e/edge_bench.h"

namespace holdfast::test {
namespace {

using http::Method;

const std::string proxy = "kube-proxy/v1.32.4 (linux/amd64) kubernetes/59526cd";
const std::string kubelet = "kubelet/v1.32.4 (linux/amd64) kubernetes/59526cd";
const std::string kubectl = "kubectl/v1.32.4 (linux/amd64) kubernetes/59526cd";

const std::string ns_services = "/api/v1/namespaces/ns/services";
const std::string services = "/api/v1/services?resourceVersion=0";
const std::string slices = "/apis/discovery.k8s.io/v1/endpointslices?resourceVersion=0";

class EdgeFilters : public ::testing::Test, public EdgeBench {
 protected:
  void SetUp() override {
    start_server();
    make_node();
    std::filesystem::create_directory(manifests());
  }

  void start() {
    start_agent({"--secure-listen=169.254.2.1:10268", "--nodepool-name=hangzhou",
                 "--static-pod-path=" + manifests().string()});
    ASSERT_TRUE(wait_for_link("connected"));
  }

  [[nodiscard]] std::filesystem::path manifests() const { return dir() / "manifests"; }

  void on_server(Method method, const std::string& target, const std::string& body) {
    const Answer done = ask_server({.method = method, .target = target, .body = body});
    ASSERT_EQ(done.status / 100, 2) << target << " " << done.body;
  }

  // OpenYurt binds roles for these ConfigMaps to the group system:nodes. The lab has no RBAC, but a
  // node may read what its pods refer to, so a pod refers to them.
  void let_node_read(const std::string& name_space, const std::string& configmap) {
    on_server(Method::post, "/api/v1/namespaces/" + name_space + "/pods",
              R"({"metadata":{"name":"reader"},"spec":{"nodeName":"edge-a","containers":[{)"
              R"("name":"c","image":"i"}],"volumes":[{"name":"v","configMap":{"name":")" +
                  configmap + R"("}}]}})");
  }

  void make_service(const std::string& name, const std::string& annotations) {
    on_server(Method::post, ns_services,
              R"({"metadata":{"name":")" + name + R"(","annotations":{)" + annotations +
                  R"(}},"spec":{"type":"NodePort","ports":[{"port":80}]}})");
  }

  // Reads as a component with its own token; the kubelet reads as the node. A node may not list
  // EndpointSlices, Secrets or ConfigMaps.
  Answer as(const std::string& user_agent, const std::string& target) {
    const std::string token = user_agent == kubelet ? "" : admin_token;
    return ask(agent_port, {.target = target, .bearer = token, .user_agent = user_agent});
  }

  // The names in a list, "a b", or the status if it is not 200.
  std::string names(const std::string& user_agent, const std::string& target) {
    const Answer answer = as(user_agent, target);
    if (answer.status != 200) return std::to_string(answer.status);
    const json::value list = answer.value();
    std::string found;
    for (const json::value& item : list.at("items").as_array()) {
      found += (found.empty() ? "" : " ") + text_in(item, {"metadata", "name"});
    }
    return found;
  }

  void make_owned_pod(const std::string& name, const std::string& owner) {
    make_pod(name);
    on_server(Method::patch, pod_path(name),
              R"({"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":")" + owner +
                  R"(","name":"o","uid":"u","controller":true}]}})");
    on_server(Method::patch, pod_path(name) + "/status",
              R"({"status":{"conditions":[{"type":"PodNeedUpgrade","status":"True",)"
              R"("message":"controllerrevision: abc"}]}})");
  }

  Answer ota(const std::string& pod, const std::string& action, const std::string& token = {}) {
    return ask(admin_port, {.method = Method::post,
                            .target = "/openyurt.io/v1/namespaces/ns/pods/" + pod + "/" + action,
                            .bearer = token});
  }
};

TEST_F(EdgeFilters, EachComponentIsShownWhatIsMeantForIt) {
  start();
  make_service("here", R"("nodeport.openyurt.io/listen":"hangzhou")");
  make_service("elsewhere", R"("nodeport.openyurt.io/listen":"beijing")");
  make_service("local", R"("openyurt.io/topologyKeys":"kubernetes.io/hostname")");
  on_server(Method::post, "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices",
            R"({"metadata":{"name":"s","labels":{"kubernetes.io/service-name":"local"}},)"
            R"("addressType":"IPv4","ports":[{"name":"","port":80}],"endpoints":[)"
            R"({"addresses":["10.0.0.1"],"nodeName":"edge-a","conditions":{}},)"
            R"({"addresses":["10.0.0.2"],"nodeName":"cloud","conditions":{}}]})");
  on_server(Method::post, "/api/v1/namespaces/ns/pods",
            R"({"metadata":{"name":"p"},"spec":{"nodeName":"edge-a","containers":[{"name":"c",)"
            R"("image":"i","env":[{"name":"KUBERNETES_SERVICE_HOST","value":"10.96.0.1"}]}]}})");
  const auto check = [this] {
    EXPECT_TRUE(eventually(20s, [this] { return names(proxy, services) == "here local"; }))
        << names(proxy, services);
    EXPECT_TRUE(eventually(20s, [this] {
      const Answer answer = as(proxy, slices);
      return answer.status == 200 && answer.body.find("10.0.0.1") != std::string::npos &&
             answer.body.find("10.0.0.2") == std::string::npos;
    })) << as(proxy, slices).body;
    const Answer pods = as(kubelet, node_pods + "&resourceVersion=0");
    EXPECT_NE(pods.body.find("169.254.2.1"), std::string::npos) << pods.body;
    EXPECT_EQ(names(kubelet, services), "elsewhere here local");
  };
  check();
  EXPECT_EQ(names(kubectl, services), "elsewhere here local");
  Watch watch(agent_port, services + "&watch=true", proxy);
  ASSERT_EQ(watch.opened().status, 200) << watch.opened().body;
  for (const char* name : {"here", "local"}) {
    const auto event = watch.next();
    ASSERT_TRUE(event) << name;
    EXPECT_EQ(event->text({"metadata", "name"}), name);
  }
  const auto listen = [this](const std::string& name, const std::string& pools) {
    on_server(Method::patch, ns_services + "/" + name,
              R"({"metadata":{"annotations":{"nodeport.openyurt.io/listen":")" + pools + R"("}}})");
  };
  listen("elsewhere", "shanghai");
  listen("elsewhere", "*");
  listen("here", "beijing");
  const auto back = watch.next_change();
  ASSERT_TRUE(back);
  EXPECT_EQ(back->type + " " + back->text({"metadata", "name"}), "ADDED elsewhere");
  const auto gone = watch.next_change();
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->type + " " + gone->text({"metadata", "name"}), "DELETED here");
  listen("elsewhere", "beijing");
  listen("here", "hangzhou");
  // Once the watch has told of them, the cache has both changes.
  for (const char* change : {"DELETED elsewhere", "ADDED here"}) {
    const auto event = watch.next_change();
    ASSERT_TRUE(event) << change;
    EXPECT_EQ(event->type + " " + event->text({"metadata", "name"}), change);
  }
  ASSERT_TRUE(eventually(20s, [this] { return names(proxy, services) == "here local"; }));
  server->kill();
  ASSERT_TRUE(wait_for_link("offline"));
  check();
  agent->kill();
  launch_agent({"--secure-listen=169.254.2.1:10268", "--nodepool-name=hangzhou"});
  ASSERT_TRUE(eventually(20s, [this] { return agent_ready(); }));
  check();
}

TEST_F(EdgeFilters, TheConfigMapCountsWhileTheAgentRuns) {
  let_node_read("kube-system", "yurt-hub-cfg");
  start();
  make_service("elsewhere", R"("nodeport.openyurt.io/listen":"beijing")");
  EXPECT_EQ(names("my-proxy/1.0", services), "elsewhere");
  const std::string configmaps = "/api/v1/namespaces/kube-system/configmaps";
  on_server(Method::post, configmaps,
            R"({"metadata":{"name":"yurt-hub-cfg"},"data":{"cache_agents":"my-proxy",)"
            R"("nodeportisolation":"my-proxy,no/name"}})");
  EXPECT_TRUE(eventually(20s, [this] { return names("my-proxy/1.0", services).empty(); }));
  on_server(Method::remove, configmaps + "/yurt-hub-cfg", "");
  EXPECT_TRUE(eventually(20s, [this] { return names("my-proxy/1.0", services) == "elsewhere"; }));
}

TEST_F(EdgeFilters, PodsAreUpgradedOverTheAir) {
  start();
  make_owned_pod("daemon", "DaemonSet");
  make_owned_pod("static", "Node");
  make_owned_pod("replica", "ReplicaSet");
  make_pod("current");
  EXPECT_EQ(get(admin_port, "/pods").status, 503) << "a list that was never received is not empty";
  warm({node_pods});
  const Answer pods = get(admin_port, "/pods");
  EXPECT_EQ(pods.text({"kind"}), "PodList");
  EXPECT_EQ(pods.value().at("items").as_array().size(), 4u);

  EXPECT_EQ(ota("static", "upgrade").status, 400);
  EXPECT_EQ(ota("replica", "upgrade").status, 400);
  EXPECT_EQ(ota("current", "upgrade").status, 403);
  EXPECT_EQ(ota("absent", "upgrade").status, 403) << "a node may not read other pods";
  EXPECT_EQ(ota("absent", "upgrade", admin_token).status, 404);
  EXPECT_EQ(ota("daemon", "downgrade").status, 404);
  EXPECT_EQ(get(admin_port, "/openyurt.io/v1/namespaces/ns/pods/daemon/upgrade").status, 405);

  const Answer pulled = ota("daemon", "imagepull");
  EXPECT_EQ(pulled.status, 200) << pulled.body;
  const Answer waiting = ota("daemon", "upgrade");
  EXPECT_EQ(waiting.status, 403);
  EXPECT_NE(waiting.body.find("images are not ready"), std::string::npos) << waiting.body;
  on_server(Method::patch, pod_path("daemon") + "/status",
            R"({"status":{"conditions":[{"type":"PodImageReady","status":"True",)"
            R"("message":"controllerrevision: abc"}]}})");
  const Answer begun = ota("daemon", "upgrade");
  EXPECT_EQ(begun.status, 200) << begun.body;
  EXPECT_EQ(begun.body, "Start updating pod ns/daemon\n");
  const Answer left = get_on_server(pod_path("daemon"));
  EXPECT_TRUE(left.status == 404 || !left.text({"metadata", "deletionTimestamp"}).empty());

  const std::string metrics = get(admin_port, "/metrics").body;
  EXPECT_NE(metrics.find("node_yurthub_proxy_traffic_collector{client=\"kubelet\""),
            std::string::npos);
  server->kill();
  ASSERT_TRUE(wait_for_link("offline"));
  EXPECT_EQ(ota("static", "upgrade").status, 503);
  EXPECT_EQ(get(admin_port, "/pods").status, 200);
}

TEST_F(EdgeFilters, StaticPodsAreUpgradedOverTheAir) {
  let_node_read("ns", "yurt-static-set-nginx");
  start();
  const auto manifest = [](const std::string& image) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: nginx, namespace: ns}\n"
           "spec: {containers: [{name: c, image: " +
           image + "}]}\n";
  };
  const auto file = manifests() / "nginx.yaml";
  const auto on_disk = [&file] { return fs::read_all(file, 1 << 20).value_or(""); };
  std::ofstream(file) << manifest("i1");
  make_owned_pod("nginx-edge-a", "Node");
  EXPECT_EQ(ota("nginx-edge-a", "upgrade").status, 403) << "without a ConfigMap";
  const std::string maps = "/api/v1/namespaces/ns/configmaps";
  const auto put = [this, &maps](const std::string& key, const std::string& text) {
    const std::string data = sync::wire::serialize(json::object{{key, text}});
    on_server(Method::post, maps,
              R"({"metadata":{"name":"yurt-static-set-nginx"},"data":)" + data + "}");
  };
  const std::string map = maps + "/yurt-static-set-nginx";
  put("nginx", "kind: Pod");
  const Answer bad = ota("nginx-edge-a", "upgrade");
  EXPECT_EQ(bad.status, 422) << bad.body;
  EXPECT_NE(bad.body.find("the next manifest"), std::string::npos) << bad.body;
  on_server(Method::remove, map, "");
  put("nginx", manifest("i2"));
  EXPECT_EQ(ota("nginx-edge-a", "upgrade", admin_token).status, 403)
      << "only root may upgrade static pods";
  EXPECT_EQ(ota("nginx-edge-a", "upgrade", "made-up").status, 401);
  EXPECT_EQ(on_disk(), manifest("i1"));
  const Answer begun = ota("nginx-edge-a", "upgrade");
  EXPECT_EQ(begun.status, 200) << begun.body;
  EXPECT_EQ(begun.body, "Start updating pod ns/nginx-edge-a\n");
  EXPECT_EQ(on_disk(), manifest("i2"));
  EXPECT_EQ(fs::read_all(agent_dir() / "static-pods/nginx.yaml.bak", 1 << 20).value_or(""),
            manifest("i1"));
}

}  // namespace
}  // namespace holdfast::test
