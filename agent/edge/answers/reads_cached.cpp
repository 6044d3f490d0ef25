// The part of Reads that answers from the cache.

#include "agent/edge/answers/question.h"
#include "agent/edge/answers/reads.h"
#include "agent/edge/answers/watch_stream.h"
#include "agent/edge/forward/unavailable.h"
#include "agent/edge/route/answer.h"
#include "platform/text.h"

namespace holdfast::agent {

asio::awaitable<http::Response> Reads::from_cache(Question question) {
  question.call->from_cache = true;
  if (question.is_watch()) co_return co_await watch_from(std::move(question));
  http::Response response = question.is_list() ? list_from(question) : get_from(question);
  co_return response;
}

http::Response Reads::answer(sync::Encoding encoding, std::string body) {
  http::Response response{.status = 200, .body = std::move(body)};
  response.headers.set("Content-Type", std::string(sync::content_type(encoding)));
  return response;
}

http::Response Reads::list_from(const Question& question) {
  const sync::WatchCache& cache = question.scope->cache();
  const Query& query = question.query;
  const auto limit = parse_int<std::uint32_t>(query.get("limit")).value_or(0);
  if (query.has("continue")) {
    const auto token = sync::parse_page_token(query.get("continue"));
    if (!token) return to_response(sync::status::expired(std::string(sync::continue_expired)));
    const auto page = pages_.next(*question.scope, *token, limit);
    if (!page) return to_response(sync::status::expired(page.error().what));
    return page_answer(question, *page);
  }
  // Like an API server, ignores the limit for resourceVersion=0.
  if (limit > 0 && query.get("resourceVersion") != "0") {
    return page_answer(question, pages_.first(*question.scope, limit));
  }
  std::vector<std::string_view> items;
  items.reserve(cache.objects().size());
  for (const auto& [key, object] : cache.objects()) items.emplace_back(*object.bytes);
  return answer(cache.kind().encoding,
                sync::list_body(cache.kind(), {.version = cache.version()}, items));
}

http::Response Reads::page_answer(const Question& question, const sync::ListPage& page) {
  std::vector<std::string_view> items;
  items.reserve(page.items.size());
  for (const sync::Bytes& item : page.items) items.emplace_back(*item);
  const sync::ScopeKind& kind = question.scope->cache().kind();
  return answer(kind.encoding, sync::list_body(kind, page.part, items));
}

http::Response Reads::get_from(const Question& question) const {
  const sync::WatchCache& cache = question.scope->cache();
  const sync::CachedObject* object = cache.find(question.object());
  if (object == nullptr) {
    return to_response(
        sync::status::not_found({question.info.group, question.info.resource}, question.info.name));
  }
  sync::ScopeKind kind = cache.kind();
  const bool foreign = question.scope->key().encoding != question.key.encoding;
  if (!foreign) return answer(kind.encoding, sync::object_body(kind, *object->bytes));
  kind.encoding = sync::parse_encoding(question.key.encoding).value_or(kind.encoding);
  const auto bytes = sync::in_encoding(kind, *object->bytes);
  if (bytes) return answer(kind.encoding, sync::object_body(kind, *bytes));
  const sync::Encoding cached = sync::encoding_of(*object->bytes);
  if (sync::accepts(question.accept, cached)) {
    return answer(cached, sync::object_body(cache.kind(), *object->bytes));
  }
  return unavailable(uplink_, question.info.resource + " are cached in " +
                                  std::string(to_string(cached)) + " only: " + bytes.error().what);
}

// The filters of the watch, begun; null if none can apply. Errors: unavailable (missing knowledge),
// invalid (an unreadable object).
asio::awaitable<Result<std::shared_ptr<ShownWatch>>> Reads::follow(
    ScopePtr scope, FilterCall call, std::optional<sync::Version> from) {
  std::shared_ptr<ShownWatch> shown;
  if (!filters_.may_concern(call)) co_return shown;
  shown = std::make_shared<ShownWatch>(filters_, std::move(call));
  const MonoTime until = filters_.deadline();
  for (;;) {
    CO_TRY(const std::optional<sync::filters::Need> need, shown->begin(scope->cache(), from));
    if (!need) co_return shown;
    const bool learnt = co_await filters_.learn(*need, until);
    if (learnt) continue;
    std::string why = scope->key().resource;
    why.append(" cannot be filtered before ").append(to_string(*need)).append(" are known");
    co_return fail(Errc::unavailable, std::move(why));
  }
}

asio::awaitable<http::Response> Reads::watch_from(Question question) {
  const Query& query = question.query;
  // As in kube-apiserver, a watch without timeoutSeconds lasts 30 to 60 minutes.
  const auto asked = parse_int<std::int32_t>(query.get("timeoutSeconds")).value_or(0);
  const Duration lasting =
      asked > 0 ? Duration(std::chrono::seconds(asked)) : Duration(30min) + random_.jitter(30min);
  WatchRequest watch{.initial_events_end = query.flag("sendInitialEvents"),
                     .bookmarks = query.flag("allowWatchBookmarks"),
                     .bookmark_interval = options_.bookmark_interval,
                     .end = clock_.mono() + lasting};
  const std::string_view from = query.get("resourceVersion");
  if (!from.empty() && from != "0" && !watch.initial_events_end) {
    watch.from = sync::parse_version(from);
    if (!watch.from) {
      std::string why = "resourceVersion: Invalid value: \"";
      why.append(from).append("\"");
      co_return to_response(sync::status::bad_request(std::move(why)));
    }
  }
  ScopePtr scope = question.scope;
  FilterCall call = *question.call;
  auto shown = co_await follow(std::move(scope), std::move(call), watch.from);
  if (!shown && shown.error().code == Errc::unavailable) {
    co_return unavailable(uplink_, shown.error().what);
  }
  if (!shown) co_return to_response(sync::status::internal_error(shown.error().what));
  watch.shown = *std::move(shown);
  question.call->streamed = true;
  auto stream = open_watch(question.scope, watch, clock_);
  if (!stream) co_return to_response(sync::status::expired(stream.error().what));
  http::Response response{.status = 200};
  const sync::Encoding encoding = question.scope->cache().kind().encoding;
  response.headers.set("Content-Type", std::string(sync::watch_content_type(encoding)));
  response.stream = *std::move(stream);
  co_return response;
}

}  // namespace holdfast::agent
