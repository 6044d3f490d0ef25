#include "agent/edge/route/answer.h"

#include "platform/http/hops.h"

namespace holdfast::agent {
http::Response json_response(int status, std::string body) {
  return {
      .status = status, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

http::Response to_response(const sync::wire::ApiStatus& status) {
  http::Response response = json_response(status.code, status.body() + "\n");
  const int retry_after = status.details ? status.details->retry_after_seconds : 0;
  if (retry_after > 0) response.headers.add("Retry-After", std::to_string(retry_after));
  return response;
}

http::Response status_problem(int status, std::string_view message) {
  sync::wire::ApiStatus body = sync::wire::status::generic(status);
  body.message = message;
  return to_response(body);
}

http::Response joined(http::Response response, std::size_t bytes_max) {
  const Status done = response.join_pieces(bytes_max);
  if (done) return response;
  const bool too_large = done.error().code == Errc::exhausted;
  return status_problem(too_large ? 507 : 500, done.error().what);
}

void drop_connection_headers(http::Headers& headers, bool keep_upgrade) {
  http::drop_hop_by_hop(headers, keep_upgrade);
}

}  // namespace holdfast::agent
