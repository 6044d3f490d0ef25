// The part of Reads that answers from the cache.

#include "agent/edge/answers/reads.h"
#include "agent/edge/forward/unavailable.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

http::Response answer(sync::Encoding encoding, std::string body) {
  http::Response response{.status = 200, .body = std::move(body)};
  response.headers.set("Content-Type", std::string(sync::content_type(encoding)));
  return response;
}

http::Response page_answer(const CacheQuery& query, const sync::ListPage& page) {
  std::vector<std::string_view> items;
  items.reserve(page.items.size());
  for (const sync::Bytes& item : page.items) items.emplace_back(*item);
  const sync::ScopeKind& kind = query.scope->cache().kind();
  return answer(kind.encoding, sync::list_body(kind, page.part, items));
}

}  // namespace

http::Response Reads::list_from(const CacheQuery& query) {
  const sync::WatchCache& cache = query.scope->cache();
  const Query& options = query.request.query;
  const auto limit = parse_int<std::uint32_t>(options.get("limit")).value_or(0);
  if (options.has("continue")) {
    const auto token = sync::parse_page_token(options.get("continue"));
    if (!token) return to_response(sync::status::expired(std::string(sync::continue_expired)));
    const auto page = pages_.next(*query.scope, *token, limit);
    if (!page) return to_response(sync::status::expired(page.error().what));
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
                sync::list_body(cache.kind(), {.version = cache.version()}, items));
}

http::Response Reads::get_from(const CacheQuery& query) const {
  const sync::RequestInfo& info = query.request.info;
  const sync::WatchCache& cache = query.scope->cache();
  const sync::CachedObject* object = cache.find(query.object());
  if (object == nullptr) {
    return to_response(sync::status::not_found({info.group, info.resource}, info.name));
  }
  sync::ScopeKind kind = cache.kind();
  const bool foreign = query.scope->key().encoding != query.key.encoding;
  if (!foreign) return answer(kind.encoding, sync::object_body(kind, *object->bytes));
  kind.encoding = sync::parse_encoding(query.key.encoding).value_or(kind.encoding);
  const auto bytes = sync::in_encoding(kind, *object->bytes);
  if (bytes) return answer(kind.encoding, sync::object_body(kind, *bytes));
  const sync::Encoding cached = sync::encoding_of(*object->bytes);
  if (query.request.inner_accept.accepts(cached)) {
    return answer(cached, sync::object_body(cache.kind(), *object->bytes));
  }
  return unavailable(uplink_, info.resource + " are cached in " + std::string(to_string(cached)) +
                                  " only: " + bytes.error().what);
}

Result<WatchRequest> Reads::watch_request(const RoutedRequest& request) const {
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
  watch.from = sync::parse_version(from);
  if (watch.from) return watch;
  return fail(Errc::invalid, "resourceVersion: Invalid value: \"" + std::string(from) + "\"");
}

http::Response Reads::watch_from(const CacheQuery& query, const WatchRequest& watch) const {
  auto stream = open_watch(query.scope, watch, clock_);
  if (!stream) return to_response(sync::status::expired(stream.error().what));
  http::Response response{.status = 200};
  const sync::Encoding encoding = query.scope->cache().kind().encoding;
  response.headers.set("Content-Type", std::string(sync::watch_content_type(encoding)));
  response.stream = *std::move(stream);
  return response;
}

}  // namespace holdfast::agent
