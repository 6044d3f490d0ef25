// Records events on an API server, and tries again for a while when it cannot be reached.
//
// As client-go: twelve tries, ten seconds apart, then the event is lost; what the server refuses is
// lost at once. The controller does not wait for any of this.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>

#include "agent/client/api_client.h"
#include "agent/cloud/event_book.h"
#include "platform/loop/event.h"

namespace holdfast::agent {

struct EventRetries {
  int tries = 12;
  Duration pause = std::chrono::seconds(10);
  std::size_t waiting = 1000;  // more are lost
};

class EventSender {
 public:
  // `client` and `clock` outlive it.
  EventSender(asio::any_io_executor executor, ApiCaller& client, const Clock& clock,
              EventRetries retries = {})
      : client_(client), clock_(clock), retries_(retries), changed_(std::move(executor)) {}

  // One try; nothing to do is success, too. Errors: as ApiCaller::call().
  asio::awaitable<Status> record(sync::lifecycle::RecordEvent event);

  // The same with an event of somebody else's book.
  asio::awaitable<Status> record(EventWrite write);

  // Tries again what failed, until cancelled.
  asio::awaitable<void> run();

  [[nodiscard]] std::size_t waiting() const { return late_.size(); }

 private:
  struct Late {
    EventWrite write;
    int tried = 0;
    MonoTime due;
  };

  asio::awaitable<Status> send(EventWrite write);
  void settle(EventWrite write, int tried, const Status& sent);

  ApiCaller& client_;
  const Clock& clock_;
  EventRetries retries_;
  EventBook book_;
  std::deque<Late> late_;  // by due time
  loop::Event changed_;
};

}  // namespace holdfast::agent
