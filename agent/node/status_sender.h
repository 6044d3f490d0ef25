// Sends reports about pods to a StatusSink, in this order for each pod: the latest status, then
// Events, then the deletion.
// The queue is in memory. Statuses lost in a crash are reported again at the next start, from the
// containers that are found. Threading: the loop's thread only.

#pragma once

#include <list>
#include <optional>

#include "agent/node/status_sink.h"
#include "platform/loop/event.h"

namespace holdfast::agent::node {

struct SenderConfig {
  Duration retry_min = std::chrono::seconds(1);
  Duration retry_max = std::chrono::seconds(30);
  std::size_t events_max = 8;  // waiting Events of one pod; the oldest are dropped
};

class StatusSender {
 public:
  // `sink` and `clock` are borrowed and outlive it.
  StatusSender(asio::any_io_executor executor, StatusSink& sink, const Clock& clock,
               const SenderConfig& config);

  // Queues a status. It replaces one of the same pod that was not sent yet.
  void report(const sync::runtime::PodKey& pod, std::string patch);
  void event(const sync::runtime::PodKey& pod, sync::Event event);
  // Queues the final deletion, which is sent after the pod's last status and Events.
  void final_delete(const sync::runtime::PodKey& pod);
  // Drops all queued reports of a pod that is gone.
  void forget(const std::string& uid);

  [[nodiscard]] std::size_t pending() const { return queue_.size(); }

  // Sends until cancelled.
  asio::awaitable<void> run();

 private:
  struct Item {
    sync::runtime::PodKey pod;
    std::optional<std::string> patch = {};
    std::vector<sync::Event> events = {};
    bool remove = false;
  };

  // Sends the item's next report: its status, its first Event or its deletion.
  asio::awaitable<Status> send_step(const Item& item);
  // Puts the reports that are left back into the queue.
  void keep(Item rest);
  Item& item_for(const sync::runtime::PodKey& pod);
  // Sends one report of the first pod in the queue. False: it failed and stays queued; wait before
  // the next try.
  asio::awaitable<bool> send_first();

  StatusSink& sink_;
  const Clock& clock_;
  SenderConfig config_;
  loop::Event changed_;
  std::list<Item> queue_;
};

}  // namespace holdfast::agent::node
