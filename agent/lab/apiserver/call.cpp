#include "agent/lab/apiserver/call.h"

#include "agent/lab/rules/convert.h"
#include "agent/lab/rules/custom_definition.h"

namespace holdfast::agent::lab {

const sync::printing::Resource& Call::stored() const { return stored_resource(resource()); }

std::string_view Call::name_space() const {
  // For requests about a Namespace, info.namespace_name is that namespace's name.
  return resource().namespaced ? std::string_view(info.namespace_name) : std::string_view();
}

Author Call::author(bool applies) const {
  return {field_manager,
          view.as_stored() || view.custom ? resource().api_version(view.version->name) : "",
          info.subresource, applies};
}

Answer<boost::json::object> read_as(const Call& call, const sync::StructType& type,
                                    std::string_view kind) {
  const auto body =
      read_body(call.request.headers.get("Content-Type"), call.request.body, type, kind);
  if (!body) return refuse(body.error());
  auto decoded = decode_as(type, kind, *body, call.validation);
  if (!decoded) return refuse(decoded.error());
  return std::move(decoded->object);
}

http::Response reply_json(int status, std::string body) {
  http::Response response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.set("Content-Type", "application/json");
  response.headers.set("Cache-Control", "no-cache, private");
  return response;
}

http::Response reply_status(const sync::wire::ApiStatus& status) {
  const int code = status.code == 0 ? 200 : status.code;
  http::Response response = reply_json(code, status.body() + "\n");
  const int retry = status.details ? status.details->retry_after_seconds : 0;
  if (retry > 0) response.headers.set("Retry-After", std::to_string(retry));
  return response;
}

http::Response reply_object(int status, const Call& call, const Stored& stored, WallTime now) {
  return reply_json(status, render(call.view, stored, now));
}

void add_warnings(http::Response& response, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    std::string quoted;
    for (const char c : warning) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    response.headers.add("Warning", "299 - \"" + quoted + "\"");
  }
}

void add_definition_warnings(http::Response& response, const Call& call, const Stored& stored) {
  const bool is_definition = call.resource().kind == "CustomResourceDefinition";
  if (!is_definition || call.subresource != nullptr) return;
  add_warnings(response, definition_warnings(stored.object));
}

}  // namespace holdfast::agent::lab
