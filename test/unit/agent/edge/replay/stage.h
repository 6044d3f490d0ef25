// One agent between the recorded kubelet and an upstream made of the recording, in virtual time.

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

// One watch that the kubelet has open through the agent, and what came.
struct OpenWatch {
  const Exchange* exchange = nullptr;
  std::shared_ptr<http::BodyStream> stream;
  std::vector<std::string> events;     // frames with their lengths, without bookmarks
  std::vector<std::string> bookmarks;  // their resourceVersions
  std::size_t before_bookmark = 0;     // events before the first of these
};

class Stage {
 public:
  explicit Stage(Session session);
  ~Stage();

  // Plays the recording up to and including this exchange; `check` sees every answer.
  using Check = std::function<void(const Exchange&, const http::Response&)>;
  void play(int last_line, const Check& check);

  // The kubelet asks; the answer is complete, or a stream for a watch.
  http::Response ask(const http::Request& request);

  // The upstream is gone, and the agent knows it.
  void cut();
  // The agent is stopped and started again.
  void restart_agent();

  const Recording& recording;
  test::VirtualTime time;
  FakeUpstream upstream;
  std::vector<std::shared_ptr<OpenWatch>> watches;  // all there were, in order
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
  std::unique_ptr<loop::Tasks> tasks_;  // that read watches
};

}  // namespace holdfast::agent::replay
