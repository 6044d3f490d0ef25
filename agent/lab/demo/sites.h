// The nodes of the second act: two sites of hollow nodes, each behind one link that can be cut.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/lab/demo/checks.h"
#include "agent/lab/faults/fault_proxy.h"
#include "agent/lab/hollow/nodes.h"

namespace holdfast::agent::demo {

namespace asio = boost::asio;

class Sites {
 public:
  Sites(asio::any_io_executor executor, const Clock& clock) : executor_(executor), clock_(clock) {}

  // The API server on this machine. One client acts for all nodes of a site, and also lists and
  // creates their pods, so it has an administrator's token.
  struct Cluster {
    std::uint16_t port = 0;
    std::string admin_token;
  };
  // Registers the nodes of both sites, with one pod on each. Errors: those of the API server.
  asio::awaitable<Status> open(Cluster cluster, DemoSetup setup);
  void cut(const std::string& site);
  void restore(const std::string& site);
  asio::awaitable<void> close();

 private:
  struct Site {
    std::unique_ptr<agent::faults::FaultProxy> link;
    std::unique_ptr<agent::ApiClient> client;
    std::unique_ptr<agent::hollow::HollowNodes> nodes;
  };

  asio::awaitable<Status> open_site(Cluster cluster, std::string zone, DemoSetup setup);

  asio::any_io_executor executor_;
  const Clock& clock_;
  std::map<std::string, Site> sites_;
};

}  // namespace holdfast::agent::demo
