// One agent between the recorded kubelet and a FakeUpstream, in virtual time.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/edge/edge.h"
#include "platform/http/client.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/replay/fake_upstream.h"

namespace holdfast::agent::replay {

// One watch that the kubelet has open through the agent, and what arrived on it.
struct OpenWatch {
  const Exchange* exchange = nullptr;
  std::shared_ptr<http::BodyStream> stream;
  std::vector<std::string> events;     // frames with their length prefixes, without bookmarks
  std::vector<std::string> bookmarks;  // their resourceVersions
  std::size_t before_bookmark = 0;     // number of events before the first bookmark
};

class ReplayFixture {
 public:
  explicit ReplayFixture(Session session);
  ~ReplayFixture();

  // Replays the recording up to and including this line; `check` sees every answer.
  using Check = std::function<void(const Exchange&, const http::Response&)>;
  void play(int last_line, const Check& check);

  // Sends a request of the kubelet. The answer is complete, or a stream for a watch.
  http::Response ask(const http::Request& request);

  // Stops the upstream and waits until the agent has noticed.
  void cut();
  // Stops the agent and starts it again.
  void restart_agent();

  const Recording& recording;
  test::VirtualTime time;
  FakeUpstream upstream;
  std::vector<std::shared_ptr<OpenWatch>> watches;  // all that were opened, in order
  [[nodiscard]] Edge& edge() { return *edge_; }

 private:
  void start_agent();
  void stop_agent();
  void close_watches();
  void follow(const Exchange& exchange, const http::Response& response);

  test::ScratchDir scratch_;
  EdgeOptions options_;
  std::unique_ptr<Edge> edge_;
  std::unique_ptr<http::Client> kubelet_;
  MonoTime began_;
  std::unique_ptr<loop::Tasks> tasks_;  // the tasks that read watches
};

}  // namespace holdfast::agent::replay
