// get, list and watch.

#include <algorithm>
#include <limits>

#include "agent/lab/apiserver/call.h"
#include "agent/lab/apiserver/selection.h"
#include "agent/lab/rules/continue_token.h"
#include "sync/objects/list_options.h"
#include "sync/objects/version.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

struct Wanted {
  sync::objects::ListOptions options;
  Selection selection;
  std::int64_t revision = 0;  // resourceVersion of the request; 0: any
};

// The revision that a resourceVersion names; 0: any. Errors: invalid.
Result<std::int64_t> parse_revision(std::string_view text) {
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  TRY(const sync::objects::Version version, sync::objects::parse_asked_version(text));
  return static_cast<std::int64_t>(std::min(version, static_cast<std::uint64_t>(last)));
}

Answer<Wanted> read_wanted(const Call& call) {
  auto options = sync::objects::accept_list_options(call.query, call.info.verb == "watch");
  if (!options) return refuse(std::move(options.error()));
  auto selection =
      Selection::parse(call.resource(), options->label_selector, options->field_selector);
  if (!selection) return refuse(selection.error());
  const auto revision = parse_revision(options->resource_version);
  if (!revision) return refuse(sync::wire::status::unexplained(revision.error().what));
  Wanted wanted{*std::move(options), *std::move(selection), *revision};
  return wanted;
}

Answer<bool> check_reached(const Backend& backend, std::int64_t revision) {
  const std::int64_t current = backend.registry.revision();
  if (revision <= current) return true;
  return refuse(sync::wire::status::too_large_resource_version(
      static_cast<std::uint64_t>(revision), static_cast<std::uint64_t>(current)));
}

// The revision that a list shows, and where its page starts.
struct Source {
  std::int64_t revision = 0;
  std::string start;  // first key, without the prefix of the list
};

Answer<Source> find_source(const Backend& backend, const Wanted& wanted) {
  if (!wanted.options.continue_token.empty()) {
    auto token = parse_continue(wanted.options.continue_token);
    if (!token) return refuse(token.error());
    const bool is_now = token->revision == current_state;
    return Source{is_now ? backend.registry.revision() : token->revision, std::move(token->start)};
  }
  if (const auto reached = check_reached(backend, wanted.revision); !reached) {
    return refuse(reached.error());
  }
  const bool exact = consistency_of(wanted.options) == sync::objects::Consistency::exact;
  return Source{exact ? wanted.revision : backend.registry.revision(), {}};
}

Answer<std::vector<StoredPtr>> read_source(Backend& backend, const Call& call,
                                           const Source& source) {
  auto items = backend.registry.list_at(call.stored(), call.name_space(), source.revision);
  if (items) return *std::move(items);
  if (items.error().code != Errc::gone)
    return refuse(sync::wire::status::from_error(items.error()));
  if (!source.start.empty()) {
    return refuse(
        sync::wire::status::expired_token(encode_continue({current_state, source.start})));
  }
  return refuse(sync::wire::status::expired(
      "The resourceVersion for the provided list is too old: " + std::to_string(source.revision)));
}

std::string key_in_list(const Call& call, const Stored& stored) {
  const std::size_t prefix = Registry::key_of(call.stored(), call.name_space(), {}).size();
  return stored.key.substr(prefix);
}

}  // namespace

Reply get(Backend& backend, const Call& call) {
  const auto revision = parse_revision(call.query.get("resourceVersion"));
  if (!revision) return refuse(sync::wire::status::unexplained(revision.error().what));
  if (const auto reached = check_reached(backend, *revision); !reached) {
    return refuse(reached.error());
  }
  const StoredPtr stored = backend.registry.find(call.stored(), call.name_space(), call.info.name);
  if (!stored) return refuse(missing(call.resource(), call.info.name));
  return reply_object(200, call, *stored, backend.clock.wall());
}

Reply list(Backend& backend, const Call& call) {
  const auto wanted = read_wanted(call);
  if (!wanted) return refuse(wanted.error());
  const auto source = find_source(backend, *wanted);
  if (!source) return refuse(source.error());
  const auto items = read_source(backend, call, *source);
  if (!items) return refuse(items.error());

  std::vector<StoredPtr> page;
  ListMeta meta{.revision = source->revision};
  // As in kube-apiserver, the limit does not count for any version, which its watch cache has.
  const bool from_any = source->start.empty() && wanted->options.resource_version == "0";
  const auto limit =
      from_any ? 0 : static_cast<std::size_t>(std::max<std::int64_t>(wanted->options.limit, 0));
  for (std::size_t at = 0; at < items->size(); ++at) {
    const StoredPtr& stored = (*items)[at];
    if (!source->start.empty() && key_in_list(call, *stored) < source->start) continue;
    if (!wanted->selection.matches(stored)) continue;
    if (limit != 0 && page.size() == limit) {
      // The next page starts right after the last key of this one.
      std::string start = key_in_list(call, *page.back());
      start += '\0';
      meta.continue_token = encode_continue({source->revision, std::move(start)});
      // With a selector the number of remaining matches is unknown.
      if (wanted->selection.everything()) {
        meta.remaining = static_cast<std::int64_t>(items->size() - at);
      }
      break;
    }
    page.push_back(stored);
  }
  return reply_json(200, render_list(call.view, page, meta, backend.clock.wall()));
}

namespace {

// Upstream's --min-request-timeout: a watch without a timeout lasts 30 to 60 minutes.
constexpr Duration shortest_watch = std::chrono::minutes(30);

WatchOrder make_order(Backend& backend, const Call& call, const Wanted& wanted) {
  WatchOrder order;
  order.view = call.view;
  order.selection = wanted.selection;
  order.prefix = Registry::key_of(call.stored(), call.name_space(), {});
  order.bookmarks = wanted.options.allow_watch_bookmarks;
  const Duration lasts = wanted.options.timeout_seconds.value_or(0) > 0
                             ? std::chrono::seconds(*wanted.options.timeout_seconds)
                             : shortest_watch + backend.random.jitter(shortest_watch);
  order.ends = backend.clock.mono() + lasts;
  return order;
}

http::Response reply_stream(std::shared_ptr<Watch> watch) {
  http::Response response = reply_json(200, {});
  response.stream = std::move(watch);
  return response;
}

// Adds the changes after `revision`, or an error if they were compacted.
void replay(Backend& backend, Watch& stream, const std::string& prefix, std::int64_t revision) {
  const auto changes = backend.registry.changes_since(prefix, revision);
  if (!changes) {
    const bool gone = changes.error().code == Errc::gone;
    stream.add_error((gone ? sync::wire::status::expired(changes.error().what)
                           : sync::wire::status::from_error(changes.error()))
                         .body());
    return;
  }
  for (const ChangePtr& change : *changes) stream.add(*change, backend.clock.wall());
}

}  // namespace

Reply watch(Backend& backend, const Call& call) {
  const auto wanted = read_wanted(call);
  if (!wanted) return refuse(wanted.error());
  const bool from_state = wants_initial_events(wanted->options);
  WatchOrder order = make_order(backend, call, *wanted);
  const std::string prefix = order.prefix;
  const std::shared_ptr<Watch> stream =
      backend.watches.open(std::move(order), backend.clock.mono());
  const WallTime now = backend.clock.wall();
  if (const auto reached = check_reached(backend, wanted->revision); from_state && !reached) {
    stream->add_error(reached.error().body());
  } else if (from_state) {
    stream->add_initial(backend.registry.list(call.stored(), call.name_space()), now);
    if (wanted->options.allow_watch_bookmarks) {
      stream->add_bookmark(backend.registry.revision(), true);
    }
  } else if (wanted->revision > 0 && wanted->revision < backend.registry.revision()) {
    replay(backend, *stream, prefix, wanted->revision);
  }
  return reply_stream(stream);
}

}  // namespace holdfast::agent::lab
