// The part of ReadHandler that answers from the cache.

#include <algorithm>
#include <limits>

#include "agent/edge/answers/read_handler.h"
#include "agent/edge/cache/cached_list.h"
#include "agent/edge/forward/unavailable.h"
#include "sync/objects/list_options.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

http::Response answer(sync::wire::Encoding encoding, std::string body) {
  http::Response response{.status = 200, .body = std::move(body)};
  response.headers.set("Content-Type", std::string(sync::wire::content_type(encoding)));
  return response;
}

// The file of the cache does not give what it should contain.
http::Response unreadable(const Error& why) {
  return to_response(sync::wire::status::internal_error("the cache cannot be read: " + why.what));
}

// Smaller lists are sent in one piece.
constexpr std::size_t large_list = 256UL * 1024;

http::Response list_answer(const sync::wire::ScopeKind& kind, sync::watch::ListPage page) {
  http::Response response = answer(kind.encoding, {});
  auto list = std::make_shared<CachedList>(kind, std::move(page.part), std::move(page.items));
  const bool is_large = list->size() >= large_list;
  response.pieces = std::move(list);
  return is_large ? response : joined(std::move(response), large_list);
}

constexpr std::int64_t watch_seconds_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t limit_max = std::numeric_limits<std::int32_t>::max();

}  // namespace

std::optional<sync::wire::ApiStatus> ReadHandler::missing_state(const CacheQuery& query) const {
  const sync::watch::WatchCache& cache = query.scope->cache();
  const sync::objects::Version asked = query.version;
  const sync::objects::Version known = cache.server_version();
  // A local version that the client has seen is shown, or the API server's versions have replaced
  // it, and its list contains what was written.
  const bool seen = sync::objects::is_local(asked) ? versions_.has_assigned(asked) : asked <= known;
  if (!seen) return sync::wire::status::too_large_resource_version(asked, known);
  const bool exact = consistency_of(query.options) == sync::objects::Consistency::exact;
  if (!exact || asked == cache.version()) return std::nullopt;
  return sync::wire::status::expired("The resourceVersion for the provided list is too old: " +
                                     std::to_string(asked));
}

std::optional<http::Response> ReadHandler::refusal_of(const CacheQuery& query) const {
  if (query.refusal) return to_response(*query.refusal);
  const RoutedRequest& request = query.request;
  const sync::objects::ListOptions& options = query.options;
  const bool of_page = !request.is_watch() && !options.continue_token.empty();
  const bool of_events = request.is_watch() && !wants_initial_events(options);
  if (of_page || of_events) return std::nullopt;
  const auto missing = missing_state(query);
  if (!missing) return std::nullopt;
  // A watch is accepted, and then ends with the error.
  if (request.is_watch()) {
    return watch_answer(query, failed_watch(query.scope->cache().kind(), *missing));
  }
  return to_response(*missing);
}

http::Response ReadHandler::list_from(const CacheQuery& query) {
  const sync::watch::WatchCache& cache = query.scope->cache();
  const sync::objects::ListOptions& options = query.options;
  const auto limit =
      static_cast<std::size_t>(std::clamp(options.limit, std::int64_t{0}, limit_max));
  if (!options.continue_token.empty()) {
    const auto token = sync::watch::parse_page_token(options.continue_token);
    // Of an API server's token only that server has the snapshot.
    if (!token) return to_response(sync::wire::status::expired_token(""));
    auto page = pages_.next(*query.scope, *token, limit);
    if (page) return list_answer(cache.kind(), *std::move(page));
    return to_response(
        sync::wire::status::expired_token(sync::watch::encode_page_token({0, token->after})));
  }
  // Like an API server, ignores the limit for resourceVersion=0.
  if (limit > 0 && options.resource_version != "0") {
    return list_answer(cache.kind(), pages_.first(*query.scope, limit));
  }
  sync::watch::ListPage all{.part = {.version = cache.version()}};
  all.items.reserve(cache.objects().size());
  for (const auto& [key, object] : cache.objects()) all.items.push_back(object.bytes);
  return list_answer(cache.kind(), std::move(all));
}

http::Response ReadHandler::get_from(const CacheQuery& query) const {
  const sync::objects::RequestInfo& info = query.request.info;
  const sync::watch::WatchCache& cache = query.scope->cache();
  const sync::watch::CachedObject* object = cache.find(query.object());
  if (object == nullptr) {
    return to_response(sync::wire::status::not_found({info.group, info.resource}, info.name));
  }
  const auto read = object->bytes.load();
  if (!read) return unreadable(read.error());
  const std::string& cached = **read;
  sync::wire::ScopeKind kind = cache.kind();
  const bool foreign = query.scope->key().encoding != query.key.encoding;
  if (!foreign) return answer(kind.encoding, sync::watch::object_body(kind, cached));
  kind.encoding = sync::wire::parse_encoding(query.key.encoding).value_or(kind.encoding);
  const auto bytes = sync::watch::in_encoding(kind, cached);
  if (bytes) return answer(kind.encoding, sync::watch::object_body(kind, *bytes));
  const sync::wire::Encoding encoding = sync::watch::encoding_of(cached);
  if (query.request.inner_accept.accepts(encoding)) {
    return answer(encoding, sync::watch::object_body(cache.kind(), cached));
  }
  return unavailable(uplink_, info.resource + " are cached in " + std::string(to_string(encoding)) +
                                  " only: " + bytes.error().what);
}

WatchRequest ReadHandler::watch_request(const CacheQuery& query) const {
  const sync::objects::ListOptions& options = query.options;
  // As in kube-apiserver, a watch without timeoutSeconds lasts 30 to 60 minutes.
  const std::int64_t asked = options.timeout_seconds.value_or(0);
  const Duration lasting = asked > 0
                               ? Duration(std::chrono::seconds(std::min(asked, watch_seconds_max)))
                               : Duration(30min) + random_.jitter(30min);
  WatchRequest watch{.bookmarks = options.allow_watch_bookmarks,
                     .bookmark_interval = settings_.bookmark_interval,
                     .end = clock_.mono() + lasting};
  if (wants_initial_events(options)) {
    watch.initial_events_end = watch.bookmarks;
    return watch;
  }
  watch.from = query.version == 0 ? query.scope->cache().version() : query.version;
  return watch;
}

http::Response ReadHandler::watch_from(const CacheQuery& query, const WatchRequest& watch) const {
  auto stream = open_watch(query.scope, watch, clock_);
  if (!stream) return to_response(sync::wire::status::expired(stream.error().what));
  return watch_answer(query, *std::move(stream));
}

http::Response ReadHandler::watch_answer(const CacheQuery& query,
                                         std::shared_ptr<http::BodyStream> stream) {
  http::Response response{.status = 200};
  const sync::wire::Encoding encoding = query.scope->cache().kind().encoding;
  response.headers.set("Content-Type", std::string(sync::wire::watch_content_type(encoding)));
  response.stream = std::move(stream);
  return response;
}

}  // namespace holdfast::agent
