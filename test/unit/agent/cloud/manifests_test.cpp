// The manifests in cross/k8s are consistent with each other and with the program's flags.

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "agent/cloud/settings.h"

namespace holdfast::agent {
namespace {

const std::filesystem::path folder = std::string(HOLDFAST_SOURCE_ROOT) + "/cross/k8s";

std::map<std::string, YAML::Node> documents_of(const std::string& file) {
  std::map<std::string, YAML::Node> found;
  for (const YAML::Node& document : YAML::LoadAllFromFile((folder / file).string())) {
    const std::string kind = document["kind"].as<std::string>();
    found.emplace(kind, document);
    EXPECT_EQ(document["metadata"]["name"].as<std::string>(), "holdfast-cloud") << file << kind;
    EXPECT_FALSE(document["apiVersion"].as<std::string>().empty());
  }
  return found;
}

TEST(Manifests, TheDeploymentRunsTheProgramWithFlagsThatItHas) {
  const YAML::Node spec = documents_of("cloud.yaml").at("Deployment")["spec"];
  EXPECT_EQ(spec["replicas"].as<int>(), 2);
  const YAML::Node container = spec["template"]["spec"]["containers"][0];
  auto words = container["command"].as<std::vector<std::string>>();
  for (const auto& word : container["args"].as<std::vector<std::string>>()) words.push_back(word);
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  CloudSettings settings;
  config::Options options("holdfast-cloud", "");
  add_options(options, settings);
  const auto parsed = options.parse(static_cast<int>(argv.size()), argv.data());
  ASSERT_TRUE(parsed) << parsed.error().what;
  EXPECT_TRUE(plan_of(settings));
  EXPECT_EQ(settings.kubeconfig, "") << "the pod's own account is used";
  EXPECT_EQ(settings.endpoints.secure_port, container["ports"][0]["containerPort"].as<int>());
}

TEST(Manifests, WhatBelongsTogetherIsSelected) {
  auto cloud = documents_of("cloud.yaml");
  const YAML::Node labels = cloud.at("Deployment")["spec"]["template"]["metadata"]["labels"];
  const std::string name = "app.kubernetes.io/name";
  const YAML::Node selectors[] = {
      cloud.at("Deployment")["spec"]["selector"]["matchLabels"],
      cloud.at("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
      cloud.at("Service")["spec"]["selector"]};
  for (const YAML::Node& selector : selectors) {
    EXPECT_EQ(selector[name].as<std::string>(), labels[name].as<std::string>());
  }
  const YAML::Node monitor = documents_of("cloud-monitor.yaml").at("ServiceMonitor")["spec"];
  EXPECT_EQ(monitor["selector"]["matchLabels"][name].as<std::string>(),
            cloud.at("Service")["metadata"]["labels"][name].as<std::string>());
  EXPECT_EQ(monitor["endpoints"][0]["port"].as<std::string>(),
            cloud.at("Service")["spec"]["ports"][0]["name"].as<std::string>());
}

TEST(Manifests, RightsAreBoundToTheAccountThatRuns) {
  const auto account = documents_of("cloud.yaml")
                           .at("Deployment")["spec"]["template"]["spec"]["serviceAccountName"]
                           .as<std::string>();
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string file_name = file.path().filename().string();
    if (!file_name.starts_with("cloud-rbac")) continue;
    SCOPED_TRACE(file_name);
    std::set<std::string> roles;
    std::set<std::string> bound;
    for (const YAML::Node& one : YAML::LoadAllFromFile(file.path().string())) {
      const std::string kind = one["kind"].as<std::string>();
      const YAML::Node space = one["metadata"]["namespace"];
      const std::string where = space ? space.as<std::string>() + "/" : "";
      const std::string name = where + one["metadata"]["name"].as<std::string>();
      if (kind == "Role" || kind == "ClusterRole") roles.insert(name);
      if (kind != "RoleBinding" && kind != "ClusterRoleBinding") continue;
      EXPECT_EQ(one["subjects"][0]["name"].as<std::string>(), account);
      EXPECT_EQ(one["roleRef"]["kind"].as<std::string>() + "Binding", kind);
      bound.insert(where + one["roleRef"]["name"].as<std::string>());
    }
    EXPECT_EQ(bound, roles);
    EXPECT_FALSE(roles.empty());
  }
}

// The first line of a feature's file names the feature, as README.md says.
TEST(Manifests, EachFeaturesRightsSayWhatTheyAreFor) {
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (!name.starts_with("cloud-rbac-")) continue;
    std::ifstream in(file.path());
    std::string line;
    std::getline(in, line);
    EXPECT_TRUE(line.starts_with("# With ")) << name << ": " << line;
  }
}

TEST(Manifests, ThePodsRunOnTheControlPlaneAndNotWithoutTheirCertificate) {
  const YAML::Node pod = documents_of("cloud.yaml").at("Deployment")["spec"]["template"]["spec"];
  EXPECT_TRUE(pod["nodeSelector"]["node-role.kubernetes.io/control-plane"]);
  ASSERT_EQ(pod["volumes"].size(), 1u);
  const YAML::Node secret = pod["volumes"][0]["secret"];
  EXPECT_EQ(secret["secretName"].as<std::string>(), "holdfast-cloud-tls");
  EXPECT_FALSE(secret["optional"]);
}

TEST(Manifests, HealthAndMetricsAreServedOverTlsOnly) {
  auto cloud = documents_of("cloud.yaml");
  const YAML::Node container = cloud.at("Deployment")["spec"]["template"]["spec"]["containers"][0];
  const auto args = container["args"].as<std::vector<std::string>>();
  EXPECT_EQ(std::count(args.begin(), args.end(), "--allow-insecure-bind"), 0);
  for (const char* probe : {"livenessProbe", "readinessProbe"}) {
    EXPECT_EQ(container[probe]["httpGet"]["scheme"].as<std::string>(), "HTTPS");
  }
  const YAML::Node monitor = documents_of("cloud-monitor.yaml").at("ServiceMonitor")["spec"];
  EXPECT_EQ(monitor["endpoints"][0]["scheme"].as<std::string>(), "https");
}

TEST(Manifests, TheNetworkPolicySelectsThePods) {
  auto cloud = documents_of("cloud.yaml");
  const YAML::Node spec = documents_of("cloud-network.yaml").at("NetworkPolicy")["spec"];
  const YAML::Node labels = cloud.at("Deployment")["spec"]["template"]["metadata"]["labels"];
  const std::string name = "app.kubernetes.io/name";
  EXPECT_EQ(spec["podSelector"]["matchLabels"][name].as<std::string>(),
            labels[name].as<std::string>());
  const YAML::Node container = cloud.at("Deployment")["spec"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(spec["ingress"][0]["ports"][0]["port"].as<int>(),
            container["ports"][0]["containerPort"].as<int>());
  ASSERT_EQ(spec["ingress"].size(), 1u);
  ASSERT_EQ(spec["ingress"][0]["from"].size(), 1u);
  EXPECT_TRUE(spec["ingress"][0]["from"][0]["namespaceSelector"]);
  const auto types = spec["policyTypes"].as<std::vector<std::string>>();
  EXPECT_EQ(types, (std::vector<std::string>{"Ingress", "Egress"}));
  ASSERT_EQ(spec["egress"].size(), 1u);
  std::set<int> ports;
  for (const YAML::Node& each : spec["egress"][0]["ports"]) ports.insert(each["port"].as<int>());
  EXPECT_EQ(ports, (std::set<int>{443, 6443}));
}

}  // namespace
}  // namespace holdfast::agent
