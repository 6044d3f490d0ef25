// Resolves a request to a Kubernetes API server from its method, path and query: verb, resource,
// namespace, name. Same rules as k8s.io/apiserver.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/query.h"
#include "platform/result.h"

namespace holdfast::sync::objects {

struct RequestInfo {
  bool is_resource = false;  // false (discovery, /healthz, ...): only `path` and `verb` are set
  std::string path;          // decoded
  // get, list, watch, create, update, patch, delete, deletecollection, proxy; "" for a method that
  // resources do not support. For other paths: the method in lower case.
  std::string verb;
  std::string api_prefix;  // "api" or "apis"
  std::string group;       // "" for the core group
  std::string version;
  std::string namespace_name;  // also for a namespace itself, as in upstream
  std::string resource;
  std::string subresource;
  std::string name;                // for a list or watch: from its field selector, if it has one
  std::vector<std::string> parts;  // path segments from the resource on
  std::string field_selector;      // for list, watch and deletecollection; not parsed
  std::string label_selector;      // likewise
  bool dry_run = false;            // a write whose query asks that nothing is stored

  bool operator==(const RequestInfo&) const = default;

  // exec, attach, portforward, proxy: streams that cannot be cached.
  [[nodiscard]] bool is_connect() const;
};

// `path` is as on the wire, the method is in upper case.
// Errors: invalid (dot segments, empty segments, broken escapes, "watch" without a resource).
[[nodiscard]] Result<RequestInfo> parse_request(std::string_view method, std::string_view path,
                                                const Query& query);
// The same with the query as on the wire.
[[nodiscard]] Result<RequestInfo> parse_request(std::string_view method, std::string_view path,
                                                std::string_view query);

// Encodes a decoded path (RequestInfo::path) for a request: each segment is percent-encoded.
[[nodiscard]] std::string encode_path(std::string_view decoded);

}  // namespace holdfast::sync::objects
