// Sends reports of pods to a StatusSink, in order for each pod: the newest status, then Events,
// then the deletion.
//
// In memory: what a crash loses is reported again at the next start, from what is found running.

#pragma once

#include <list>
#include <optional>

#include "agent/node/status_sink.h"
#include "platform/loop/event.h"

namespace holdfast::agent::node {

struct SenderConfig {
  Duration retry_min = std::chrono::seconds(1);
  Duration retry_max = std::chrono::seconds(30);
  std::size_t events_max = 8;  // waiting, of one pod; the oldest go first
};

class StatusSender {
 public:
  StatusSender(asio::any_io_executor executor, StatusSink& sink, const Clock& clock,
               const SenderConfig& config);

  // Replaces a status of the same pod that was not sent yet.
  void report(const sync::PodKey& pod, std::string patch);
  void event(const sync::PodKey& pod, sync::Event event);
  // After its last status.
  void final_delete(const sync::PodKey& pod);
  // The pod is gone: nobody needs to hear of it any more.
  void forget(const std::string& uid);

  [[nodiscard]] std::size_t pending() const { return queue_.size(); }

  // Sends until cancelled.
  asio::awaitable<void> run();

 private:
  struct Item {
    sync::PodKey pod;
    std::optional<std::string> patch = {};
    std::vector<sync::Event> events = {};
    bool remove = false;
  };

  // Takes the item's next step; done is what was settled, and gone from it.
  asio::awaitable<Status> send_step(const Item& item);
  void keep(Item rest);
  Item& item_for(const sync::PodKey& pod);
  // Takes one step with the first pod. False: try again later.
  asio::awaitable<bool> send_first();

  StatusSink& sink_;
  const Clock& clock_;
  SenderConfig config_;
  loop::Event changed_;
  std::list<Item> queue_;
};

}  // namespace holdfast::agent::node
