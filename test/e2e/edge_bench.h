// One edge agent between a test and the lab's API server, as real processes on free ports.
//
// The agent has the identity of node edge-a and a node's rights; who asks it without a token has
// them, too. The tests themselves ask the API server as an administrator.
//
// Everything is killed by its pid and removed in the end; if a test failed, the ends of the logs
// are printed. Waiting is for conditions, with a deadline.

#pragma once

#include <boost/asio/io_context.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/http/client.h"
#include "sync/watch/frames.h"
#include "test/e2e/processes.h"
#include "test/support/scratch_dir.h"

namespace holdfast::test {

namespace asio = boost::asio;

struct WatchedEvent {
  std::string type;
  json::value object;
  [[nodiscard]] std::string text(std::initializer_list<std::string_view> path) const;
  // "MODIFIED p@17"
  [[nodiscard]] std::string line() const;
  [[nodiscard]] std::uint64_t version() const;
};

// A watch that stays open while the test does other things.
class Watch {
 public:
  Watch(std::uint16_t port, const std::string& target,
        const std::string& user_agent = Ask().user_agent);
  [[nodiscard]] const Answer& opened() const { return opened_; }
  // The next event, or nothing: none came in time, or the watch ended.
  [[nodiscard]] std::optional<WatchedEvent> next(Duration limit = 10s);
  // The same, passing over bookmarks.
  [[nodiscard]] std::optional<WatchedEvent> next_change(Duration limit = 10s);
  [[nodiscard]] bool ended() const { return state_->ended; }

 private:
  struct State {
    std::shared_ptr<http::BodyStream> stream;
    sync::FrameSplitter frames;
    std::deque<std::string> documents;
    bool reading = false;
    bool ended = false;
  };
  static asio::awaitable<void> read(std::shared_ptr<State> state);

  asio::io_context context_{1};
  http::Client client_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  Answer opened_;
};

class EdgeBench {
 public:
  EdgeBench();
  ~EdgeBench();

  void start_server(const std::vector<std::string>& more = {});
  // With short times; `more` flags win.
  void start_agent(const std::vector<std::string>& more = {});
  // Without waiting until it is ready.
  void launch_agent(const std::vector<std::string>& more = {});
  // The agent's flags, for another agent on the same data.
  [[nodiscard]] std::vector<std::string> agent_argv(const std::vector<std::string>& more) const;
  [[nodiscard]] bool wait_for_link(std::string_view state, Duration limit = 20s) const;
  [[nodiscard]] bool agent_ready() const;

  // One request to the API server, as an administrator unless it has another token.
  [[nodiscard]] Answer get_on_server(const std::string& target) const;
  Answer ask_server(Ask question) const;  // NOLINT(modernize-use-nodiscard)

  // Node edge-a and namespace ns, straight on the server.
  void make_node();
  // A pod in ns that is bound to edge-a.
  void make_pod(const std::string& name);
  // Makes sure that the agent has completely cached what is behind these paths.
  void warm(const std::vector<std::string>& paths) const;
  [[nodiscard]] json::value admin(const std::string& path) const;
  // The last `kind` records of the journal: "write-conflict pods/ns/p/status".
  [[nodiscard]] std::vector<std::string> journal(std::string_view kind) const;

  [[nodiscard]] std::filesystem::path dir() const { return scratch_.path(); }
  [[nodiscard]] std::filesystem::path agent_dir() const { return scratch_.path() / "agent"; }
  const std::uint16_t server_port = free_port();
  const std::uint16_t agent_port = free_port();
  const std::uint16_t admin_port = free_port();
  bool secured = true;  // set false before start_server(): the server lets all do everything
  std::unique_ptr<Process> server;
  std::unique_ptr<Process> agent;

 private:
  ScratchDir scratch_;
};

inline const std::string node_pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge-a";
inline const std::string all_pods = "/api/v1/pods";
inline const std::string nodes = "/api/v1/nodes";
// The list of nodes that a node may see.
inline const std::string own_node = "/api/v1/nodes?fieldSelector=metadata.name%3Dedge-a";
// Tokens of EdgeBench's API server.
inline const std::string admin_token = "admin-token";  // of an administrator
inline const std::string node_token = "node-token";    // of node edge-a
[[nodiscard]] std::string pod_path(const std::string& name);
// A merge patch of a status.
[[nodiscard]] std::string phase(const std::string& text);
// A patch of the kernel's version in a node's status, which the kubelet owns; and what it is.
[[nodiscard]] std::string kernel(const std::string& text);
[[nodiscard]] std::string kernel_of(const Answer& node);

}  // namespace holdfast::test
