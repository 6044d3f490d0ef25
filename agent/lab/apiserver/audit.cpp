#include "agent/lab/apiserver/audit.h"

#include <utility>

#include "platform/fs/file.h"
#include "platform/log.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab {
namespace {

namespace json = sync::json;

void put(json::object& object, const char* name, const std::string& value) {
  if (!value.empty()) object[name] = value;
}

json::object object_ref(const sync::objects::RequestInfo& info) {
  json::object ref;
  put(ref, "resource", info.resource);
  put(ref, "namespace", info.namespace_name);
  put(ref, "name", info.name);
  put(ref, "apiGroup", info.group);
  put(ref, "apiVersion", info.version);
  put(ref, "subresource", info.subresource);
  return ref;
}

}  // namespace

std::string audit_line(WallTime received, const http::Request& request, const Audited& audited,
                       int status) {
  json::object line{{"kind", "Event"},
                    {"apiVersion", "audit.k8s.io/v1"},
                    {"level", "Metadata"},
                    {"stage", "ResponseComplete"},
                    {"requestURI", request.target},
                    {"verb", audited.info.verb},
                    {"user", json::object{{"username", audited.caller.name}}},
                    {"userAgent", request.headers.get("User-Agent")},
                    {"responseStatus", json::object{{"code", status}}},
                    {"requestReceivedTimestamp", format_rfc3339(received, TimeDigits::micros)}};
  if (!audited.impersonated.empty())
    line["impersonatedUser"] = json::object{{"username", audited.impersonated}};
  if (audited.info.is_resource) line["objectRef"] = object_ref(audited.info);
  return sync::wire::serialize(line);
}

Result<AuditLog> AuditLog::open(std::filesystem::path file) {
  if (auto writable = fs::append(file, ""); !writable) return fail(writable.error());
  return AuditLog(std::move(file));
}

void AuditLog::record(WallTime received, const http::Request& request, const Audited& audited,
                      int status) const {
  const Status written = fs::append(file_, audit_line(received, request, audited, status) + "\n");
  if (!written) log_warn("audit line lost", {{"error", written.error()}});
}

}  // namespace holdfast::agent::lab
