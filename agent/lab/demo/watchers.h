// The demo's eyes: tasks that look at the API server, the agents and the processes, and note what
// they see. They change nothing.
//
// Each task runs until it is cancelled; what it refers to outlives it.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <functional>
#include <string>

#include "agent/client/api_client.h"
#include "agent/lab/demo/recorder.h"

namespace holdfast::agent::demo {

namespace asio = boost::asio;

// An agent as its observers know it. The ports stay when it is started again.
struct Station {
  std::string node;
  std::uint16_t proxy_port = 0;
  std::uint16_t admin_port = 0;
  std::filesystem::path data;       // of holdfast-edge
  std::filesystem::path node_data;  // of holdfast-node
};

// A client that talks plain HTTP to a port of this machine, with this token; empty: without one.
[[nodiscard]] Result<std::unique_ptr<agent::ApiClient>> local_client(std::uint16_t port,
                                                                     const Clock& clock,
                                                                     const std::string& user_agent,
                                                                     const std::string& token = {});

// Nodes, pods, leases and the Deployment as the API server has them.
asio::awaitable<void> watch_nodes(agent::ApiClient& client, Recorder& recorder);
asio::awaitable<void> watch_pods(agent::ApiClient& client, Recorder& recorder);
asio::awaitable<void> watch_leases(agent::ApiClient& client, Recorder& recorder);
asio::awaitable<void> watch_deployment(agent::ApiClient& client, Recorder& recorder);

// What the agent says of its link and its outbox.
asio::awaitable<void> watch_link(Station station, Recorder& recorder);
// The container processes that its runtime has written down, while they are alive.
asio::awaitable<void> watch_processes(Station station, Recorder& recorder);

// A client on the node, watching through the agent's proxy as a kubelet would: which
// resourceVersions is it given?
asio::awaitable<void> watch_through(Station station, std::string path, std::string selector,
                                    Recorder& recorder);

// Which lists an agent cannot have, as things stand.
struct Unknowns {
  std::function<bool()> pods;            // not even this node's pods
  std::function<std::string()> nothing;  // a list that it has never seen; "": none
};

// Asks the proxy for lists, over and over: for this node's pods, and for one that it cannot have.
asio::awaitable<void> ask_for_lists(Station station, Unknowns unknowns, Recorder& recorder);

// The agent's whole journal. Errors: the transport's; invalid.
asio::awaitable<Status> read_journal(Station station, Recorder& recorder);

}  // namespace holdfast::agent::demo
