#include "agent/edge/answer.h"

#include "agent/edge/uplink.h"
#include "platform/http/hops.h"

namespace holdfast::agent {
namespace {

// When a client should retry if the answer may be known soon.
constexpr int retry_after_s = 1;

}  // namespace

http::Response json_response(int status, std::string body) {
  return {
      .status = status, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

http::Response to_response(const sync::ApiStatus& status) {
  http::Response response = json_response(status.code, status.body() + "\n");
  const int retry_after = status.details ? status.details->retry_after_seconds : 0;
  if (retry_after > 0) response.headers.add("Retry-After", std::to_string(retry_after));
  return response;
}

http::Response unavailable(const Uplink& uplink, std::string_view why) {
  if (uplink.link().may_ask()) {
    return to_response(sync::status::service_unavailable(std::string(why), retry_after_s));
  }
  return to_response(
      sync::status::service_unavailable(uplink.describe_outage() + "; " + std::string(why)));
}

http::Response not_reached(const Uplink& uplink, const Error& error) {
  // An own limit was reached: the byte budget or the memory for answers. Both recover soon.
  const bool soon = uplink.link().may_ask();
  if (error.code == Errc::exhausted) {
    return to_response(sync::status::too_many_requests(error.what, soon ? retry_after_s : 0));
  }
  if (error.code == Errc::timeout) return to_response(sync::status::timeout(error.what, 0));
  if (soon) {
    return to_response(
        sync::status::service_unavailable("the cloud was not reached: " + error.what));
  }
  return unavailable(uplink, error.what);
}

http::Response status_problem(int status, std::string_view message) {
  sync::ApiStatus body = sync::status::generic(status);
  body.message = message;
  return to_response(body);
}

void drop_connection_headers(http::Headers& headers, bool keep_upgrade) {
  http::drop_hop_by_hop(headers, keep_upgrade);
}

}  // namespace holdfast::agent
