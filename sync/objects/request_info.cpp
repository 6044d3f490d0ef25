#include "sync/objects/request_info.h"

#include <span>

#include "platform/text.h"
#include "sync/objects/list_options.h"
#include "sync/objects/name.h"
#include "sync/objects/selector.h"

namespace holdfast::sync::objects {
namespace {

using PathParts = std::span<const std::string>;

// The segments of a path, without the leading slash and a trailing one.
Result<std::vector<std::string>> split_path(std::string_view path) {
  if (!path.starts_with('/')) return fail(Errc::invalid, "path without a leading slash");
  path.remove_prefix(1);
  std::vector<std::string> parts;
  if (path.empty()) return parts;
  if (path.ends_with('/')) path.remove_suffix(1);
  for (const std::string_view part : split(path, '/')) {
    if (part.empty()) return fail(Errc::invalid, "empty part in the path");
    if (part == "." || part == "..") return fail(Errc::invalid, "dot segment in the path");
    if (part.find('\0') != part.npos) return fail(Errc::invalid, "zero byte in the path");
    parts.emplace_back(part);
  }
  return parts;
}

std::string verb_of(std::string_view method) {
  if (method == "POST") return "create";
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "";
}

// Removes "/api/v1" or "/apis/group/version" from the front; returns false if it is not the path of
// a resource.
bool take_prefix(PathParts& parts, RequestInfo& info) {
  if (parts.size() < 3 || (parts[0] != "api" && parts[0] != "apis")) return false;
  info.api_prefix = parts[0];
  parts = parts.subspan(1);
  if (info.api_prefix == "apis") {
    if (parts.size() < 3) return false;
    info.group = parts[0];
    parts = parts.subspan(1);
  }
  info.version = parts[0];
  parts = parts.subspan(1);
  return true;
}

// "/namespaces/x/pods" means pods in x; "/namespaces/x" and "/namespaces/x/status" mean the
// namespace.
void take_namespace(PathParts& parts, RequestInfo& info) {
  if (parts[0] != "namespaces" || parts.size() < 2) return;
  info.namespace_name = parts[1];
  if (parts.size() > 2 && parts[2] != "status" && parts[2] != "finalize") parts = parts.subspan(2);
}

// A get without a name is a list or a watch; a delete without a name is a deletecollection.
void refine_verb(const Query& query, RequestInfo& info) {
  if (!info.name.empty()) return;
  if (info.verb == "delete") info.verb = "deletecollection";
  if (info.verb != "get") return;
  info.verb = query.flag("watch") ? "watch" : "list";
  const auto fields = FieldQuery::parse(query.get("fieldSelector"));
  const auto name = fields ? fields->exact("metadata.name") : std::nullopt;
  if (name && check_path_segment(*name).empty()) info.name = *name;
}

void take_selectors(const Query& query, RequestInfo& info) {
  if (info.verb != "list" && info.verb != "watch" && info.verb != "deletecollection") return;
  info.field_selector = query.get("fieldSelector");
  info.label_selector = query.get("labelSelector");
}

}  // namespace

bool RequestInfo::is_connect() const {
  return subresource == "exec" || subresource == "attach" || subresource == "portforward" ||
         subresource == "proxy" || verb == "proxy";
}

std::string encode_path(std::string_view decoded) {
  std::string path;
  for (const std::string_view part : split(decoded, '/')) {
    if (part.data() != decoded.data()) path += '/';
    path += percent_encode(part);
  }
  return path;
}

Result<RequestInfo> parse_request(std::string_view method, std::string_view path,
                                  const Query& query) {
  RequestInfo info;
  TRY(info.path, percent_decode(path, false));
  TRY(const std::vector<std::string> all, split_path(info.path));
  info.verb = to_lower(method);

  PathParts parts(all);
  if (!take_prefix(parts, info)) return info;
  info.is_resource = true;
  const bool by_path = parts[0] == "watch" || parts[0] == "proxy";
  info.verb = by_path ? parts[0] : verb_of(method);
  if (by_path) {
    parts = parts.subspan(1);
    if (parts.empty()) {
      return fail(Errc::invalid,
                  "unable to determine kind and namespace from url, " + std::string(path));
    }
  }
  take_namespace(parts, info);
  info.parts.assign(parts.begin(), parts.end());
  info.resource = parts[0];
  if (parts.size() >= 2) info.name = parts[1];
  if (parts.size() >= 3 && info.verb != "proxy") info.subresource = parts[2];
  refine_verb(query, info);
  if (!by_path) take_selectors(query, info);
  info.dry_run = !query.get("dryRun").empty();
  return info;
}

Result<RequestInfo> parse_request(std::string_view method, std::string_view path,
                                  std::string_view query) {
  TRY(const Query parsed, Query::parse(query));
  return parse_request(method, path, parsed);
}

}  // namespace holdfast::sync::objects
