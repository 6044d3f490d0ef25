// The script of the demo, step by step. Each step waits for the effect of the previous one instead
// of sleeping for a fixed time.

#pragma once

#include <functional>
#include <string>

#include "agent/lab/demo/demo_processes.h"
#include "agent/lab/demo/screen.h"
#include "platform/loop/program.h"

namespace holdfast::agent::demo {

class DemoScript {
 public:
  // All references are borrowed and outlive it. `stop` ends a wait early.
  DemoScript(DemoSetup& setup, DemoProcesses& processes, Recorder& recorder, Screen& screen,
             const loop::Stop& stop);

  // Performs the script. Errors: timeout, naming what did not happen in time; cancelled; those of
  // the DemoProcesses.
  asio::awaitable<Status> play();

 private:
  using Condition = std::function<bool(const ClusterSnapshot&)>;

  asio::awaitable<Status> open();
  asio::awaitable<Status> settle();
  asio::awaitable<Status> cut();
  asio::awaitable<Status> kill_and_restart_agent();
  asio::awaitable<Status> kill_pod();
  asio::awaitable<Status> wait_for_eviction();
  asio::awaitable<Status> restore();
  asio::awaitable<Status> fill_node();
  asio::awaitable<Status> make_room();
  asio::awaitable<Status> drain();
  // The second act, in script_sites.cpp.
  asio::awaitable<Status> open_sites();
  asio::awaitable<Status> cut_first_site();
  asio::awaitable<Status> cut_both_sites();
  asio::awaitable<Status> restore_sites();

  // Waits until `condition` holds. Errors: timeout, naming `what`; cancelled.
  asio::awaitable<Status> until(std::string what, Duration limit, Condition condition);
  // Waits until every node has renewed its lease several times more.
  asio::awaitable<Status> wait_for_renewals();
  // Records an event and shows it with an explanation.
  void act(DemoEvent event, std::vector<std::string> nodes, const std::string& text,
           const std::string& why);
  void say(const std::string& text) { screen_.say(recorder_.now(), text); }
  void measure_memory();
  // The processes of the node's pods that run now; with `uid`, those of one pod.
  [[nodiscard]] std::vector<ProcessSeen> running(const std::string& node,
                                                 const std::string& uid = {}) const;

  DemoSetup& setup_;
  DemoProcesses& processes_;
  Recorder& recorder_;
  Screen& screen_;
  const loop::Stop& stop_;
  std::vector<std::string> shown_;  // the nodes on the screen
  std::int64_t milli_cpu_ = 0;      // of the node in the preemption part
};

}  // namespace holdfast::agent::demo
