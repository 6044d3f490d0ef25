// Serves the paths that are not resources: discovery, version, health, OpenAPI, metrics.

#include <boost/json.hpp>
#include <optional>
#include <vector>

#include "agent/lab/apiserver/dispatch.h"
#include "agent/lab/rules/discovery.h"
#include "agent/lab/rules/discovery_aggregated.h"
#include "agent/lab/rules/openapi.h"
#include "agent/lab/rules/openapi_v2.h"
#include "platform/text.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

http::Response reply_text(int status, std::string text) {
  http::Response response{.status = status, .headers = {}, .body = std::move(text)};
  response.headers.set("Content-Type", "text/plain; charset=utf-8");
  response.headers.set("X-Content-Type-Options", "nosniff");
  return response;
}

http::Response reply_document(const json::object& document) {
  return reply_json(200, sync::wire::serialize(document) + "\n");
}

// As upstream, an unknown version of a known group is answered with a Status, an unknown group with
// plain text.
http::Response reply_unknown(const Catalog& catalog, const std::vector<std::string_view>& parts) {
  const bool core = parts.size() >= 2 && parts[0] == "api";
  const bool known =
      parts.size() >= 3 && parts[0] == "apis" && !catalog.versions_of(parts[1]).empty();
  if (core || known) return reply_status(sync::wire::status::generic(404));
  return reply_text(404, "404 page not found\n");
}

http::Response reply_aggregated(const Catalog& catalog, bool is_core) {
  http::Response response = reply_document(aggregated_discovery(catalog, is_core));
  response.headers.set("Content-Type", std::string(aggregated_type));
  response.headers.set("Vary", "Accept");
  return response;
}

// A missing OpenAPI document is answered with an empty 404, as upstream does.
http::Response reply_openapi(const std::optional<json::object>& document) {
  if (document) return reply_document(*document);
  return {.status = 404, .headers = {}, .body = {}};
}

// Upstream sends the list of OpenAPI documents as text/plain.
http::Response reply_openapi_index(const Catalog& catalog) {
  http::Response response = reply_document(openapi_index(catalog));
  response.headers.set("Content-Type", "text/plain; charset=utf-8");
  return response;
}

// Old versions of kubectl request protobuf and cannot read JSON here.
http::Response serve_openapi_v2(const Catalog& catalog, std::string_view accept) {
  if (accept.find("com.github.proto-openapi.spec.v2") == std::string_view::npos) {
    return reply_document(openapi_v2_document(catalog));
  }
  http::Response response{.status = 200, .headers = {}, .body = openapi_v2_protobuf(catalog)};
  response.headers.set("Content-Type", std::string(openapi_v2_protobuf_type));
  return response;
}

std::optional<http::Response> health(std::string_view path, const Query& query) {
  for (const std::string_view check : {"healthz", "livez", "readyz"}) {
    if (path == check && !query.has("verbose")) return reply_text(200, "ok");
    if (path == check) {
      return reply_text(200, "[+]ping ok\n[+]store ok\n" + std::string(check) + " check passed\n");
    }
    if (path == std::string(check) + "/ping") return reply_text(200, "ok");
  }
  return std::nullopt;
}

}  // namespace

http::Response serve_document(const Catalog& catalog, const sync::objects::RequestInfo& info,
                              const Query& query, std::string_view accept,
                              const std::string& address) {
  std::string_view path = info.path;
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (auto found = health(path, query)) return *std::move(found);
  if (path.empty()) return reply_document(root_paths(catalog));
  if (path == "version") return reply_document(version_document());
  if ((path == "api" || path == "apis") && wants_aggregated(accept)) {
    return reply_aggregated(catalog, path == "api");
  }
  if (path == "api") return reply_document(api_versions(address));
  if (path == "apis") return reply_document(group_list(catalog));
  if (path == "openapi/v2") return serve_openapi_v2(catalog, accept);
  if (path == "openapi/v3") return reply_openapi_index(catalog);
  const std::vector<std::string_view> parts = split(path, '/');
  std::optional<json::object> found;
  if (parts.size() == 2 && parts[0] == "api") found = resource_list(catalog, "", parts[1]);
  if (parts.size() == 2 && parts[0] == "apis") found = group_document(catalog, parts[1]);
  if (parts.size() == 3 && parts[0] == "apis") found = resource_list(catalog, parts[1], parts[2]);
  if (found) return reply_document(*found);
  if (parts.size() < 3 || parts[0] != "openapi" || parts[1] != "v3")
    return reply_unknown(catalog, parts);
  if (parts.size() == 4 && parts[2] == "api") found = openapi_document(catalog, "", parts[3]);
  if (parts.size() == 5 && parts[2] == "apis")
    found = openapi_document(catalog, parts[3], parts[4]);
  return reply_openapi(found);
}

}  // namespace holdfast::agent::lab
