// The part of ReadHandler that answers from the cache.

#include "agent/edge/answers/read_handler.h"
#include "agent/edge/forward/unavailable.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

http::Response answer(sync::wire::Encoding encoding, std::string body) {
  http::Response response{.status = 200, .body = std::move(body)};
  response.headers.set("Content-Type", std::string(sync::wire::content_type(encoding)));
  return response;
}

http::Response page_answer(const CacheQuery& query, const sync::watch::ListPage& page) {
  std::vector<std::string_view> items;
  items.reserve(page.items.size());
  for (const sync::watch::Bytes& item : page.items) items.emplace_back(*item);
  const sync::wire::ScopeKind& kind = query.scope->cache().kind();
  return answer(kind.encoding, sync::watch::list_body(kind, page.part, items));
}

}  // namespace

http::Response ReadHandler::list_from(const CacheQuery& query) {
  const sync::watch::WatchCache& cache = query.scope->cache();
  const Query& options = query.request.query;
  const auto limit = parse_int<std::uint32_t>(options.get("limit")).value_or(0);
  if (options.has("continue")) {
    const auto token = sync::watch::parse_page_token(options.get("continue"));
    if (!token)
      return to_response(sync::wire::status::expired(std::string(sync::watch::continue_expired)));
    const auto page = pages_.next(*query.scope, *token, limit);
    if (!page) return to_response(sync::wire::status::expired(page.error().what));
    return page_answer(query, *page);
  }
  // Like an API server, ignores the limit for resourceVersion=0.
  if (limit > 0 && options.get("resourceVersion") != "0") {
    return page_answer(query, pages_.first(*query.scope, limit));
  }
  std::vector<std::string_view> items;
  items.reserve(cache.objects().size());
  for (const auto& [key, object] : cache.objects()) items.emplace_back(*object.bytes);
  return answer(cache.kind().encoding,
                sync::watch::list_body(cache.kind(), {.version = cache.version()}, items));
}

http::Response ReadHandler::get_from(const CacheQuery& query) const {
  const sync::objects::RequestInfo& info = query.request.info;
  const sync::watch::WatchCache& cache = query.scope->cache();
  const sync::watch::CachedObject* object = cache.find(query.object());
  if (object == nullptr) {
    return to_response(sync::wire::status::not_found({info.group, info.resource}, info.name));
  }
  sync::wire::ScopeKind kind = cache.kind();
  const bool foreign = query.scope->key().encoding != query.key.encoding;
  if (!foreign) return answer(kind.encoding, sync::watch::object_body(kind, *object->bytes));
  kind.encoding = sync::wire::parse_encoding(query.key.encoding).value_or(kind.encoding);
  const auto bytes = sync::watch::in_encoding(kind, *object->bytes);
  if (bytes) return answer(kind.encoding, sync::watch::object_body(kind, *bytes));
  const sync::wire::Encoding cached = sync::watch::encoding_of(*object->bytes);
  if (query.request.inner_accept.accepts(cached)) {
    return answer(cached, sync::watch::object_body(cache.kind(), *object->bytes));
  }
  return unavailable(uplink_, info.resource + " are cached in " + std::string(to_string(cached)) +
                                  " only: " + bytes.error().what);
}

Result<WatchRequest> ReadHandler::watch_request(const RoutedRequest& request) const {
  const Query& query = request.query;
  // As in kube-apiserver, a watch without timeoutSeconds lasts 30 to 60 minutes.
  const auto asked = parse_int<std::int32_t>(query.get("timeoutSeconds")).value_or(0);
  const Duration lasting =
      asked > 0 ? Duration(std::chrono::seconds(asked)) : Duration(30min) + random_.jitter(30min);
  WatchRequest watch{.initial_events_end = query.flag("sendInitialEvents"),
                     .bookmarks = query.flag("allowWatchBookmarks"),
                     .bookmark_interval = options_.bookmark_interval,
                     .end = clock_.mono() + lasting};
  const std::string_view from = query.get("resourceVersion");
  if (from.empty() || from == "0" || watch.initial_events_end) return watch;
  watch.from = sync::objects::parse_version(from);
  if (watch.from) return watch;
  return fail(Errc::invalid, "resourceVersion: Invalid value: \"" + std::string(from) + "\"");
}

http::Response ReadHandler::watch_from(const CacheQuery& query, const WatchRequest& watch) const {
  auto stream = open_watch(query.scope, watch, clock_);
  if (!stream) return to_response(sync::wire::status::expired(stream.error().what));
  http::Response response{.status = 200};
  const sync::wire::Encoding encoding = query.scope->cache().kind().encoding;
  response.headers.set("Content-Type", std::string(sync::wire::watch_content_type(encoding)));
  response.stream = *std::move(stream);
  return response;
}

}  // namespace holdfast::agent
