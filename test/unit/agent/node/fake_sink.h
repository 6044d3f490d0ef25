// Receives the statuses and events of pods and answers as the test says.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>
#include <vector>

#include "agent/node/status_sink.h"

namespace holdfast::agent::node::test {

class FakeSink final : public StatusSink {
 public:
  asio::awaitable<Status> report_status(sync::runtime::PodKey pod, std::string patch) override;
  asio::awaitable<Status> record_event(sync::Event event) override;
  asio::awaitable<Status> final_delete(sync::runtime::PodKey pod) override;

  std::vector<Error> failures;                      // errors for the next calls
  std::vector<std::string> calls;                   // "status NAME PHASE", "delete NAME"
  std::vector<std::string> events;                  // "NAME REASON MESSAGE"
  std::map<std::string, sync::PodStatus> statuses;  // the latest one, by pod name

 private:
  Status next_answer();
};

}  // namespace holdfast::agent::node::test
