#include "agent/edge/offline/token_handler.h"

#include "agent/edge/cache/stored_tokens.h"
#include "agent/edge/forward/unavailable.h"
#include "platform/log.h"

namespace holdfast::agent {
namespace {

// As many as tokens can be stored (AnswerLimits): what is more belongs to tokens that are gone.
constexpr std::size_t noted_max = 1000;

std::string name_of(const RoutedRequest& request, const std::string& key) {
  return request.caller.owner + " " + key;
}

}  // namespace

asio::awaitable<http::Response> TokenHandler::serve(const RoutedRequest& request) {
  const std::string key = token_key(request.http.path(), request.http.body);
  if (uplink_.link().allows_reads()) {
    const bool is_stored = answer_cache_.find(request.caller, key).has_value();
    const Duration limit = is_stored ? uplink_.limit_with_fallback(deadlines_) : deadlines_.write;
    http::Response response = co_await forwarder_.forward(request, limit);
    if (response.status == 200 || response.status == 201) {
      store::Answer answer{.status = response.status,
                           .content_type = std::string(response.headers.get("content-type")),
                           .bytes = response.body};
      answer.expires = end_of_token(key, answer);
      answer_cache_.put(request, key, answer);
      noted_.erase(name_of(request, key));
      co_return response;
    }
    if (response.status < 500) co_return response;
  }
  auto known = answer_cache_.find(request.caller, key);
  if (!known) co_return unavailable(uplink_, "no token is stored for this request");
  note_end(request, key, *known);
  co_return to_response(*std::move(known));
}

void TokenHandler::note_end(const RoutedRequest& request, const std::string& key,
                            const store::Answer& stored) {
  const auto ends = end_of_token(key, stored);
  if (!ends || *ends > clock_.wall()) return;
  if (noted_.size() >= noted_max) noted_.clear();
  if (!noted_.insert(name_of(request, key)).second) return;
  const sync::objects::RequestInfo& info = request.info;
  const std::string subject = "serviceaccounts/" + info.namespace_name + "/" + info.name;
  log_warn(
      "a token that has ended by this node's clock is given, because only the API server can "
      "refuse it",
      {{"subject", subject}, {"ended", format_rfc3339(*ends)}});
  offline_store_.record("token", subject,
                        "a token that ended at " + format_rfc3339(*ends) +
                            " by this node's clock is given, because only the API server can "
                            "refuse it");
}

}  // namespace holdfast::agent
