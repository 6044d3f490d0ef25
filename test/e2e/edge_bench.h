// EdgeBench: one edge agent and the lab's API server as real processes on free ports.
//
// The agent has the identity and the rights of node edge-a; a caller without a token uses them,
// too. The tests themselves use the API server as an administrator.
//
// The destructor kills all processes and removes their files; if a test failed, it first prints the
// ends of the logs. Every wait is for a condition and has a deadline.

#pragma once

#include <boost/asio/io_context.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/http/client.h"
#include "sync/wire/frames.h"
#include "test/e2e/processes.h"
#include "test/support/scratch_dir.h"
#include "test/support/system_loop.h"

namespace holdfast::test {

namespace asio = boost::asio;

struct WatchedEvent {
  std::string type;
  json::value object;
  [[nodiscard]] std::string text(std::initializer_list<std::string_view> path) const;
  // For example "MODIFIED p@17": type, name, resourceVersion.
  [[nodiscard]] std::string line() const;
  [[nodiscard]] std::uint64_t version() const;
};

// A watch that stays open while the test does other things.
class Watch {
 public:
  Watch(std::uint16_t port, const std::string& target,
        const std::string& user_agent = Ask().user_agent);
  [[nodiscard]] const Answer& opened() const { return opened_; }
  // The next event; nullopt if none came within `limit` or the watch ended.
  [[nodiscard]] std::optional<WatchedEvent> next(Duration limit = 10s);
  // The next event that is not a bookmark.
  [[nodiscard]] std::optional<WatchedEvent> next_change(Duration limit = 10s);
  [[nodiscard]] bool ended() const { return state_->ended; }

 private:
  struct State {
    std::shared_ptr<http::BodyStream> stream;
    sync::wire::FrameSplitter frames;
    std::deque<std::string> documents;
    bool reading = false;
    bool ended = false;
  };
  static asio::awaitable<void> read(std::shared_ptr<State> state);

  SystemLoop context_;
  http::Client client_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  Answer opened_;
};

class EdgeBench {
 public:
  EdgeBench();
  ~EdgeBench();

  void start_server(const std::vector<std::string>& more = {});
  // Starts the agent with short timeouts and waits until it is ready. `more` overrides its flags.
  void start_agent(const std::vector<std::string>& more = {});
  // Starts the agent without waiting until it is ready.
  void launch_agent(const std::vector<std::string>& more = {});
  // The command line of the agent, to start another one on the same data.
  [[nodiscard]] std::vector<std::string> agent_argv(const std::vector<std::string>& more) const;
  [[nodiscard]] bool wait_for_link(std::string_view state, Duration limit = 60s) const;
  [[nodiscard]] bool agent_ready() const;

  // One request to the API server; as an administrator unless `question` has a token.
  [[nodiscard]] Answer get_on_server(const std::string& target) const;
  Answer ask_server(Ask question) const;  // NOLINT(modernize-use-nodiscard)

  // Creates node edge-a and namespace ns on the server.
  void make_node();
  // Creates a pod in ns that is bound to edge-a.
  void make_pod(const std::string& name);
  // Reads these paths through the agent until it has cached them completely.
  void warm(const std::vector<std::string>& paths) const;
  [[nodiscard]] json::value admin(const std::string& path) const;
  // The journal's records of this kind, for example "write-conflict pods/ns/p/status".
  [[nodiscard]] std::vector<std::string> journal(std::string_view kind) const;

  [[nodiscard]] std::filesystem::path dir() const { return scratch_.path(); }
  [[nodiscard]] std::filesystem::path agent_dir() const { return scratch_.path() / "agent"; }
  const std::uint16_t server_port = free_port();
  const std::uint16_t agent_port = free_port();
  const std::uint16_t admin_port = free_port();
  bool secured = true;  // false before start_server(): the server permits everything
  std::unique_ptr<Process> server;
  std::unique_ptr<Process> agent;

 private:
  ScratchDir scratch_;
};

inline const std::string node_pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge-a";
inline const std::string all_pods = "/api/v1/pods";
inline const std::string nodes = "/api/v1/nodes";
// The only list of nodes that a node may read.
inline const std::string own_node = "/api/v1/nodes?fieldSelector=metadata.name%3Dedge-a";
// Tokens for EdgeBench's API server.
inline const std::string admin_token = "admin-token";  // an administrator's
inline const std::string node_token = "node-token";    // node edge-a's
[[nodiscard]] std::string pod_path(const std::string& name);
// A merge patch that sets the phase in a status.
[[nodiscard]] std::string phase(const std::string& text);
// kernel(): a patch of the kernel version in a node's status, a field that the kubelet owns.
// kernel_of(): the kernel version in `node`.
[[nodiscard]] std::string kernel(const std::string& text);
[[nodiscard]] std::string kernel_of(const Answer& node);

}  // namespace holdfast::test
