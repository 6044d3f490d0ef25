// Tasks that observe the API server, the agents and the processes, and record what they find. They
// change nothing.
// Each task runs until it is cancelled. Its references outlive it.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <functional>
#include <string>

#include "agent/client/api_client.h"
#include "agent/lab/cluster/local_client.h"
#include "agent/lab/demo/recorder.h"

namespace holdfast::agent::demo {

namespace asio = boost::asio;

// The addresses of an agent. Its ports stay the same when it is restarted.
struct AgentEndpoints {
  std::string node;
  std::uint16_t proxy_port = 0;
  std::uint16_t admin_port = 0;
  std::filesystem::path data;       // of holdfast-edge
  std::filesystem::path node_data;  // of holdfast-node
};

using lab::cluster::local_client;

// Watch the nodes, pods, leases and the Deployment in the API server.
asio::awaitable<void> watch_nodes(agent::ApiClient& client, Recorder& recorder);
asio::awaitable<void> watch_pods(agent::ApiClient& client, Recorder& recorder);
asio::awaitable<void> watch_leases(agent::ApiClient& client, Recorder& recorder);
asio::awaitable<void> watch_deployment(agent::ApiClient& client, Recorder& recorder);

// Polls the state of the agent's link and its outbox.
asio::awaitable<void> watch_link(AgentEndpoints endpoints, Recorder& recorder);
// Polls which of the container processes that the node's runtime has recorded are alive.
asio::awaitable<void> watch_processes(AgentEndpoints endpoints, Recorder& recorder);

// Watches through the agent's proxy, as a kubelet does, and records the resourceVersions that it
// receives.
asio::awaitable<void> watch_through(AgentEndpoints endpoints, std::string path,
                                    std::string selector, Recorder& recorder);

// The lists that an agent cannot have at the moment.
struct UnavailableLists {
  std::function<bool()> pods;            // whether not even this node's pods
  std::function<std::string()> nothing;  // path of a list it never received; "": none
};

// Requests lists from the proxy repeatedly: this node's pods, and a list that it cannot have.
asio::awaitable<void> ask_for_lists(AgentEndpoints endpoints, UnavailableLists unavailable,
                                    Recorder& recorder);

// Records the agent's whole journal. Errors: those of the transport; invalid.
asio::awaitable<Status> read_journal(AgentEndpoints endpoints, Recorder& recorder);

}  // namespace holdfast::agent::demo
