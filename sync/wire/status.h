// metav1.Status, the error response of an API server, with exactly the wording of kube-apiserver;
// and the conversion of such a response to Error.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "sync/wire/field_error.h"

namespace holdfast::sync::wire {

struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;

  bool operator==(const StatusCause&) const = default;
};

struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;  // the resource ("pods"), or the kind ("Pod") for Invalid
  std::string uid;
  std::vector<StatusCause> causes;
  std::int32_t retry_after_seconds = 0;

  bool operator==(const StatusDetails&) const = default;
};

struct ApiStatus {
  std::string status = "Failure";  // or "Success"
  std::string message;
  std::string reason;
  std::optional<StatusDetails> details;
  int code = 500;  // the HTTP status; 0 is left out of the body
  std::string continue_token = {};  // with which a list whose token has expired can go on; or ""

  bool operator==(const ApiStatus&) const = default;

  [[nodiscard]] bool failed() const { return status != "Success"; }
  // The body of the response, without the newline that an API server appends.
  [[nodiscard]] std::string body() const;
};

// The name of a resource in messages: "pods", "leases.coordination.k8s.io".
struct GroupResource {
  std::string_view group;
  std::string_view resource;  // plural, lower case; or a kind

  [[nodiscard]] std::string text() const;
};

// Parses a Status in JSON; parse_status() of sync/wire/protobuf/status.h accepts both encodings.
// Errors: invalid (broken, or not a Status).
[[nodiscard]] Result<ApiStatus> parse_json_status(std::string_view body);

// Whether this is the 429 of an eviction that a PodDisruptionBudget does not allow now, rather than
// of a busy server. to_error() makes it `exhausted`.
[[nodiscard]] bool budget_forbids(const ApiStatus& status);

// Whether the server has not seen the resourceVersion of the request yet.
[[nodiscard]] bool version_is_ahead(const ApiStatus& status);

// Converts another server's response to Error. `what` is the HTTP status and the message.
[[nodiscard]] Error to_error(const ApiStatus& status);
[[nodiscard]] Errc to_errc(int http_status, std::string_view reason);

namespace status {

// The reason of conflict() when a resourceVersion is outdated.
inline constexpr std::string_view object_modified =
    "the object has been modified; please apply your changes to the latest version and try again";

[[nodiscard]] ApiStatus success(int code = 200);
[[nodiscard]] ApiStatus deleted(const GroupResource& resource, std::string_view name,
                                std::string_view uid);

[[nodiscard]] ApiStatus not_found(const GroupResource& resource, std::string_view name);
[[nodiscard]] ApiStatus already_exists(const GroupResource& resource, std::string_view name);
[[nodiscard]] ApiStatus generate_name_conflict(const GroupResource& resource, std::string_view name,
                                               int retry_after_seconds);
[[nodiscard]] ApiStatus conflict(const GroupResource& resource, std::string_view name,
                                 std::string_view why = object_modified);
[[nodiscard]] ApiStatus invalid(const GroupResource& kind, std::string_view name,
                                std::span<const FieldError> errors);
[[nodiscard]] ApiStatus forbidden(const GroupResource& resource, std::string_view name,
                                  std::string_view why);
[[nodiscard]] ApiStatus unauthorized();
[[nodiscard]] ApiStatus bad_request(std::string message);
[[nodiscard]] ApiStatus unsupported_media_type(std::span<const std::string_view> accepted);
[[nodiscard]] ApiStatus gone(std::string message);
// The requested history was compacted; the client must list again.
[[nodiscard]] ApiStatus expired(std::string message);
// The snapshot of a list's continue token is gone. `fresh` is a token for the rest of the current
// list; "": there is none.
[[nodiscard]] ApiStatus expired_token(std::string fresh);
[[nodiscard]] ApiStatus too_many_requests(std::string message, int retry_after_seconds);
[[nodiscard]] ApiStatus timeout(std::string_view message, int retry_after_seconds);
[[nodiscard]] ApiStatus too_large_resource_version(std::uint64_t asked, std::uint64_t current);
[[nodiscard]] ApiStatus service_unavailable(std::string message, int retry_after_seconds = 0);
[[nodiscard]] ApiStatus internal_error(std::string_view why);
[[nodiscard]] ApiStatus entity_too_large(std::string_view why);
// A plain error of a handler, for which upstream responds 500 without a reason.
[[nodiscard]] ApiStatus unexplained(std::string message);

// Upstream's response when it has only an HTTP status: 404 of an unknown resource, 405, 406, 415 of
// a patch, 422 of a JSON patch and others.
[[nodiscard]] ApiStatus generic(int http_status);

// Converts one of our errors to a response.
[[nodiscard]] ApiStatus from_error(const Error& error);

}  // namespace status
}  // namespace holdfast::sync::wire
