#include "sync/runtime/launch_plan.h"

#include "sync/wire/codec.h"
#include "test/unit/sync/runtime/pods.h"

namespace holdfast::sync::runtime {
namespace {

const NodeFacts node{.node_name = "edge-a", .host_ip = "192.0.2.1", .pod_ip = "127.0.0.1"};

const std::string path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

test::FakeConfigs configs() {
  test::FakeConfigs made;
  made.config_maps["ns/settings"] = StringMap{{"color", "blue"}, {"size", "$(A)"}, {"b=d", "x"}};
  made.config_maps["ns/missing"] = std::nullopt;
  made.secrets["ns/token"] = StringMap{{"user", "me"}, {"nul", std::string("a\0b", 3)}};
  made.secrets["ns/missing"] = std::nullopt;
  return made;
}

// The container's fields as JSON, in a pod "ns/web".
std::shared_ptr<Pod> pod_with(const std::string& container) {
  return test::pod_from(
      R"({"metadata":{"namespace":"ns","name":"web","uid":"u1","labels":{"app":"shop"},
          "annotations":{"a/b":"note"}},
          "spec":{"serviceAccountName":"robot","containers":[{"name":"c",)" +
      container + "}]}}");
}

Result<LaunchPlan> plan_of(const std::string& container) {
  const auto pod = pod_with(container);
  return make_launch_plan(*pod, pod->spec.containers.front(), node, configs());
}

TEST(LaunchPlan, ArgumentsAndVariables) {
  const struct {
    std::string container;
    std::vector<std::string> argv;
    std::vector<std::string> env;  // after PATH and HOSTNAME
  } rows[] = {
      {R"("command":["sleep"],"args":["1000"])", {"sleep", "1000"}, {}},
      {R"j("command":["sh","-c","echo $(A) $(B) $$(A) $(HOSTNAME)"],
          "env":[{"name":"A","value":"1"},{"name":"B","value":"$(A)2"},{"name":"A","value":"3"}])j",
       {"sh", "-c", "echo 3 12 $(A) $(HOSTNAME)"},
       {"A=3", "B=12"}},
      {R"j("command":["x"],"envFrom":[{"configMapRef":{"name":"settings"},"prefix":"P_"},
          {"secretRef":{"name":"missing","optional":true}}],
          "env":[{"name":"A","value":"$(P_color)"},{"name":"P_color","value":"red"}])j",
       {"x"},
       {"P_color=red", "P_size=$(A)", "A=$(P_color)"}},
      {R"("command":["x"],"env":[
          {"name":"C","valueFrom":{"configMapKeyRef":{"name":"settings","key":"color"}}},
          {"name":"U","valueFrom":{"secretKeyRef":{"name":"token","key":"user"}}},
          {"name":"N","valueFrom":{"configMapKeyRef":{"name":"missing","key":"k","optional":true}}},
          {"name":"K","valueFrom":{"secretKeyRef":{"name":"token","key":"k","optional":true}}}])",
       {"x"},
       {"C=blue", "U=me"}},
      {R"("command":["x"],"env":[
          {"name":"F1","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
          {"name":"F2","valueFrom":{"fieldRef":{"fieldPath":"metadata.namespace"}}},
          {"name":"F3","valueFrom":{"fieldRef":{"fieldPath":"metadata.uid"}}},
          {"name":"F4","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}},
          {"name":"F5","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}},
          {"name":"F6","valueFrom":{"fieldRef":{"fieldPath":"status.hostIP"}}},
          {"name":"F7","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['app']"}}},
          {"name":"F8","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['a/b']"}}},
          {"name":"F9","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['none']"}}},
          {"name":"FA","valueFrom":{"fieldRef":{"fieldPath":"spec.serviceAccountName"}}}])",
       {"x"},
       {"F1=web", "F2=ns", "F3=u1", "F4=edge-a", "F5=127.0.0.1", "F6=192.0.2.1", "F7=shop",
        "F8=note", "F9=", "FA=robot"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.container);
    const auto plan = plan_of(row.container);
    ASSERT_TRUE(plan) << plan.error().what;
    std::vector<std::string> env = {path, "HOSTNAME=web"};
    env.insert(env.end(), row.env.begin(), row.env.end());
    EXPECT_EQ(*plan, (LaunchPlan{row.argv, env, ""}));
  }
}

TEST(LaunchPlan, ThePodsOwnWordWins) {
  const auto plan = plan_of(
      R"("command":["x"],"workingDir":"/tmp",
         "env":[{"name":"PATH","value":"/opt"},{"name":"HOSTNAME","value":"h"}])");
  ASSERT_TRUE(plan);
  EXPECT_EQ(*plan, (LaunchPlan{{"x"}, {"PATH=/opt", "HOSTNAME=h"}, "/tmp"}));
}

TEST(LaunchPlan, WhatCannotStartSaysWhy) {
  const std::string env = R"("command":["x"],"env":[{"name":"V","valueFrom":)";
  const std::string from = R"("command":["x"],"envFrom":[)";
  const struct {
    std::string container;
    Errc code;
    std::string what;
  } rows[] = {
      {R"("args":["1000"])", Errc::invalid,
       "the process runtime needs spec.containers[].command: container \"c\" has none, and "
       "there is no image to provide one"},
      {R"("command":[""])", Errc::invalid, "container \"c\": its command is an empty text"},
      {R"("command":["a\u0000b"])", Errc::invalid,
       "container \"c\": an argument, variable or directory holds a NUL character"},
      {env + R"({"secretKeyRef":{"name":"token","key":"nul"}}}])", Errc::invalid,
       "container \"c\": an argument, variable or directory holds a NUL character"},
      {env + R"({"configMapKeyRef":{"name":"missing","key":"k"}}}])", Errc::not_found,
       "configmap \"missing\" not found"},
      {env + R"({"configMapKeyRef":{"name":"settings","key":"k"}}}])", Errc::not_found,
       "couldn't find key k in ConfigMap ns/settings"},
      {env + R"({"secretKeyRef":{"name":"missing","key":"k"}}}])", Errc::not_found,
       "secret \"missing\" not found"},
      {env + R"({"secretKeyRef":{"name":"token","key":"k"}}}])", Errc::not_found,
       "couldn't find key k in Secret ns/token"},
      {env + R"({"secretKeyRef":{"name":"unheard","key":"k","optional":true}}}])",
       Errc::unavailable, "failed to sync secret cache: timed out waiting for the condition"},
      {env + R"({"fieldRef":{"fieldPath":"status.phase"}}}])", Errc::invalid,
       "unsupported fieldPath: status.phase"},
      {env + R"({"fieldRef":{"fieldPath":"metadata.labels['"}}}])", Errc::invalid,
       "unsupported fieldPath: metadata.labels['"},
      {env + R"({"resourceFieldRef":{"resource":"limits.cpu"}}}])", Errc::invalid,
       "the process runtime cannot read valueFrom of variable V"},
      {from + R"({"configMapRef":{"name":"missing"}}])", Errc::not_found,
       "configmap \"missing\" not found"},
      {from + R"({"secretRef":{"name":"unheard"}}])", Errc::unavailable,
       "failed to sync secret cache: timed out waiting for the condition"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.container);
    const auto plan = plan_of(row.container);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, row.code);
    EXPECT_EQ(plan.error().what, row.what);
  }
}

}  // namespace
}  // namespace holdfast::sync::runtime
