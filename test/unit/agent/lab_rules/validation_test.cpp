// Objects that are refused, with upstream's messages.

#include "agent/lab/rules/validation.h"

#include <boost/json.hpp>

#include "agent/lab/rules/decode.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

struct ValidationCase {
  std::string name;
  std::string group;
  std::string kind;
  std::string given;
  std::vector<std::string> errors;
};

std::vector<std::string> texts(const sync::wire::FieldErrors& errors) {
  std::vector<std::string> all;
  for (const sync::wire::FieldError& error : errors) all.push_back(error.text());
  return all;
}

class ValidationCases : public testing::TestWithParam<ValidationCase> {};

TEST_P(ValidationCases, SayWhatIsWrong) {
  const ValidationCase& c = GetParam();
  const sync::printing::Resource* resource = sync::printing::find_kind(c.group, c.kind);
  ASSERT_NE(resource, nullptr);
  const json::object object = canonical(*resource, json::parse(c.given).as_object());
  EXPECT_EQ(texts(validate(*resource, object)), c.errors);
}

const ValidationCase validation_cases[] = {
    {"fine", "", "ConfigMap", R"({"metadata":{"name":"c","namespace":"n"},"data":{"k":"v"}})", {}},
    {"no_name",
     "",
     "ConfigMap",
     R"({"metadata":{"namespace":"n"}})",
     {"metadata.name: Required value: name or generateName is required"}},
    {"cluster_scoped",
     "",
     "Node",
     R"({"metadata":{"name":"n","namespace":"x"}})",
     {"metadata.namespace: Forbidden: not allowed on this type"}},
    {"bad_label",
     "",
     "Node",
     R"({"metadata":{"name":"n","labels":{"a":"b c"}}})",
     {R"(metadata.labels: Invalid value: "b c": a valid label must be an empty string or consist )"
      R"(of alphanumeric characters, '-', '_' or '.', and must start and end with an )"
      R"(alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for )"
      R"(validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'))"}},
    {"owner",
     "",
     "Node",
     R"({"metadata":{"name":"n","ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o"}]}})",
     {R"(metadata.ownerReferences[0].uid: Invalid value: "": uid must not be empty)"}},
    {"taints",
     "",
     "Node",
     R"({"metadata":{"name":"n"},"spec":{"taints":[{"key":"k","effect":"Later"},{"key":"j"}]}})",
     {R"(metadata.taints[0].effect: Unsupported value: "Later": supported values: "NoSchedule", )"
      R"("PreferNoSchedule", "NoExecute")",
      "metadata.taints[1].effect: Required value"}},
    {"pod",
     "",
     "Pod",
     R"({"metadata":{"name":"p","namespace":"n"},"spec":{"restartPolicy":"Sometimes",)"
     R"("tolerations":[{"operator":"Equal"}],"containers":[{"name":"c","image":"x",)"
     R"("ports":[{"containerPort":70000}],"env":[{"value":"v"}],)"
     R"("volumeMounts":[{"name":"v","mountPath":"/v"}]}]}})",
     {"spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and "
      "65535, inclusive",
      "spec.containers[0].env[0].name: Required value",
      R"(spec.containers[0].volumeMounts[0].name: Not found: "v")",
      R"(spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", )"
      R"("OnFailure", "Never")",
      R"(spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` )"
      R"(is empty, which means "match all values and all keys")"}},
    {"lease",
     "coordination.k8s.io",
     "Lease",
     R"({"metadata":{"name":"l","namespace":"n"},"spec":{"leaseDurationSeconds":0}})",
     {"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"}},
    {"service",
     "",
     "Service",
     R"({"metadata":{"name":"s","namespace":"n"},"spec":{"clusterIP":"10.0.0.1"}})",
     {"spec.ports: Required value"}},
    {"no_selector",
     "apps",
     "ReplicaSet",
     R"({"metadata":{"name":"r","namespace":"n"},"spec":{"replicas":-1,"template":{"spec":)"
     R"({"containers":[{"name":"c","image":"x"}]}}}})",
     {"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
      "spec.selector: Required value"}},
    {"never_restarting_deployment",
     "apps",
     "Deployment",
     R"({"metadata":{"name":"d","namespace":"n"},"spec":{"selector":{"matchLabels":{"a":"b"}},)"
     R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never",)"
     R"("containers":[{"name":"c","image":"x"}]}}}})",
     {R"(spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: )"
      R"("Always")"}},
    {"budget",
     "policy",
     "PodDisruptionBudget",
     R"({"metadata":{"name":"b","namespace":"n"},"spec":{"minAvailable":1,"maxUnavailable":1}})",
     {R"(spec: Invalid value: {"minAvailable":1,"maxUnavailable":1}: minAvailable and )"
      R"(maxUnavailable cannot be both set)"}},
    {"event_of_another_namespace",
     "",
     "Event",
     R"({"metadata":{"name":"e","namespace":"n"},"involvedObject":{"namespace":"m"}})",
     {R"(involvedObject.namespace: Invalid value: "m": does not match event.namespace)"}},
};

INSTANTIATE_TEST_SUITE_P(, ValidationCases, testing::ValuesIn(validation_cases),
                         [](const auto& c) { return c.param.name; });

struct UpdateCase {
  std::string name;
  std::string group;
  std::string kind;
  std::string before;
  std::string after;
  std::vector<std::string> errors;
};

class UpdateCases : public testing::TestWithParam<UpdateCase> {};

TEST_P(UpdateCases, SayWhatMayNotChange) {
  const UpdateCase& c = GetParam();
  const sync::printing::Resource* resource = sync::printing::find_kind(c.group, c.kind);
  ASSERT_NE(resource, nullptr);
  const json::object before = canonical(*resource, json::parse(c.before).as_object());
  const json::object after = canonical(*resource, json::parse(c.after).as_object());
  EXPECT_EQ(texts(validate_update(*resource, after, before)), c.errors);
}

const UpdateCase update_cases[] = {
    {"image",
     "",
     "Pod",
     R"({"spec":{"containers":[{"name":"c","image":"x:1"}]}})",
     R"({"spec":{"containers":[{"name":"c","image":"x:2"}]}})",
     {}},
    {"more_containers",
     "",
     "Pod",
     R"({"spec":{"containers":[{"name":"c"}]}})",
     R"({"spec":{"containers":[{"name":"c"},{"name":"d"}]}})",
     {"spec.containers: Forbidden: pod updates may not add or remove containers"}},
    {"fewer_tolerations",
     "",
     "Pod",
     R"({"spec":{"tolerations":[{"key":"k"}]}})",
     R"({"spec":{}})",
     {"spec.tolerations: Forbidden: existing toleration can not be modified except its "
      "tolerationSeconds"}},
    {"selector",
     "apps",
     "Deployment",
     R"({"spec":{"selector":{"matchLabels":{"a":"b"}}}})",
     R"({"spec":{"selector":{"matchLabels":{"a":"c"}}}})",
     {R"(spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"a":"c"}, )"
      R"(MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable)"}},
    {"immutable_data",
     "",
     "ConfigMap",
     R"({"immutable":true,"data":{"a":"1"}})",
     R"({"data":{"a":"2"}})",
     {"data: Forbidden: field is immutable when `immutable` is set",
      "immutable: Forbidden: field is immutable when `immutable` is set"}},
    {"secret_type",
     "",
     "Secret",
     R"({"type":"a"})",
     R"({"type":"b"})",
     {R"(type: Invalid value: "b": field is immutable)"}},
    {"pod_cidr",
     "",
     "Node",
     R"({"spec":{"podCIDR":"10.1.0.0/24"}})",
     R"({"spec":{"podCIDR":"10.2.0.0/24"}})",
     {R"(spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid)"}},
    {"cluster_ip",
     "",
     "Service",
     R"({"spec":{"clusterIP":"10.0.0.1"}})",
     R"({"spec":{"clusterIP":"10.0.0.2"}})",
     {R"(spec.clusterIP: Invalid value: "10.0.0.2": field is immutable)"}},
};

INSTANTIATE_TEST_SUITE_P(, UpdateCases, testing::ValuesIn(update_cases),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace holdfast::agent::lab
