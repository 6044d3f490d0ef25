// What a request to a Kubernetes API server means, from its method, path and query: verb,
// resource, namespace, name. As k8s.io/apiserver resolves it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/query.h"
#include "platform/result.h"

namespace holdfast::sync {

struct RequestInfo {
  bool is_resource = false;  // false: discovery, /healthz, ...: only `path` and `verb` count
  std::string path;          // decoded
  // get, list, watch, create, update, patch, delete, deletecollection, proxy; "" for a method that
  // resources don't know. Of other paths: the method in lower case.
  std::string verb;
  std::string api_prefix;  // "api" or "apis"
  std::string group;       // "" for the core group
  std::string version;
  std::string namespace_name;  // also of a namespace itself, as upstream has it
  std::string resource;
  std::string subresource;
  std::string name;                // of a list or watch: the one that the field selector asks for
  std::vector<std::string> parts;  // from the resource on
  std::string field_selector;      // of list, watch and deletecollection; unparsed
  std::string label_selector;      // the same
  bool dry_run = false;            // of a write: its query asks that nothing is stored

  bool operator==(const RequestInfo&) const = default;

  // exec, attach, portforward, proxy: streams that no cache can answer.
  [[nodiscard]] bool is_connect() const;
};

// `path` as on the wire; method in upper case.
// Errors: invalid (dot segments, empty parts, broken escapes, "watch" without a resource).
[[nodiscard]] Result<RequestInfo> parse_request(std::string_view method, std::string_view path,
                                                const Query& query);
// The same with the query as on the wire.
[[nodiscard]] Result<RequestInfo> parse_request(std::string_view method, std::string_view path,
                                                std::string_view query);

// A decoded path, RequestInfo::path, as it is written into a request: each part percent-encoded.
[[nodiscard]] std::string encode_path(std::string_view decoded);

}  // namespace holdfast::sync
