#include "agent/client/list_watch.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <deque>
#include <utility>

#include "agent/client/limited_client.h"
#include "platform/log.h"
#include "platform/loop/timer.h"
#include "platform/memory.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"
#include "sync/wire/protobuf/list.h"
#include "sync/wire/protobuf/status.h"

namespace holdfast::agent {
namespace {

namespace reflect = sync::watch::reflect;
using State = sync::watch::Reflector::State;

constexpr std::size_t large_list = 1UL << 20;  // bytes
// What a copied item needs besides its bytes: a string in a vector, and the allocator's own part.
constexpr std::size_t item_overhead = 64;
constexpr std::size_t large_piece = 4UL << 10;

// The same Accept headers as client-go.
constexpr std::string_view list_types = "application/vnd.kubernetes.protobuf,application/json";
constexpr std::string_view watch_types =
    "application/vnd.kubernetes.protobuf;stream=watch,application/json;stream=watch";

bool in_protobuf(const http::Response& response) {
  return sync::wire::is_protobuf_type(response.headers.get("Content-Type"));
}

// Splits a watch stream into events, in the encoding that the server chose.
class EventReader {
 public:
  EventReader(bool protobuf, const sync::wire::FrameLimits& limits)
      : protobuf_(protobuf), frames_(limits), documents_(limits) {}

  Result<std::vector<std::string>> feed(std::string_view piece) {
    return protobuf_ ? frames_.feed(piece) : documents_.feed(piece);
  }
  [[nodiscard]] Result<sync::wire::WatchEvent> decode(std::string_view event) const {
    return protobuf_ ? sync::wire::decode_protobuf_event(event) : sync::wire::decode_event(event);
  }
  [[nodiscard]] std::size_t held() const { return protobuf_ ? frames_.held() : documents_.held(); }

 private:
  bool protobuf_;
  sync::wire::ProtobufFrames frames_;
  sync::wire::FrameSplitter documents_;
};

class Run {
 public:
  Run(ListWatchTarget target, ListWatchSource& source, ListWatchSink& sink, const Clock& clock,
      Random& random)
      : target_(std::move(target)),
        source_(source),
        sink_(sink),
        clock_(clock),
        reflector_(target_.reflector, random) {}

  // Performs the queued actions, then reads the watch or sleeps until the reflector's deadline.
  asio::awaitable<void> run() {
    feed(reflect::Started{target_.resume_from, target_.list_due});
    for (;;) {
      while (!actions_.empty()) {
        reflect::Action action = std::move(actions_.front());
        actions_.pop_front();
        co_await perform(std::move(action));
      }
      if (reflector_.state() == State::watching) {
        co_await read_watch();
      } else {
        co_await loop::sleep_until(reflector_.deadline());
        feed(reflect::TimePassed{});
      }
    }
  }

 private:
  void feed(reflect::Input input) {
    for (auto& action : reflector_.step(clock_.mono(), std::move(input))) {
      actions_.push_back(std::move(action));
    }
  }

  asio::awaitable<void> perform(reflect::Action action) {
    if (const auto* list = std::get_if<reflect::SendList>(&action)) {
      co_await send_list(*list);
    } else if (const auto* watch = std::get_if<reflect::OpenWatch>(&action)) {
      co_await open_watch(*watch);
    } else {
      perform_now(std::move(action));
    }
  }

  // Performs any action except SendList and OpenWatch, which wait for a server.
  void perform_now(reflect::Action action) {
    if (auto* replace = std::get_if<reflect::Replace>(&action)) {
      take_list(std::move(*replace));
    } else if (auto* page = std::get_if<reflect::TakePage>(&action)) {
      const Status taken = sink_.try_page(std::move(page->items), page->first, kind_);
      if (!taken) give_up(taken.error());
    } else if (const auto* end = std::get_if<reflect::EndList>(&action)) {
      end_list(end->resource_version);
    } else if (const auto* apply = std::get_if<reflect::Apply>(&action)) {
      const Status applied = sink_.try_apply(apply->event);
      if (!applied) give_up(applied.error());
    } else if (const auto* bookmark = std::get_if<reflect::Bookmark>(&action)) {
      sink_.bookmark(bookmark->resource_version);
    } else if (std::holds_alternative<reflect::CloseWatch>(action)) {
      close_watch();
    } else if (const auto* warn = std::get_if<reflect::Warn>(&action)) {
      log_warn("list-watch", {{"path", target_.path}, {"what", warn->what}});
    } else if (const auto* stall = std::get_if<reflect::ReportStall>(&action)) {
      sink_.watch_stalled(stall->failure);
    }
  }

  [[nodiscard]] std::string target(Query query) const {
    if (!target_.label_selector.empty()) query.set("labelSelector", target_.label_selector);
    if (!target_.field_selector.empty()) query.set("fieldSelector", target_.field_selector);
    const std::string text = query.encode();
    return text.empty() ? target_.path : target_.path + "?" + text;
  }

  void take_list(reflect::Replace list) {
    const Status taken = sink_.try_replace(std::move(list.items), list.resource_version, kind_);
    if (!taken) give_up(taken.error());
    return_list();
  }

  void end_list(const std::string& version) {
    const Status taken = sink_.try_end_list(version);
    if (!taken) give_up(taken.error());
    return_list();
  }

  // Returns the memory of a list of which nothing is held here any more.
  void return_list() {
    list_items_ = 0;
    if (std::exchange(list_bytes_, 0) >= large_list) release_free_memory();
  }

  // The sink has no room. The queued actions belong to the same list or watch, so they are dropped.
  void give_up(const Error& error) {
    actions_.clear();
    close_watch();
    const sync::watch::Failure failure = failure_of_all(error);
    if (reflector_.state() == State::listing) return fail_list(failure);
    sink_.list_failed(failure);
    feed(reflect::WatchFailed{failure});
    return_list();
  }

  void fail_list(const sync::watch::Failure& failure, bool was_too_much = false) {
    feed(reflect::ListFailed{failure, was_too_much});
    if (reflector_.state() != State::waiting) return;  // Another page or list follows at once.
    (void)sink_.try_reserve(0);
    sink_.list_failed(failure);
    return_list();
  }

  void fail_watch(const sync::watch::Failure& failure) {
    const bool in_event = stream_ && events_.held() > 0;
    close_watch();
    if (failure.code != Errc::gone) sink_.watch_failed(failure);
    feed(reflect::WatchFailed{failure, in_event});
  }

  asio::awaitable<void> send_list(const reflect::SendList& list) {
    Query query;
    if (!list.resource_version.empty()) query.set("resourceVersion", list.resource_version);
    if (list.not_older) query.set("resourceVersionMatch", "NotOlderThan");
    if (list.limit > 0) query.set("limit", std::to_string(list.limit));
    if (!list.continue_token.empty()) query.set("continue", list.continue_token);
    ApiRequest request{.target = target(std::move(query)), .may_be_large = true};
    if (target_.ask_protobuf) request.accept = list_types;
    if (list.continue_token.empty()) {
      list_bytes_ = 0;
      list_items_ = 0;
      (void)sink_.try_reserve(0);
      sink_.list_begins();
    }
    auto response = co_await source_.send(std::move(request), false);
    if (!response) {
      // It was above a limit, or it was broken off.
      const Errc code = response.error().code;
      const bool was_too_much = code == Errc::exhausted || code == Errc::corrupt;
      sync::watch::Failure failure = sync::watch::failure_of(response.error());
      const bool is_least = list.limit == 1 || target_.answer_may_be_list;
      failure.list_too_large = code == Errc::exhausted && is_least;
      fail_list(failure, was_too_much);
    } else if (response->status != 200) {
      fail_list(failure_of(*response));
    } else {
      take_page(response->body, in_protobuf(*response));
    }
  }

  void take_page(std::string& body, bool protobuf) {
    list_bytes_ += body.size();
    if (list_bytes_ > target_.reflector.list_bytes) {
      const std::string limit = std::to_string(target_.reflector.list_bytes);
      return fail_list(
          failure_of_all({Errc::exhausted, "the list has more than " + limit + " bytes"}));
    }
    const std::size_t held = target_.reflector.by_page ? body.size() : list_bytes_;
    if (auto room = sink_.try_reserve(held); !room)
      return fail_list(sync::watch::failure_of(room.error()));
    const std::size_t items_max = target_.reflector.list_items - list_items_;
    auto list = protobuf ? sync::wire::split_protobuf_list(body, items_max)
                         : sync::wire::split_list(body, items_max);
    if (!list) return fail_list(failure_of_all(list.error()));
    list_items_ += list->items.size();
    const std::size_t items = target_.reflector.by_page ? list->items.size() : list_items_;
    if (auto room = sink_.try_reserve(held + items * item_overhead); !room)
      return fail_list(sync::watch::failure_of(room.error()));
    reflect::PageReceived page{.resource_version = list->head.resource_version,
                               .continue_token = list->head.continue_token};
    page.items.reserve(list->items.size());
    kind_ = {.kind = std::string(sync::wire::item_kind(list->head.kind)),
             .api_version = list->head.api_version,
             .encoding = protobuf ? sync::wire::Encoding::protobuf : sync::wire::Encoding::json};
    std::size_t discarded = 0;
    for (const std::string_view item : list->items) {
      page.items.push_back(protobuf ? sync::wire::enveloped(kind_.api_version, kind_.kind, item)
                                    : std::string(item));
      // The memory pages of `body` that were copied are freed at once, so that a large list is not
      // held twice.
      const auto copied = static_cast<std::size_t>(item.data() - body.data()) + item.size();
      if (copied - discarded < large_list) continue;
      discard_memory(body.data() + discarded, copied - discarded);
      discarded = copied;
    }
    const bool last = page.continue_token.empty();
    feed(std::move(page));
    // feed() has queued the whole list for the sink, which is performed next and counts the list
    // itself.
    if (last) (void)sink_.try_reserve(0);
  }

  // The failure of a list that was read, or of the scope as a whole.
  static sync::watch::Failure failure_of_all(const Error& error) {
    sync::watch::Failure failure = sync::watch::failure_of(error);
    failure.list_too_large = error.code == Errc::exhausted;
    return failure;
  }

  asio::awaitable<void> open_watch(const reflect::OpenWatch& watch) {
    Query query;
    query.set("watch", "true");
    query.set("allowWatchBookmarks", "true");
    query.set("resourceVersion", watch.resource_version);
    query.set("timeoutSeconds", std::to_string(watch.timeout_seconds));
    ApiRequest request{.target = target(std::move(query))};
    if (target_.ask_protobuf) request.accept = watch_types;
    auto response = co_await source_.send(std::move(request), true);
    if (!response) {
      fail_watch(sync::watch::failure_of(response.error()));
    } else if (!response->stream) {
      fail_watch(failure_of(*response));
    } else {
      stream_ = std::move(response->stream);
      events_ = EventReader(in_protobuf(*response), target_.frames);
      feed(reflect::WatchOpened{});
      sink_.watch_opened();
    }
  }

  void close_watch() {
    events_ = EventReader(false, {});
    (void)sink_.try_reserve(0);
    if (stream_) stream_->cancel();
    stream_.reset();
  }

  // Reads the next piece of the watch, or handles its end or the reflector's deadline.
  asio::awaitable<void> read_watch() {
    const auto stream = stream_;
    loop::Timer limit(co_await asio::this_coro::executor, reflector_.deadline());
    limit.async_wait([stream](const boost::system::error_code& ec) {
      if (!ec) stream->cancel();
    });
    const auto piece = co_await stream->next();
    const bool late = limit.cancel() == 0;
    if (late) {
      feed(reflect::TimePassed{});
    } else if (!piece) {
      fail_watch(sync::watch::failure_of(piece.error()));
    } else if (piece->empty() && events_.held() > 0) {
      fail_watch({.what = "the watch ended in the middle of an event"});
    } else if (piece->empty()) {
      feed(reflect::WatchEnded{});
    } else {
      take_piece(*piece);
      // After a large piece more data is probably waiting already: no pause, or the watch falls
      // behind.
      const bool gathers = target_.gather > Duration::zero() && piece->size() < large_piece;
      if (gathers) co_await loop::sleep_until(clock_.mono() + target_.gather);
    }
  }

  void take_piece(const std::string& piece) {
    const auto bytes = events_.feed(piece);
    if (!bytes) return fail_watch(sync::watch::failure_of(bytes.error()));
    if (auto room = sink_.try_reserve(events_.held()); !room) {
      return fail_watch(sync::watch::failure_of(room.error()));
    }
    for (const std::string& each : *bytes) {
      auto event = events_.decode(each);
      if (!event) {
        fail_watch(sync::watch::failure_of(event.error()));
      } else {
        feed(reflect::EventReceived{*std::move(event)});
        // Performed before the next event, which must not be applied if there was no room for this
        // one.
        while (!actions_.empty()) {
          reflect::Action action = std::move(actions_.front());
          actions_.pop_front();
          perform_now(std::move(action));
        }
      }
      // The other events belong to a watch that has ended.
      if (reflector_.state() != State::watching) return;
    }
  }

  ListWatchTarget target_;
  ListWatchSource& source_;
  ListWatchSink& sink_;
  const Clock& clock_;
  sync::watch::Reflector reflector_;
  std::deque<reflect::Action> actions_;
  sync::wire::ScopeKind kind_;  // of the last list
  std::size_t list_bytes_ = 0;  // bytes of the pages so far
  std::size_t list_items_ = 0;  // objects of the pages so far
  std::shared_ptr<http::BodyStream> stream_;
  EventReader events_{false, {}};
};

}  // namespace

sync::watch::Failure failure_of(const http::Response& response) {
  const auto status = sync::wire::parse_status(response.body);
  sync::watch::Failure failure{.code = sync::wire::to_errc(response.status, ""),
                               .what = "answered " + std::to_string(response.status)};
  if (status) failure = sync::watch::failure_of(*status);
  failure.http_status = response.status;
  // Some servers send Retry-After only as a header: a full priority level (APF), a load balancer.
  const Duration pause = pause_of(response, {}).value_or(Duration::zero());
  failure.retry_after = std::max(failure.retry_after, pause);
  return failure;
}

asio::awaitable<void> run_list_watch(ListWatchTarget target, ListWatchSource& source,
                                     ListWatchSink& sink, const Clock& clock, Random& random) {
  Run run(std::move(target), source, sink, clock, random);
  co_await run.run();
}

}  // namespace holdfast::agent
