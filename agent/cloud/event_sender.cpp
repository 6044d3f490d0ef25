#include "agent/cloud/event_sender.h"

#include <utility>

#include "platform/log.h"

namespace holdfast::agent {
namespace {

constexpr Duration event_limit = std::chrono::seconds(10);

// The server did not refuse the event: it could not be reached or did not answer in time.
bool may_still_arrive(const Status& sent) {
  return !sent && (sent.error().code == Errc::unavailable || sent.error().code == Errc::timeout);
}

}  // namespace

ApiRequest to_api_request(sync::events::EventRequest request) {
  ApiRequest made{.method = request.is_patch ? http::Method::patch : http::Method::post,
                  .target = std::move(request.path),
                  .body = std::move(request.body)};
  if (request.is_patch) made.content_type = "application/strategic-merge-patch+json";
  return made;
}

asio::awaitable<Status> EventSender::record(sync::lifecycle::RecordEvent event) {
  auto write = events_.record(clock_.mono(), clock_.wall(), event);
  Status sent;
  if (!write) co_return sent;
  co_return co_await record(*std::move(write));
}

asio::awaitable<Status> EventSender::record(sync::events::EventWrite write) {
  sync::events::EventWrite copy = write;
  const Status sent = co_await send(std::move(copy));
  settle(std::move(write), 1, sent);
  co_return sent;
}

asio::awaitable<Status> EventSender::send(sync::events::EventWrite write) {
  const MonoTime deadline = clock_.mono() + event_limit;
  auto answer = co_await client_.call(to_api_request(std::move(write.request)), deadline);
  if (!answer && write.instead && answer.error().code == Errc::not_found) {
    const MonoTime later = clock_.mono() + event_limit;
    answer = co_await client_.call(to_api_request(*std::move(write.instead)), later);
  }
  Status sent;
  if (!answer) sent = fail(answer.error());
  co_return sent;
}

void EventSender::settle(sync::events::EventWrite write, int tried, const Status& sent) {
  if (sent) return;
  if (may_still_arrive(sent) && tried < retries_.tries &&
      waiting_events_.size() < retries_.waiting) {
    waiting_events_.push_back({std::move(write), tried, clock_.mono() + retries_.pause});
    changed_.notify_all();
    return;
  }
  log_debug("event lost", {{"error", sent.error()}});
  // The Event may not exist in the API, so the next one like it must not patch it.
  events_.forget(write);
}

asio::awaitable<void> EventSender::run() {
  for (;;) {
    const MonoTime due = waiting_events_.empty() ? MonoTime::max() : waiting_events_.front().due;
    if (clock_.mono() < due) {
      (void)co_await changed_.wait_until(due);
      continue;
    }
    WaitingEvent late = std::move(waiting_events_.front());
    waiting_events_.pop_front();
    sync::events::EventWrite copy = late.write;
    const Status sent = co_await send(std::move(copy));
    settle(std::move(late.write), late.tried + 1, sent);
  }
}

}  // namespace holdfast::agent
