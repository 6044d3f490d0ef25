// One agent in virtual time between local clients and a FakeCloud with several API servers.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/edge/edge.h"
#include "platform/http/client.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/uplink/fake_cloud.h"

namespace holdfast::agent::uplink {

struct UplinkFixtureOptions {
  std::size_t servers = 1;
  std::shared_ptr<const tls::Context> tls = {};  // of the servers; null: plain HTTP
  std::string user = "";                         // members of the kubeconfig's user, as YAML
  std::string cluster = "";                      // further members of its cluster, as YAML
  std::string host = "127.0.0.1";                // of all servers, in their URLs
  std::function<void(EdgeOptions&)> set = [](EdgeOptions&) {};
};

class UplinkFixture {
 public:
  explicit UplinkFixture(const UplinkFixtureOptions& options = {});
  ~UplinkFixture();
  UplinkFixture(const UplinkFixture&) = delete;
  UplinkFixture& operator=(const UplinkFixture&) = delete;

  void start();
  void stop();

  // Sends a request as a local client; status 0 means no answer, or one that is not HTTP.
  http::Response ask(const std::string& target, const std::string& agent = "kubelet");
  http::Response ask(http::Request request);
  // A page of the admin listener.
  std::string admin(const std::string& target);
  // The lines of one metric without its name: "{state=\"connected\"} 1".
  std::vector<std::string> metric(const std::string& name);

  [[nodiscard]] sync::autonomy::LinkState state() { return edge->uplink().link().state(); }
  [[nodiscard]] const std::string& reason() { return edge->uplink().link().reason(); }
  // cut_link() refuses connections to the first server and waits until the link is offline.
  // restore_link() permits them and waits until the link is connected.
  void cut_link();
  void restore_link();
  // As cut_link(); with `then_restart` the agent is then restarted while offline.
  void lose_link(bool then_restart);
  // The longest time between two renewals of the lease since `from`, by their renewTimes.
  Duration longest_gap(WallTime from);
  // Runs until the link is in `state`. Returns how long that took, or nullopt after `limit`.
  std::optional<Duration> until(sync::autonomy::LinkState state, Duration limit = 2min);

  test::VirtualTime time;
  FakeCloud cloud{time.executor()};
  std::vector<std::unique_ptr<FakeApiServer>> servers;
  EdgeOptions options;
  std::unique_ptr<Edge> edge;

 private:
  test::ScratchDir scratch_;
  std::unique_ptr<http::Client> local_;
  std::unique_ptr<http::Client> admin_;
};

}  // namespace holdfast::agent::uplink
