#include "sync/wire/status.h"

#include <algorithm>
#include <array>

#include "platform/text.h"
#include "sync/wire/json.h"
#include "sync/wire/json_scan.h"

namespace holdfast::sync::wire {
namespace {

void add_text(std::string& out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  if (out.back() != '{') out += ',';
  serialize_text_to(out, name);
  out += ':';
  serialize_text_to(out, text);
}

void add_number(std::string& out, std::string_view name, int number) {
  if (number == 0) return;
  if (out.back() != '{') out += ',';
  serialize_text_to(out, name);
  out.append(":").append(std::to_string(number));
}

void add_details(std::string& out, const StatusDetails& details) {
  out += ",\"details\":{";
  add_text(out, "name", details.name);
  add_text(out, "group", details.group);
  add_text(out, "kind", details.kind);
  add_text(out, "uid", details.uid);
  if (!details.causes.empty()) {
    if (out.back() != '{') out += ',';
    out += "\"causes\":[";
    for (const StatusCause& cause : details.causes) {
      if (&cause != &details.causes.front()) out += ',';
      out += '{';
      add_text(out, "reason", cause.reason);
      add_text(out, "message", cause.message);
      add_text(out, "field", cause.field);
      out += '}';
    }
    out += ']';
  }
  add_number(out, "retryAfterSeconds", details.retry_after_seconds);
  out += '}';
}

void read_number(JsonCursor& in, std::int32_t& out) {
  const auto number = parse_int<std::int32_t>(in.skip());
  if (number) out = *number;
}

StatusCause read_cause(JsonCursor& in) {
  StatusCause cause;
  for (JsonFields field(in); field.next();) {
    if (field.key() == "reason") {
      in.text(cause.reason);
    } else if (field.key() == "message") {
      in.text(cause.message);
    } else if (field.key() == "field") {
      in.text(cause.field);
    } else {
      in.skip();
    }
  }
  return cause;
}

StatusDetails read_details(JsonCursor& in) {
  StatusDetails details;
  for (JsonFields field(in); field.next();) {
    if (field.key() == "name") {
      in.text(details.name);
    } else if (field.key() == "group") {
      in.text(details.group);
    } else if (field.key() == "kind") {
      in.text(details.kind);
    } else if (field.key() == "uid") {
      in.text(details.uid);
    } else if (field.key() == "causes") {
      for (JsonItems item(in); item.next();) details.causes.push_back(read_cause(in));
    } else if (field.key() == "retryAfterSeconds") {
      read_number(in, details.retry_after_seconds);
    } else {
      in.skip();
    }
  }
  return details;
}

struct ReasonMeans {
  std::string_view reason;
  Errc code;
};

constexpr std::array reasons = {
    ReasonMeans{"NotFound", Errc::not_found},
    ReasonMeans{"AlreadyExists", Errc::conflict},
    ReasonMeans{"Conflict", Errc::conflict},
    ReasonMeans{"Gone", Errc::gone},
    ReasonMeans{"Expired", Errc::gone},
    ReasonMeans{"Unauthorized", Errc::denied},
    ReasonMeans{"Forbidden", Errc::denied},
    ReasonMeans{"Invalid", Errc::invalid},
    ReasonMeans{"BadRequest", Errc::invalid},
    ReasonMeans{"MethodNotAllowed", Errc::invalid},
    ReasonMeans{"NotAcceptable", Errc::invalid},
    ReasonMeans{"UnsupportedMediaType", Errc::invalid},
    ReasonMeans{"RequestEntityTooLarge", Errc::invalid},
    ReasonMeans{"Timeout", Errc::timeout},
    ReasonMeans{"ServerTimeout", Errc::timeout},
    ReasonMeans{"TooManyRequests", Errc::unavailable},
    ReasonMeans{"ServiceUnavailable", Errc::unavailable},
    ReasonMeans{"InternalError", Errc::unavailable},
};

}  // namespace

std::string GroupResource::text() const {
  std::string out(resource);
  return group.empty() ? out : out.append(".").append(group);
}

std::string ApiStatus::body() const {
  std::string out = R"({"kind":"Status","apiVersion":"v1","metadata":{)";
  add_text(out, "continue", continue_token);
  out += '}';
  add_text(out, "status", status);
  add_text(out, "message", message);
  add_text(out, "reason", reason);
  if (details) add_details(out, *details);
  add_number(out, "code", code);
  return out += '}';
}

Result<ApiStatus> parse_json_status(std::string_view body) {
  ApiStatus out{.status = {}, .message = {}, .reason = {}, .details = {}, .code = 0};
  std::string kind;
  JsonCursor in(body);
  for (JsonFields field(in); field.next();) {
    if (field.key() == "kind") {
      in.text(kind);
    } else if (field.key() == "status" && in.peek() == '"') {
      in.text(out.status);
    } else if (field.key() == "message") {
      in.text(out.message);
    } else if (field.key() == "reason") {
      in.text(out.reason);
    } else if (field.key() == "details" && in.peek() == '{') {
      out.details = read_details(in);
    } else if (field.key() == "code") {
      read_number(in, out.code);
    } else {
      in.skip();
    }
  }
  if (!in.ok()) return fail(in.error());
  if (kind != "Status") return fail(Errc::invalid, "not a Status: kind \"" + kind + "\"");
  return out;
}

bool budget_forbids(const ApiStatus& status) {
  if (status.code != 429 || !status.details) return false;
  const auto& causes = status.details->causes;
  return std::any_of(causes.begin(), causes.end(),
                     [](const StatusCause& cause) { return cause.reason == "DisruptionBudget"; });
}

bool version_is_ahead(const ApiStatus& status) {
  if (!status.details) return false;
  const auto& causes = status.details->causes;
  return std::any_of(causes.begin(), causes.end(), [](const StatusCause& cause) {
    return cause.reason == "ResourceVersionTooLarge" ||
           cause.message == "Too large resource version";
  });
}

Errc to_errc(int http_status, std::string_view reason) {
  for (const ReasonMeans& known : reasons) {
    if (known.reason == reason) return known.code;
  }
  switch (http_status) {
    case 401:
    case 403:
      return Errc::denied;
    case 404:
      return Errc::not_found;
    case 408:
    case 504:
      return Errc::timeout;
    case 409:
      return Errc::conflict;
    case 410:
      return Errc::gone;
    case 429:
      return Errc::unavailable;
    default:
      return http_status >= 400 && http_status < 500 ? Errc::invalid : Errc::unavailable;
  }
}

Error to_error(const ApiStatus& status) {
  const std::string& text = status.message.empty() ? status.reason : status.message;
  const Errc code = budget_forbids(status) ? Errc::exhausted : to_errc(status.code, status.reason);
  return {code, std::to_string(status.code) + " " + text};
}

}  // namespace holdfast::sync::wire
