// Statuses that a kube-apiserver 1.36.2 refuses or accepts, with its exact messages.

#include <boost/json.hpp>

#include "agent/lab/rules/decode.h"
#include "agent/lab/rules/validation.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

struct StatusCase {
  std::string name;
  std::string kind;
  std::string before;  // the whole object
  std::string status;  // the new status
  std::vector<std::string> errors;
};

class StatusCases : public testing::TestWithParam<StatusCase> {};

TEST_P(StatusCases, AreJudgedAsByTheRealServer) {
  const StatusCase& c = GetParam();
  const sync::printing::Resource& resource = sync::printing::known_kind("", c.kind);
  const json::object before = canonical(resource, json::parse(c.before).as_object());
  json::object after = before;
  after["status"] = json::parse(c.status);
  after = canonical(resource, std::move(after));
  std::vector<std::string> all;
  for (const sync::wire::FieldError& error : validate_status_update(resource, after, before)) {
    all.push_back(error.text());
  }
  EXPECT_EQ(all, c.errors);
}

const std::string the_pod = R"({"spec":{"restartPolicy":"Always","nodeName":"edge1",)"
                            R"("containers":[{"name":"c"}]}})";
constexpr std::string_view bad_ip = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
constexpr std::string_view one_each = "may specify no more than one IP for each IP family";
constexpr std::string_view ran =
    "status.containerStatuses[0].state: Forbidden: may not be "
    "transitioned to non-terminated state";

// A pod whose container (or init container) `name` has ended with `code`.
std::string ended(std::string_view policy, std::string_view list, int code,
                  std::string_view init_policy = "") {
  return R"({"spec":{"restartPolicy":")" + std::string(policy) +
         R"(","containers":[{"name":"c"}],"initContainers":[{"name":"i","restartPolicy":")" +
         std::string(init_policy) + R"("}]},"status":{")" + std::string(list) + R"(":[{"name":")" +
         (list == "containerStatuses" ? "c" : "i") + R"(","state":{"terminated":{"exitCode":)" +
         std::to_string(code) + "}}}]}}";
}

const std::string running_c = R"({"containerStatuses":[{"name":"c","state":{"running":{}}}]})";
const std::string running_i = R"({"initContainerStatuses":[{"name":"i","state":{"running":{}}}]})";

std::string field_and(std::string_view field, std::string_view what) {
  return std::string(field) + ": Invalid value: " + std::string(what);
}

const StatusCase pod_cases[] = {
    {"two_of_one_family",
     "Pod",
     the_pod,
     R"({"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]})",
     {field_and("status.podIPs", R"([{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: )") +
      std::string(one_each)}},
    {"one_of_each_family",
     "Pod",
     the_pod,
     R"({"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}]})",
     {}},
    {"three",
     "Pod",
     the_pod,
     R"({"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"},{"ip":"10.0.0.3"}]})",
     {field_and("status.podIPs", R"([{"IP":"10.0.0.1"},{"IP":"fd00::1"},{"IP":"10.0.0.3"}]: )") +
      std::string(one_each)}},
    // podIP takes precedence, as in the server's conversion.
    {"first_differs",
     "Pod",
     the_pod,
     R"({"podIP":"10.0.0.9","podIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]})",
     {}},
    {"not_an_address",
     "Pod",
     the_pod,
     R"({"podIP":"abc","podIPs":[{"ip":"abc"}]})",
     {field_and("status.podIPs[0]", R"("abc": )") + std::string(bad_ip)}},
    {"leading_zero",
     "Pod",
     the_pod,
     R"({"podIPs":[{"ip":"010.0.0.1"}]})",
     {field_and("status.podIPs[0]", R"("010.0.0.1": must not have leading 0s)")}},
    {"empty_address",
     "Pod",
     the_pod,
     R"({"podIPs":[{"ip":""}]})",
     {field_and("status.podIPs[0]", R"("": )") + std::string(bad_ip)}},
    {"host_differs",
     "Pod",
     the_pod,
     R"({"hostIP":"10.0.0.9","hostIPs":[{"ip":"10.0.0.1"}]})",
     {field_and("status.hostIPs[0].ip", R"("10.0.0.1": must be equal to `hostIP`)")}},
    {"host_twice",
     "Pod",
     the_pod,
     R"({"hostIP":"10.0.0.1","hostIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]})",
     {field_and("status.hostIPs", R"([{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: )") +
      std::string(one_each)}},
    {"qos",
     "Pod",
     the_pod,
     R"({"qosClass":"Guaranteed"})",
     {field_and("status.qosClass", R"("Guaranteed": field is immutable)")}},
    {"nominated",
     "Pod",
     the_pod,
     R"({"nominatedNodeName":"edge2"})",
     {"status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a "
      "node"}},
    {"generation",
     "Pod",
     the_pod,
     R"({"observedGeneration":-1,"conditions":[{"type":"Ready","observedGeneration":-2}]})",
     {field_and("status.observedGeneration", "-1: must be a non-negative integer"),
      field_and("status.conditions[0].observedGeneration", "-2: must be a non-negative integer")}},
    {"what_upstream_lets_pass",
     "Pod",
     the_pod,
     R"({"phase":"Foo","conditions":[{"type":"Ready","status":"Bogus"}],"containerStatuses":)"
     R"([{"name":"zzz","restartCount":-1,"state":{"running":{},"waiting":{}}}]})",
     {}},
    {"never_again", "Pod", ended("Never", "containerStatuses", 1), running_c, {std::string(ran)}},
    {"never_again_after_0",
     "Pod",
     ended("Never", "containerStatuses", 0),
     running_c,
     {std::string(ran)}},
    {"on_failure_after_0",
     "Pod",
     ended("OnFailure", "containerStatuses", 0),
     running_c,
     {std::string(ran)}},
    {"on_failure_after_1", "Pod", ended("OnFailure", "containerStatuses", 1), running_c, {}},
    {"always_again", "Pod", ended("Always", "containerStatuses", 0), running_c, {}},
    {"forgotten_status",
     "Pod",
     ended("Never", "containerStatuses", 0),
     R"({"phase":"Failed"})",
     {}},
    {"init_again",
     "Pod",
     ended("Never", "initContainerStatuses", 0),
     running_i,
     {"status.initContainerStatuses[0].state: Forbidden: may not be transitioned to "
      "non-terminated state"}},
    {"sidecar_again", "Pod", ended("Never", "initContainerStatuses", 0, "Always"), running_i, {}},
};

const std::string the_node = R"({"metadata":{"name":"edge1"}})";

const StatusCase node_cases[] = {
    {"negative",
     "Node",
     the_node,
     R"({"capacity":{"cpu":"-1"}})",
     {field_and("status.capacity.cpu", R"("-1": must be greater than or equal to 0)"),
      field_and("status.allocatable.cpu", R"("-1": must be greater than or equal to 0)")}},
    {"fraction_of_a_device",
     "Node",
     the_node,
     R"({"capacity":{"example.com/x":"1.5"},"allocatable":{}})",
     {field_and("status.capacity.example.com/x", R"("1500m": must be an integer)")}},
    {"fraction_of_a_pod",
     "Node",
     the_node,
     R"({"capacity":{"pods":"1.5"},"allocatable":{}})",
     {field_and("status.capacity.pods", R"("1500m": must be an integer)")}},
    {"more_than_there_is",
     "Node",
     the_node,
     R"({"capacity":{"cpu":"4"},"allocatable":{"cpu":"8"}})",
     {}},
    {"address_twice",
     "Node",
     the_node,
     R"({"addresses":[{"type":"InternalIP","address":"1.1.1.1"},)"
     R"({"type":"InternalIP","address":"1.1.1.1"}]})",
     {R"(status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"1.1.1.1"})"}},
    {"address_of_two_types",
     "Node",
     the_node,
     R"({"addresses":[{"type":"InternalIP","address":"x"},{"type":"ExternalIP","address":"x"}]})",
     {}},
};

const auto name_of_case = [](const auto& c) { return c.param.name; };
INSTANTIATE_TEST_SUITE_P(Pod, StatusCases, testing::ValuesIn(pod_cases), name_of_case);
INSTANTIATE_TEST_SUITE_P(Node, StatusCases, testing::ValuesIn(node_cases), name_of_case);

struct BlockCase {
  std::string name;
  std::string blocks;
  std::vector<std::string> errors;
};

class BlockCases : public testing::TestWithParam<BlockCase> {};

TEST_P(BlockCases, AreOneOfEachFamily) {
  const sync::printing::Resource& resource = sync::printing::known_kind("", "Node");
  json::object given = json::parse(R"({"metadata":{"name":"e"},"spec":{}})").as_object();
  given["spec"].as_object()["podCIDRs"] = json::parse(GetParam().blocks);
  std::vector<std::string> all;
  for (const sync::wire::FieldError& error : validate(resource, canonical(resource, given))) {
    all.push_back(error.text());
  }
  EXPECT_EQ(all, GetParam().errors);
}

const BlockCase block_cases[] = {
    {"one", R"(["10.1.0.0/24"])", {}},
    {"both", R"(["10.1.0.0/24","fd00::/64"])", {}},
    {"twice",
     R"(["10.1.0.0/24","10.1.0.0/24"])",
     {R"(spec.podCIDRs: Invalid value: ["10.1.0.0/24","10.1.0.0/24"]: may specify no more than )"
      "one CIDR for each IP family"}},
    {"none",
     R"(["abc"])",
     {R"(spec.podCIDRs[0]: Invalid value: "abc": must be a valid CIDR value, (e.g. 10.9.8.0/24 )"
      "or 2001:db8::/64)"}},
};

INSTANTIATE_TEST_SUITE_P(, BlockCases, testing::ValuesIn(block_cases), name_of_case);

}  // namespace
}  // namespace holdfast::agent::lab
