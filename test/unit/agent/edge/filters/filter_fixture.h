// One agent between clients with any user agent and the lab's API server, all in this process and
// in virtual time.

#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/edge/edge.h"
#include "platform/http/client.h"
#include "platform/net/reserved_address.h"
#include "sync/wire/json.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/filters/lab_server.h"

namespace holdfast::agent::filtered {

namespace json = sync::json;

struct Client {
  std::string component;
  bool protobuf = false;
  std::string accept = {};  // replaces the default Accept header
};

// A watch through the agent and the events that arrived: "ADDED a".
struct OpenWatch {
  std::shared_ptr<http::BodyStream> stream;
  std::vector<std::string> events;  // bookmarks are left out
  std::vector<std::string> objects;
  int bookmarks = 0;
  bool ended = false;
  bool protobuf = false;
};

class FilterFixture {
 public:
  explicit FilterFixture(EdgeOptions options = {});
  ~FilterFixture();

  // Sends a request to the server directly; the answer must be a success.
  json::object on_server(const std::string& method, const std::string& target,
                         const std::string& body = {});

  // Sends a request through the agent.
  http::Response ask(const Client& client, const std::string& target,
                     const std::string& method = "GET", const std::string& body = {});
  // The objects of a list, or one object, as JSON.
  json::value get(const Client& client, const std::string& target);
  // The names in a list: "a b".
  std::string names(const Client& client, const std::string& target);
  std::shared_ptr<OpenWatch> watch(const Client& client, const std::string& target);
  // The events since the last call.
  std::string news(const std::shared_ptr<OpenWatch>& watch);
  http::Response admin(const std::string& target, const std::string& method = "GET");

  void cut();
  void restore();
  void restart_agent();

  test::VirtualTime time;
  std::set<std::string> refused;    // paths that the server answers with 503
  std::set<std::string> absent;     // paths that the server answers with 404
  std::set<std::string> forbidden;  // paths answered with 403
  bool has_pool = true;             // whether the NodePool exists
  std::vector<std::string> pool_nodes = {"edge-a", "edge-b"};  // of the NodePool hangzhou
  std::vector<std::string> asked;                              // paths that the agent requested
  [[nodiscard]] Edge& edge() { return *edge_; }

 private:
  void listen();
  void start_agent();
  void stop_agent();
  asio::awaitable<http::Response> answer(const http::Request& request);
  http::Response pools(const http::Request& request);

  test::ScratchDir scratch_;
  std::unique_ptr<test::LabServer> lab_;
  std::unique_ptr<http::Server> server_;
  net::ReservedAddress address_ =
      net::ReservedAddress::open(time.executor(), {"127.0.0.1", 0}).value();
  EdgeOptions options_;
  std::unique_ptr<Edge> edge_;
  std::vector<std::unique_ptr<http::Client>> clients_;
  std::vector<std::shared_ptr<OpenWatch>> watches_;
  std::unique_ptr<loop::Tasks> tasks_;
};

}  // namespace holdfast::agent::filtered
