// Writes Event objects to an API server and retries for a while when the server cannot be reached.
//
// As in client-go, an event is tried twelve times, ten seconds apart, and then dropped. An event
// that the server refuses is dropped at once; unlike in client-go, 429 and 5xx are no refusals. The
// controllers do not wait for events.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>

#include "agent/client/api_client.h"
#include "platform/loop/event.h"
#include "sync/events/event_aggregator.h"

namespace holdfast::agent {

struct EventRetries {
  int tries = 12;
  Duration pause = std::chrono::seconds(10);
  std::size_t waiting = 1000;  // events between two tries; more are dropped
};

[[nodiscard]] ApiRequest to_api_request(sync::events::EventRequest request);

class EventSender {
 public:
  // `client` and `clock` are borrowed and outlive it.
  EventSender(asio::any_io_executor executor, ApiCaller& client, const Clock& clock,
              EventRetries retries = {})
      : client_(client), clock_(clock), retries_(retries), changed_(std::move(executor)) {}

  // Tries once to write `event`; after a failure run() tries again. Succeeds without a request if
  // the event is held back by the limits of EventAggregator. Errors: as ApiCaller::call().
  asio::awaitable<Status> record(sync::lifecycle::RecordEvent event);

  // The same for an event that the caller has already turned into requests.
  asio::awaitable<Status> record(sync::events::EventWrite write);

  // Retries the events that failed, until cancelled.
  asio::awaitable<void> run();

  [[nodiscard]] std::size_t waiting() const { return waiting_events_.size(); }

 private:
  // An event that waits for its next try.
  struct WaitingEvent {
    sync::events::EventWrite write;
    int tried = 0;
    MonoTime due;
  };

  asio::awaitable<Status> send(sync::events::EventWrite write);
  void settle(sync::events::EventWrite write, int tried, const Status& sent);

  ApiCaller& client_;
  const Clock& clock_;
  EventRetries retries_;
  sync::events::EventAggregator events_;
  std::deque<WaitingEvent> waiting_events_;  // by due time
  loop::Event changed_;
};

}  // namespace holdfast::agent
