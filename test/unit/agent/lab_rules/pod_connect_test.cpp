// What kubectl's logs, exec and port-forward become for the kubelet of the pod's node.

#include "agent/lab/rules/pod_connect.h"

#include <gtest/gtest.h>

#include "sync/wire/json.h"

namespace holdfast::agent::lab {
namespace {

boost::json::object parsed(std::string_view text) {
  return sync::wire::parse_json(text).value().as_object();
}

const char* const one_container = R"({"metadata":{"name":"p","namespace":"ns"},
  "spec":{"nodeName":"n","containers":[{"name":"c"}]}})";
const char* const several = R"({"metadata":{"name":"p","namespace":"ns"},
  "spec":{"nodeName":"n","containers":[{"name":"a"},{"name":"b"}],
  "initContainers":[{"name":"i"}]}})";
const char* const unbound = R"({"metadata":{"name":"p","namespace":"ns"},
  "spec":{"containers":[{"name":"c"}]}})";

// The target at the kubelet, "nothing", or the refusal.
std::string connect(std::string_view subresource, const char* pod, const char* query) {
  const auto made = node_request(subresource, parsed(pod), *Query::parse(query));
  if (!made) return std::to_string(made.error().code) + " " + made.error().message;
  return *made ? (*made)->target : "nothing";
}

TEST(PodConnect, AsksTheKubeletInItsOwnWords) {
  const struct {
    const char* subresource;
    const char* pod;
    const char* query;
    const char* seen;
  } rows[] = {
      {"log", one_container, "", "/containerLogs/ns/p/c"},
      {"log", one_container, "container=c&follow=true&pretty=1&tailLines=3",
       "/containerLogs/ns/p/c?follow=true&tailLines=3"},
      {"log", several, "container=i", "/containerLogs/ns/p/i"},
      {"log", several, "",
       "400 a container name must be specified for pod p, choose one of: [i a b]"},
      {"log", several, "container=x", "400 container x is not valid for pod p"},
      {"log", one_container, "tailLines=x", "400 strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"log", one_container, "tailLines=-1",
       "422 PodLogOptions \"p\" is invalid: tailLines: Invalid value: -1: must be greater than or "
       "equal to 0"},
      {"log", unbound, "", "nothing"},
      {"exec", one_container, "command=sh&command=-c&command=a+%26&stdin=true&stdout=true&tty=true",
       "/exec/ns/p/c?input=1&output=1&tty=1&command=sh&command=-c&command=a%20%26"},
      {"exec", one_container, "command=sh&stdout=false&stderr=1",
       "/exec/ns/p/c?error=1&command=sh"},
      {"exec", several, "command=sh",
       "400 a container name must be specified for pod p, choose one of: [i a b]"},
      {"exec", unbound, "command=sh", "400 pod p does not have a host assigned"},
      {"portforward", several, "ports=80&ports=81", "/portForward/ns/p?port=80&port=81"},
      {"portforward", unbound, "", "400 pod p does not have a host assigned"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(connect(row.subresource, row.pod, row.query), row.seen)
        << row.subresource << " " << row.query;
  }
}

TEST(PodConnect, FindsTheKubeletOfTheNode) {
  const struct {
    const char* node;
    const char* seen;
  } rows[] = {
      {R"({"status":{"addresses":[{"type":"Hostname","address":"h"},
           {"type":"InternalIP","address":"10.0.0.1"},{"type":"ExternalIP","address":"1.2.3.4"}],
           "daemonEndpoints":{"kubeletEndpoint":{"Port":10250}}}})",
       "10.0.0.1:10250"},
      {R"({"status":{"addresses":[{"type":"Hostname","address":"h"}],
           "daemonEndpoints":{"kubeletEndpoint":{"Port":1}}}})",
       "h:1"},
      {R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}})",
       "502 node n does not say where its kubelet serves: "
       "status.daemonEndpoints.kubeletEndpoint.Port is not set"},
      {R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],
           "daemonEndpoints":{"kubeletEndpoint":{"Port":70000}}}})",
       "502 node n does not say where its kubelet serves: "
       "status.daemonEndpoints.kubeletEndpoint.Port is not set"},
      {R"({"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":1}}}})",
       "502 node n does not say where its kubelet serves: status.addresses is empty"},
  };
  for (const auto& row : rows) {
    NodeRequest request{.node = "n"};
    const auto found = set_address(parsed(row.node), request);
    EXPECT_EQ(found ? request.host + ":" + std::to_string(request.port)
                    : std::to_string(found.error().code) + " " + found.error().message,
              row.seen);
  }
}

}  // namespace
}  // namespace holdfast::agent::lab
