// One agent in virtual time between local clients and a Cloud with several API servers.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/edge/edge.h"
#include "platform/http/client.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/uplink/cloud.h"

namespace holdfast::agent::uplink {

struct SiteOptions {
  std::size_t servers = 1;
  std::shared_ptr<const tls::Context> tls = {};  // of the servers; null: plain HTTP
  std::string user = "{}";                       // of the kubeconfig, as YAML
  std::string cluster = "";                      // more of its cluster: ", key: value"
  std::function<void(EdgeOptions&)> set = [](EdgeOptions&) {};
};

class Site {
 public:
  explicit Site(const SiteOptions& options = {});
  ~Site();
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  void start();
  void stop();

  // What a local client gets; status 0: nothing came, or something that is not HTTP.
  http::Response ask(const std::string& target, const std::string& agent = "kubelet");
  http::Response ask(http::Request request);
  // A page of the admin listener.
  std::string admin(const std::string& target);
  // One metric's line without its name: "{state=\"connected\"} 1".
  std::vector<std::string> metric(const std::string& name);

  [[nodiscard]] sync::LinkState state() { return edge->uplink().link().state(); }
  [[nodiscard]] const std::string& reason() { return edge->uplink().link().reason(); }
  // Refuses connections to the first server until the link is offline, and lets them pass until it
  // is connected.
  void cut_link();
  void restore_link();
  // The same as cut_link; with `then_restart` the agent is stopped and started without the cloud.
  void lose_link(bool then_restart);
  // Runs until the link is in `state`; how long that took, or nothing after `limit`.
  std::optional<Duration> until(sync::LinkState state, Duration limit = 2min);

  test::VirtualTime time;
  Cloud cloud{time.executor()};
  std::vector<std::unique_ptr<ApiServer>> servers;
  EdgeOptions options;
  std::unique_ptr<Edge> edge;

 private:
  test::ScratchDir scratch_;
  std::unique_ptr<http::Client> local_;
  std::unique_ptr<http::Client> admin_;
};

}  // namespace holdfast::agent::uplink
