// The meaning of requests: verb, resource and name from method, path and query; and list options.

#include "sync/objects/request_info.h"

#include "sync/objects/list_options.h"

namespace holdfast::sync::objects {
namespace {

struct Resolved {
  std::string_view method;
  std::string_view path;
  std::string_view query;
  RequestInfo info;  // without is_resource, path and version, which the test sets
};

// A resource request of the core group.
RequestInfo core(std::string verb, std::string space, std::string resource, std::string name = {},
                 std::string subresource = {}) {
  RequestInfo info;
  info.verb = std::move(verb);
  info.api_prefix = "api";
  info.namespace_name = std::move(space);
  info.resource = resource;
  info.subresource = subresource;
  info.name = name;
  info.parts = {std::move(resource)};
  if (!name.empty()) info.parts.push_back(std::move(name));
  if (!subresource.empty()) info.parts.push_back(std::move(subresource));
  return info;
}

RequestInfo grouped(std::string group, RequestInfo info) {
  info.api_prefix = "apis";
  info.group = std::move(group);
  return info;
}

RequestInfo selected(RequestInfo info, std::string name, std::string fields, std::string labels) {
  info.name = std::move(name);
  info.field_selector = std::move(fields);
  info.label_selector = std::move(labels);
  return info;
}

RequestInfo with_parts(RequestInfo info, std::vector<std::string> parts) {
  info.parts = std::move(parts);
  return info;
}

const Resolved resolved[] = {
    {"GET", "/api/v1/namespaces", "", core("list", "", "namespaces")},
    {"GET", "/api/v1/namespaces/x", "", core("get", "x", "namespaces", "x")},
    {"GET", "/api/v1/namespaces/x/", "", core("get", "x", "namespaces", "x")},
    {"PUT", "/api/v1/namespaces/x/status", "", core("update", "x", "namespaces", "x", "status")},
    {"PUT", "/api/v1/namespaces/x/finalize", "",
     core("update", "x", "namespaces", "x", "finalize")},
    {"GET", "/api/v1/namespaces/x/pods", "", core("list", "x", "pods")},
    {"GET", "/api/v1/namespaces/x/pods/p", "", core("get", "x", "pods", "p")},
    {"HEAD", "/api/v1/namespaces/x/pods/p", "", core("get", "x", "pods", "p")},
    {"GET", "/api/v1/pods", "", core("list", "", "pods")},
    {"GET", "/api/v1/pods", "watch=true", core("watch", "", "pods")},
    {"GET", "/api/v1/pods", "watch=1", core("watch", "", "pods")},
    {"GET", "/api/v1/pods", "watch", core("watch", "", "pods")},
    {"GET", "/api/v1/pods", "watch=0", core("list", "", "pods")},
    {"GET", "/api/v1/pods", "watch=False", core("list", "", "pods")},
    {"GET", "/api/v1/watch/pods", "", core("watch", "", "pods")},
    {"GET", "/api/v1/watch/namespaces/x/pods", "labelSelector=a", core("watch", "x", "pods")},
    {"GET", "/api/v1/watch/namespaces/x/pods/p", "", core("watch", "x", "pods", "p")},
    {"POST", "/api/v1/namespaces/x/pods", "", core("create", "x", "pods")},
    {"POST", "/api/v1/namespaces/x/pods/p/binding", "",
     core("create", "x", "pods", "p", "binding")},
    {"PATCH", "/api/v1/nodes/n/status", "", core("patch", "", "nodes", "n", "status")},
    {"DELETE", "/api/v1/nodes/n", "", core("delete", "", "nodes", "n")},
    {"DELETE", "/api/v1/nodes", "", core("deletecollection", "", "nodes")},
    {"DELETE", "/api/v1/namespaces/x/pods", "labelSelector=a%3Db",
     selected(core("deletecollection", "x", "pods"), "", "", "a=b")},
    {"OPTIONS", "/api/v1/pods", "", core("", "", "pods")},
    {"GET", "/api/v1/pods", "fieldSelector=metadata.name%3Dp%2Ca%21%3Db&labelSelector=c",
     selected(core("list", "", "pods"), "p", "metadata.name=p,a!=b", "c")},
    {"GET", "/api/v1/pods", "fieldSelector=metadata.name%3Da/b&watch=true",
     selected(core("watch", "", "pods"), "", "metadata.name=a/b", "")},
    {"GET", "/apis/apps/v1/namespaces/x/deployments/d/scale", "",
     grouped("apps", core("get", "x", "deployments", "d", "scale"))},
    {"PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", "timeout=10s",
     grouped("coordination.k8s.io", core("update", "kube-node-lease", "leases", "n1"))},
    {"GET", "/api/v1/namespaces/x/pods/p/proxy/a/b", "",
     with_parts(core("get", "x", "pods", "p", "proxy"), {"pods", "p", "proxy", "a", "b"})},
    {"GET", "/api/v1/proxy/namespaces/x/pods/p/a/b", "",
     with_parts(core("proxy", "x", "pods", "p"), {"pods", "p", "a", "b"})},
    {"GET", "/api/v1/namespaces/x/secrets/a%3Ab", "", core("get", "x", "secrets", "a:b")},
};

TEST(RequestInfo, Resources) {
  for (const Resolved& line : resolved) {
    SCOPED_TRACE(std::string(line.method).append(" ").append(line.path).append("?") +
                 std::string(line.query));
    auto info = parse_request(line.method, line.path, line.query);
    ASSERT_TRUE(info.has_value()) << info.error().what;
    RequestInfo want = line.info;
    want.is_resource = true;
    want.version = "v1";
    want.path = info->path;
    EXPECT_EQ(*info, want);
  }
}

TEST(RequestInfo, OtherPathsHaveOnlyAMethod) {
  for (const std::string path : {"/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1",
                                 "/healthz", "/version/", "/openapi/v2", "/logs/a/b/c"}) {
    const auto info = parse_request("GET", path, "");
    ASSERT_TRUE(info.has_value()) << path;
    EXPECT_FALSE(info->is_resource) << path;
    EXPECT_EQ(info->verb, "get") << path;
    EXPECT_EQ(info->path, path);
    EXPECT_EQ(info->resource, "") << path;
  }
}

struct Refused {
  std::string_view path;
  std::string_view query;
  std::string_view error;
};

const Refused refused[] = {
    {"/api/v1/../secrets", "", "dot segment in the path"},
    {"/api/v1/%2e%2e/secrets", "", "dot segment in the path"},
    {"/api/v1/./pods", "", "dot segment in the path"},
    {"/api/v1//pods", "", "empty part in the path"},
    {"//", "", "empty part in the path"},
    {"api/v1/pods", "", "path without a leading slash"},
    {"", "", "path without a leading slash"},
    {"/api/v1/pods/a%00b", "", "zero byte in the path"},
    {"/api/v1/watch", "", "unable to determine kind and namespace from url, /api/v1/watch"},
};

TEST(RequestInfo, RefusesTricks) {
  for (const Refused& line : refused) {
    const auto info = parse_request("GET", line.path, line.query);
    ASSERT_FALSE(info.has_value()) << line.path;
    EXPECT_EQ(info.error(), (Error{Errc::invalid, std::string(line.error)}));
  }
  EXPECT_FALSE(parse_request("GET", "/api/v1/pods%zz", "").has_value());
  EXPECT_FALSE(parse_request("GET", "/api/v1/pods", "a=%z").has_value());
}

TEST(RequestInfo, StreamsAreKnown) {
  EXPECT_TRUE(parse_request("POST", "/api/v1/namespaces/x/pods/p/exec", "")->is_connect());
  EXPECT_TRUE(parse_request("GET", "/api/v1/nodes/n/proxy/stats", "")->is_connect());
  EXPECT_FALSE(parse_request("GET", "/api/v1/namespaces/x/pods/p/log", "")->is_connect());
}

TEST(ListOptions, FromTheWireAndBack) {
  const std::string query =
      "allowWatchBookmarks=true&continue=abc%3D&fieldSelector=a%3Db&labelSelector=x%20in%20%28y%29"
      "&limit=500&resourceVersion=0&resourceVersionMatch=NotOlderThan&sendInitialEvents=false"
      "&timeoutSeconds=320&watch=true";
  const auto options = parse_list_options(query);
  ASSERT_TRUE(options.has_value());
  const ListOptions want{.label_selector = "x in (y)",
                         .field_selector = "a=b",
                         .watch = true,
                         .allow_watch_bookmarks = true,
                         .resource_version = "0",
                         .resource_version_match = "NotOlderThan",
                         .timeout_seconds = 320,
                         .limit = 500,
                         .continue_token = "abc=",
                         .send_initial_events = false};
  EXPECT_EQ(*options, want);
  EXPECT_EQ(encode_query(*options), query);
  EXPECT_EQ(parse_list_options("&pretty=1&a"), ListOptions{});
  EXPECT_EQ(encode_query({}), "");
}

TEST(ListOptions, BadNumbers) {
  EXPECT_EQ(parse_list_options("limit=x").error(),
            (Error{Errc::invalid, "strconv.ParseInt: parsing \"x\": invalid syntax"}));
  EXPECT_FALSE(parse_list_options("timeoutSeconds=1.5").has_value());
}

// The other combinations are in test/data/apiserver/resource_versions.json.
TEST(ListOptions, WhatAnApiServerRefuses) {
  struct Row {
    const char* query;
    int code;
    std::string message;
  };
  const std::string invalid = "ListOptions.meta.k8s.io \"\" is invalid: ";
  const std::string bad_match =
      "resourceVersionMatch: Unsupported value: \"Foo\": supported values: ";
  const Row rows[] = {
      {"limit=-1", 0, ""},
      {"limit=x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"continue=a&resourceVersion=0", 0, ""},
      {"resourceVersion=5&resourceVersionMatch=Foo", 422,
       invalid + bad_match + "\"Exact\", \"NotOlderThan\", \"\""},
      {"sendInitialEvents=false", 422,
       invalid + "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"},
      {"resourceVersion=5&resourceVersionMatch=Exact&continue=a", 422,
       invalid + "resourceVersionMatch: Forbidden: "
                 "resourceVersionMatch is forbidden when continue is provided"},
      {"watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&continue=a", 422,
       invalid + "resourceVersionMatch: Forbidden: "
                 "resourceVersionMatch is forbidden when continue is provided"},
      {"continue=a&resourceVersion=5", 400,
       "specifying resource version is not allowed when using continue"},
      {"resourceVersion=18446744073709551616", 400,
       "invalid resource version: resourceVersion: Invalid value: \"18446744073709551616\": "
       "strconv.ParseUint: parsing \"18446744073709551616\": value out of range"},
      {"watch=1&resourceVersion=%2B5", 500,
       "resourceVersion: Invalid value: \"+5\": strconv.ParseUint: parsing \"+5\": invalid "
       "syntax"}};
  for (const Row& row : rows) {
    const bool watch = std::string_view(row.query).starts_with("watch=1");
    const auto accepted = accept_list_options(Query::parse(row.query).value(), watch);
    EXPECT_EQ(accepted ? 0 : accepted.error().code, row.code) << row.query;
    EXPECT_EQ(accepted ? "" : accepted.error().message, row.message) << row.query;
  }
}

TEST(RequestInfo, ADecodedPathIsEncodedPartByPart) {
  const std::pair<std::string, std::string> rows[] = {
      {"/api/v1/pods", "/api/v1/pods"},
      {"/api/v1/pods/", "/api/v1/pods/"},
      {"/", "/"},
      {"", ""},
      {"/apis/g HTTP/1.1", "/apis/g%20HTTP/1.1"},
      {"/a\r\nX: y", "/a%0D%0AX%3A%20y"},
      {"/a?b#c%", "/a%3Fb%23c%25"},
      {"/\xc3\xa4", "/%C3%A4"},
  };
  for (const auto& [decoded, encoded] : rows) EXPECT_EQ(encode_path(decoded), encoded);
}

}  // namespace
}  // namespace holdfast::sync::objects
