#include "sync/watch/reflector.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"
#include "sync/wire/protobuf/status.h"

namespace holdfast::sync::watch {

using reflect::Actions;
using reflect::Apply;
using reflect::Bookmark;
using reflect::CloseWatch;
using reflect::EndList;
using reflect::EventReceived;
using reflect::Input;
using reflect::ListFailed;
using reflect::OpenWatch;
using reflect::PageReceived;
using reflect::Replace;
using reflect::ReportStall;
using reflect::SendList;
using reflect::Started;
using reflect::TakePage;
using reflect::TimePassed;
using reflect::WaitUntil;
using reflect::Warn;
using reflect::WatchEnded;
using reflect::WatchFailed;
using reflect::WatchOpened;

namespace {

// Whether the watch may continue at the last version; otherwise only a list helps. This excludes
// 500, because the requested version itself may have caused it.
bool can_watch_again(const Failure& failure) {
  const bool passing = failure.code == Errc::unavailable || failure.code == Errc::timeout;
  return passing && failure.http_status != 500 && !failure.version_too_large;
}

}  // namespace

Failure failure_of(const wire::ApiStatus& status) {
  const Error error = wire::to_error(status);
  const Duration asked =
      std::chrono::seconds(status.details ? status.details->retry_after_seconds : 0);
  return {.http_status = status.code,
          .code = error.code,
          .version_too_large = wire::version_is_ahead(status),
          .retry_after = std::clamp(asked, Duration::zero(), retry_after_max),
          .what = error.what};
}

Failure failure_of(const Error& error) {
  return {.http_status = 0,
          .code = error.code,
          .version_too_large = false,
          .retry_after = {},
          .what = error.what};
}

bool is_refusal(const Failure& failure) {
  const int status = failure.http_status;
  return status >= 400 && status < 500 && status != 408 && status != 410 && status != 429;
}

Duration pause_after_too_large(const ReflectorConfig::TooLarge& config, int n) {
  Duration pause = config.first;
  for (int i = 1; i < n && pause < config.most; ++i) pause *= 2;
  return std::min(pause, config.most);
}

Reflector::Reflector(const ReflectorConfig& config, Random& random)
    : config_(config),
      random_(random),
      backoff_(config.backoff),
      list_backoff_(config.list_backoff.value_or(config.backoff)),
      page_size_(config.page_bytes == 0 ? config.page_size
                                        : std::min(config.first_page, config.page_size)),
      too_large_(config.too_large.before) {
  CHECK(config.page_size >= 0);
  CHECK(config.page_bytes == 0 || (config.page_size > 0 && config.first_page > 0));
  CHECK(config.watch_timeout_min > Duration::zero());
}

Actions Reflector::step(MonoTime now, Input input) {
  monotonic_.check(now);
  Actions actions;
  std::visit(
      [this, now, &actions](auto&& each) { on(now, std::forward<decltype(each)>(each), actions); },
      std::move(input));
  return actions;
}

void Reflector::on(MonoTime now, const Started& started, Actions& actions) {
  CHECK(state_ == State::idle);
  seen_ = started.resume_from;
  granted_ = config_.granted || !seen_.empty();
  if (!seen_.empty()) return watch(now, actions);
  return now < started.list_due ? pause(started.list_due, true, actions) : list(actions);
}

void Reflector::on(MonoTime now, PageReceived&& page, Actions& actions) {
  CHECK(state_ == State::listing);
  std::size_t page_bytes = 0;
  for (const std::string& item : page.items) page_bytes += item.size();
  items_bytes_ += page_bytes;
  asked_less_ = false;
  fit_page(page.items.size(), page_bytes);
  if (items_bytes_ > config_.list_bytes) {
    actions.push_back(Warn{"a list of more than " + std::to_string(config_.list_bytes) + " bytes"});
    return wait_after(now, {.code = Errc::exhausted, .list_too_large = true}, actions);
  }
  keep(std::move(page.items), actions);
  if (!continued_) list_version_ = std::move(page.resource_version);
  if (!page.continue_token.empty()) {
    if (asked_version_ == "0") server_pages_ = true;
    continued_ = true;
    return send({}, page_size_, std::move(page.continue_token), actions);
  }
  if (config_.page_bytes == 0) page_size_ = std::min(page_size_ * 2, config_.page_size);
  seen_ = std::exchange(list_version_, {});
  seen_is_gone_ = false;
  if (config_.by_page) {
    actions.push_back(EndList{seen_});
  } else {
    actions.push_back(Replace{std::exchange(items_, {}), seen_});
  }
  watch(now, actions);
}

void Reflector::fit_page(std::size_t objects, std::size_t bytes) {
  if (config_.page_bytes == 0 || bytes == 0) return;
  const std::size_t each = std::max<std::size_t>(bytes / objects, 1);
  const auto fitting = static_cast<std::int64_t>(config_.page_bytes / each);
  const std::int64_t most = std::min(page_size_ * 4, config_.page_size);
  page_size_ = std::clamp<std::int64_t>(fitting, 1, most);
}

void Reflector::keep(std::vector<std::string>&& items, Actions& actions) {
  if (config_.by_page) {
    actions.push_back(TakePage{std::move(items), !continued_});
  } else if (items_.empty()) {
    items_ = std::move(items);
  } else {
    items_.insert(items_.end(), std::make_move_iterator(items.begin()),
                  std::make_move_iterator(items.end()));
  }
}

void Reflector::on(MonoTime now, const ListFailed& failed, Actions& actions) {
  CHECK(state_ == State::listing);
  const bool gone = failed.failure.code == Errc::gone;
  if (ask_for_less(failed, actions)) return;
  // The pages so far belong to a snapshot that the server has discarded. Get the whole list in one
  // request, unless that may be more than the owner can hold or receive.
  if (gone && continued_) {
    // A server that sends that in pages, too, would be asked again and again.
    const bool again = config_.by_page || asked_all_ || needs_small_pages();
    // Small pages took so long that the snapshot was discarded meanwhile.
    page_size_ = std::min(page_size_ * 2, config_.page_size);
    return again ? wait_after(now, failed.failure, actions) : list_all(actions);
  }
  if ((gone || failed.failure.version_too_large) && !asked_version_.empty()) {
    seen_is_gone_ = true;
    return list(actions);
  }
  wait_after(now, failed.failure, actions);
}

bool Reflector::ask_for_less(const ListFailed& failed, Actions& actions) {
  if (!failed.was_too_much || page_size_ <= 1) return false;
  page_size_ = std::max<std::int64_t>(page_size_ / 4, 1);
  if (failed.failure.code != Errc::exhausted || failed.failure.list_too_large) return false;
  if (std::exchange(asked_less_, true)) return false;
  if (continued_) {
    // The pages so far remain.
    send({}, page_size_, asked_token_, actions);
  } else {
    list(actions);
  }
  return true;
}

void Reflector::on(MonoTime now, const WatchOpened&, Actions&) {
  CHECK(state_ == State::opening);
  state_ = State::watching;
  watch_opened_at_ = now;
  granted_ = true;
  refusals_ = 0;
  too_large_ = 0;
}

void Reflector::on(MonoTime now, EventReceived&& received, Actions& actions) {
  CHECK(state_ == State::watching);
  wire::WatchEvent& event = received.event;
  if (event.type == wire::WatchEvent::Type::error) {
    actions.push_back(CloseWatch{});
    const auto status = wire::parse_status(event.object);
    return recover(now, status ? failure_of(*status) : failure_of(status.error()), false, actions);
  }
  watch_had_event_ = true;
  barren_ = 0;
  seen_ = event.resource_version;
  if (event.type == wire::WatchEvent::Type::bookmark) {
    actions.push_back(Bookmark{seen_});
  } else {
    actions.push_back(Apply{std::move(event)});
  }
}

void Reflector::on(MonoTime now, const WatchEnded&, Actions& actions) {
  CHECK(state_ == State::opening || state_ == State::watching);
  if (open_for(now) >= config_.short_watch) {
    barren_ = 0;
    return watch(now, actions);
  }
  const std::string what = "very short watch: closed without an event";
  if (!watch_had_event_) actions.push_back(Warn{what});
  watch_later(now, {.code = Errc::unavailable, .what = what}, false, actions);
}

void Reflector::on(MonoTime now, const WatchFailed& failed, Actions& actions) {
  CHECK(state_ == State::opening || state_ == State::watching);
  recover(now, failed.failure, failed.in_event, actions);
}

void Reflector::on(MonoTime now, const TimePassed&, Actions& actions) {
  if (now < deadline_) return;
  if (state_ == State::waiting) return list_next_ ? list(actions) : watch(now, actions);
  CHECK(state_ == State::opening || state_ == State::watching);
  actions.push_back(CloseWatch{});
  actions.push_back(Warn{"a watch outlived its timeout"});
  wait(now, {}, false, actions);
}

// Asks for the last version seen, so that the scope never goes back in time, unless the server does
// not have that version.
void Reflector::list(Actions& actions) {
  drop_pages();
  asked_all_ = false;
  asked_version_ = seen_is_gone_ ? "" : seen_.empty() ? config_.first_list_version : seen_;
  // A server does not answer lists with a limit from its watch cache, except for version "0". Then
  // it ignores the limit.
  if (needs_small_pages() && asked_version_ == "0") asked_version_.clear();
  const bool paged = config_.by_page || server_pages_ || needs_small_pages() ||
                     asked_version_.empty() || asked_version_ == "0";
  send(asked_version_, paged ? page_size_ : 0, {}, actions);
}

void Reflector::list_all(Actions& actions) {
  drop_pages();
  asked_all_ = true;
  asked_version_.clear();
  send({}, 0, {}, actions);
}

void Reflector::send(std::string version, std::int64_t limit, std::string token, Actions& actions) {
  state_ = State::listing;
  deadline_ = MonoTime::max();
  asked_token_ = token;
  const bool not_older = limit > 0 && !version.empty() && version != "0";
  actions.push_back(SendList{std::move(version), limit, std::move(token), not_older});
}

void Reflector::watch(MonoTime now, Actions& actions) {
  state_ = State::opening;
  watch_sent_at_ = now;
  watch_had_event_ = false;
  const double seconds =
      std::chrono::duration<double>(config_.watch_timeout_min).count() * (1.0 + random_.unit());
  const auto timeout = static_cast<std::int64_t>(seconds);
  deadline_ = now + std::chrono::seconds(timeout) + config_.watch_overtime;
  actions.push_back(OpenWatch{seen_, timeout});
}

void Reflector::wait(MonoTime now, Duration at_least, bool then_list, Actions& actions) {
  pause(now + std::max(backoff_.next(now, random_), at_least), then_list, actions);
}

void Reflector::wait_after(MonoTime now, const Failure& failure, Actions& actions) {
  if (!config_.list_backoff) return wait(now, failure.retry_after, true, actions);
  Duration at_least = failure.retry_after;
  if (is_refusal(failure)) at_least = std::max(at_least, pause_after_refusal());
  if (failure.list_too_large) {
    const Duration least = pause_after_too_large(config_.too_large, ++too_large_);
    at_least = std::max(at_least, least + random_.jitter(least / 4));
  }
  pause(now + std::max(list_backoff_.next(now, random_), at_least), true, actions);
}

Duration Reflector::pause_after_refusal() {
  if (!granted_) return config_.refused_pause;
  Duration pause = config_.refused_pause_first;
  for (int i = 0; i < refusals_ && pause < config_.refused_pause; ++i) pause *= 2;
  ++refusals_;
  return std::min(pause, config_.refused_pause);
}

void Reflector::pause(MonoTime until, bool then_list, Actions& actions) {
  drop_pages();
  state_ = State::waiting;
  list_next_ = then_list;
  deadline_ = until;
  actions.push_back(WaitUntil{deadline_});
}

void Reflector::recover(MonoTime now, const Failure& failure, bool in_event, Actions& actions) {
  if (can_watch_again(failure)) return watch_later(now, failure, in_event, actions);
  barren_ = 0;
  if (failure.code == Errc::gone) return wait(now, failure.retry_after, true, actions);
  actions.push_back(Warn{"watch: " + failure.what});
  wait_after(now, failure, actions);
}

void Reflector::watch_later(MonoTime now, const Failure& failure, bool in_event, Actions& actions) {
  if (has_brought_nothing(now, failure, in_event)) {
    if (barren_++ == 0) barren_since_ = now;
  } else {
    barren_ = 0;
  }
  if (barren_ < config_.stalled_watches || now - barren_since_ < config_.stalled_time) {
    return wait(now, failure.retry_after, false, actions);
  }
  Failure stall = failure;
  stall.what = "one watch after the other brings nothing: " + failure.what;
  actions.push_back(Warn{stall.what});
  actions.push_back(ReportStall{std::move(stall)});
  barren_ = 0;
  // A list would cost an overloaded server more.
  if (failure.http_status == 429) return wait(now, failure.retry_after, false, actions);
  wait_after(now, failure, actions);
}

bool Reflector::has_brought_nothing(MonoTime now, const Failure& failure, bool in_event) const {
  if (watch_had_event_) return false;
  // Without an answer that concerns the link, not the scope.
  const bool is_away = failure.http_status == 0 && failure.code == Errc::unavailable;
  if (state_ == State::opening) return !is_away;
  return in_event || open_for(now) < config_.short_watch;
}

Duration Reflector::open_for(MonoTime now) const {
  return state_ == State::watching ? now - watch_opened_at_ : Duration::zero();
}

void Reflector::drop_pages() {
  continued_ = false;
  items_.clear();
  items_.shrink_to_fit();
  items_bytes_ = 0;
  list_version_.clear();
}

}  // namespace holdfast::sync::watch
