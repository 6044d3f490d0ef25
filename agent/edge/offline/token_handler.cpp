#include "agent/edge/offline/token_handler.h"

#include "agent/edge/forward/unavailable.h"
#include "platform/tls/digest.h"
#include "sync/autonomy/local_form.h"
#include "sync/wire/object_header.h"

namespace holdfast::agent {
namespace {

// When a token expires; nothing if its answer does not say.
std::optional<WallTime> expiry_of(const std::string& token_request) {
  const auto json = sync::autonomy::body_as_json(token_request);
  if (!json) return std::nullopt;
  const auto text =
      sync::wire::text_at(*json, {"status", "expirationTimestamp"}).value_or(std::nullopt);
  const auto time = parse_rfc3339(text.value_or(""));
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace

asio::awaitable<http::Response> TokenHandler::serve(const RoutedRequest& request) {
  // The same request gets the same token: audience, bound pod and duration are in the body.
  const std::string key =
      "token " + std::string(request.http.path()) + " " + tls::sha256_hex(request.http.body);
  if (uplink_.link().allows_reads()) {
    http::Response response = co_await forwarder_.forward(request, options_.read_deadline);
    if (response.status == 200 || response.status == 201) {
      answer_cache_.put(request, key,
                        {.status = response.status,
                         .content_type = std::string(response.headers.get("content-type")),
                         .bytes = response.body,
                         .expires = expiry_of(response.body)});
      co_return response;
    }
    if (response.status < 500) co_return response;
  }
  auto known = answer_cache_.find(request.caller, key);
  const bool valid = known && known->expires && *known->expires > clock_.wall();
  if (!valid) co_return unavailable(uplink_, "no valid token is stored");
  co_return to_response(*std::move(known));
}

}  // namespace holdfast::agent
