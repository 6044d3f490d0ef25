// The builder functions of status.h, with the exact texts of k8s.io/apimachinery/pkg/api/errors.

#include <array>

#include "platform/check.h"
#include "sync/wire/quote.h"
#include "sync/wire/status.h"

namespace holdfast::sync::wire::status {
namespace {

ApiStatus failure(int code, std::string_view reason, std::string message) {
  return {.status = "Failure",
          .message = std::move(message),
          .reason = std::string(reason),
          .details = {},
          .code = code};
}

ApiStatus about(const GroupResource& resource, std::string_view name, ApiStatus answer) {
  StatusDetails& details = answer.details.emplace();
  details.name = name;
  details.group = resource.group;
  details.kind = resource.resource;
  return answer;
}

ApiStatus retry_after(int seconds, ApiStatus answer) {
  if (!answer.details) answer.details.emplace();
  answer.details->retry_after_seconds = seconds;
  return answer;
}

std::string named(const GroupResource& resource, std::string_view name) {
  return resource.text() + " " + quoted(name);
}

struct Generic {
  int code;
  std::string_view reason;
  std::string_view message;
};

constexpr std::array generics = {
    Generic{400, "BadRequest", "the server rejected our request for an unknown reason"},
    Generic{401, "Unauthorized", "the server has asked for the client to provide credentials"},
    Generic{403, "Forbidden", "unknown"},
    Generic{404, "NotFound", "the server could not find the requested resource"},
    Generic{405, "MethodNotAllowed",
            "the server does not allow this method on the requested resource"},
    Generic{406, "NotAcceptable", "406: Not Acceptable"},
    Generic{409, "Conflict", "the server reported a conflict"},
    Generic{415, "UnsupportedMediaType", "415: Unsupported Media Type"},
    Generic{422, "Invalid", "the server rejected our request due to an error in our request"},
    Generic{429, "TooManyRequests",
            "the server has received too many requests and has asked us to try again later"},
    Generic{503, "ServiceUnavailable", "the server is currently unable to handle the request"},
    Generic{504, "Timeout",
            "the server was unable to return a response in the time allotted, but may still be "
            "processing the request"},
};

}  // namespace

ApiStatus success(int code) {
  return {.status = "Success", .message = {}, .reason = {}, .details = {}, .code = code};
}

ApiStatus deleted(const GroupResource& resource, std::string_view name, std::string_view uid) {
  ApiStatus answer = about(resource, name, success(0));
  answer.details->uid = uid;
  return answer;
}

ApiStatus not_found(const GroupResource& resource, std::string_view name) {
  return about(resource, name, failure(404, "NotFound", named(resource, name) + " not found"));
}

ApiStatus already_exists(const GroupResource& resource, std::string_view name) {
  return about(resource, name,
               failure(409, "AlreadyExists", named(resource, name) + " already exists"));
}

ApiStatus generate_name_conflict(const GroupResource& resource, std::string_view name,
                                 int retry_after_seconds) {
  ApiStatus answer = already_exists(resource, name);
  answer.message += ", the server was not able to generate a unique name for the object";
  return retry_after(retry_after_seconds, std::move(answer));
}

ApiStatus conflict(const GroupResource& resource, std::string_view name, std::string_view why) {
  std::string message = "Operation cannot be fulfilled on " + named(resource, name) + ": ";
  return about(resource, name, failure(409, "Conflict", message.append(why)));
}

ApiStatus invalid(const GroupResource& kind, std::string_view name,
                  std::span<const FieldError> errors) {
  std::string message = named(kind, name) + " is invalid";
  if (!errors.empty()) message += ": " + aggregate(errors);
  ApiStatus answer = about(kind, name, failure(422, "Invalid", std::move(message)));
  for (const FieldError& error : errors) {
    answer.details->causes.push_back({std::string(error.reason()), error.body(), error.field});
  }
  return answer;
}

ApiStatus forbidden(const GroupResource& resource, std::string_view name, std::string_view why) {
  std::string message = resource.resource.empty() ? "forbidden: "
                        : name.empty()            ? resource.text() + " is forbidden: "
                                                  : named(resource, name) + " is forbidden: ";
  return about(resource, name, failure(403, "Forbidden", message.append(why)));
}

ApiStatus unauthorized() { return failure(401, "Unauthorized", "Unauthorized"); }

ApiStatus bad_request(std::string message) {
  return failure(400, "BadRequest", std::move(message));
}

ApiStatus unsupported_media_type(std::span<const std::string_view> accepted) {
  std::string message =
      "the body of the request was in an unknown format - accepted media types include: ";
  for (const std::string_view& type : accepted) {
    if (&type != &accepted.front()) message += ", ";
    message += type;
  }
  return failure(415, "UnsupportedMediaType", std::move(message));
}

ApiStatus gone(std::string message) { return failure(410, "Gone", std::move(message)); }

ApiStatus expired(std::string message) { return failure(410, "Expired", std::move(message)); }

ApiStatus expired_token(std::string fresh) {
  std::string message =
      "The provided continue parameter is too old to display a consistent list result. You ";
  message += fresh.empty() ? "must start a new list without the continue parameter."
                           : "can start a new list without the continue parameter, or use the "
                             "continue token in this response to retrieve the remainder of the "
                             "results. Continuing with the provided token results in an "
                             "inconsistent list - objects that were created, modified, or deleted "
                             "between the time the first chunk was returned and now may show up in "
                             "the list.";
  ApiStatus answer = expired(std::move(message));
  answer.continue_token = std::move(fresh);
  return answer;
}

ApiStatus too_many_requests(std::string message, int retry_after_seconds) {
  return retry_after(retry_after_seconds, failure(429, "TooManyRequests", std::move(message)));
}

ApiStatus timeout(std::string_view message, int retry_after_seconds) {
  std::string text = "Timeout: ";
  return retry_after(retry_after_seconds, failure(504, "Timeout", text.append(message)));
}

ApiStatus too_large_resource_version(std::uint64_t asked, std::uint64_t current) {
  ApiStatus answer = timeout("Too large resource version: " + std::to_string(asked) +
                                 ", current: " + std::to_string(current),
                             1);
  answer.details->causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  return answer;
}

ApiStatus service_unavailable(std::string message, int retry_after_seconds) {
  ApiStatus answer = failure(503, "ServiceUnavailable", std::move(message));
  return retry_after_seconds == 0 ? answer : retry_after(retry_after_seconds, std::move(answer));
}

ApiStatus internal_error(std::string_view why) {
  std::string text = "Internal error occurred: ";
  ApiStatus answer = failure(500, "InternalError", text.append(why));
  answer.details.emplace().causes.push_back({"", std::string(why), ""});
  return answer;
}

ApiStatus entity_too_large(std::string_view why) {
  std::string text = "Request entity too large: ";
  return failure(413, "RequestEntityTooLarge", text.append(why));
}

ApiStatus unexplained(std::string message) { return failure(500, "", std::move(message)); }

ApiStatus generic(int http_status) {
  ApiStatus answer = failure(http_status, http_status >= 500 ? "InternalError" : "", {});
  answer.details.emplace();
  for (const Generic& known : generics) {
    if (known.code != http_status) continue;
    answer.reason = known.reason;
    answer.message = known.message;
    return answer;
  }
  answer.message = http_status >= 500
                       ? "an error on the server (\"unknown\") has prevented the request from "
                         "succeeding"
                       : "the server responded with the status code " +
                             std::to_string(http_status) + " but did not return more information";
  return answer;
}

ApiStatus from_error(const Error& error) {
  switch (error.code) {
    case Errc::not_found:
      return failure(404, "NotFound", error.what);
    case Errc::conflict:
      return failure(409, "Conflict", error.what);
    case Errc::gone:
      return expired(error.what);
    case Errc::denied:
      return failure(403, "Forbidden", error.what);
    case Errc::invalid:
      return bad_request(error.what);
    case Errc::timeout:
      return timeout(error.what, 0);
    case Errc::unavailable:
      return service_unavailable(error.what, 1);
    case Errc::exhausted:
      return too_many_requests(error.what, 1);
    case Errc::corrupt:
      return internal_error(error.what);
    case Errc::cancelled:
      return service_unavailable(error.what, 1);
  }
  UNREACHABLE();
}

}  // namespace holdfast::sync::wire::status
