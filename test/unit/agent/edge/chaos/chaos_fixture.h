// One edge node and its cloud in virtual time, for random sequences of faults: the lab's API server
// behind a link that can be cut, an agent that can be killed, and a kubelet that records which
// writes were acknowledged and follows its pods.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/edge/edge.h"
#include "agent/lab/apiserver/apiserver.h"
#include "agent/lab/faults/fault_proxy.h"
#include "platform/http/client.h"
#include "platform/http/server.h"
#include "platform/integers.h"
#include "platform/random.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::chaos {

// The pods of the node as a kubelet sees them: it lists them once and then watches; when the watch
// ends, it lists them again.
class PodInformer {
 public:
  PodInformer(asio::any_io_executor executor, net::HostPort agent);
  ~PodInformer();

  // Stops it. Nothing of it runs when this returns.
  asio::awaitable<void> stop();

  // Pod name -> "uid message". Empty before the first list.
  [[nodiscard]] const std::map<std::string, std::string>& pods() const { return pods_; }
  // Observations that must not have happened.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

 private:
  asio::awaitable<void> follow();
  asio::awaitable<std::string> list();
  asio::awaitable<void> watch(std::string version);
  void take(std::string_view event, std::int64_t& newest);

  http::Client client_;
  std::map<std::string, std::string> pods_;
  std::vector<std::string> faults_;
  bool stopping_ = false;
  std::shared_ptr<http::BodyStream> stream_;
  loop::Tasks tasks_;
};

// What was acknowledged for one object, and therefore must be there in the end.
struct AcknowledgedWrites {
  std::string accepted = {};         // the last acknowledged write; "" if there is none
  std::set<std::string> maybe = {};  // later writes whose answer was lost or negative
};

class ChaosFixture {
 public:
  explicit ChaosFixture(std::uint64_t seed);
  ~ChaosFixture();
  ChaosFixture(const ChaosFixture&) = delete;
  ChaosFixture& operator=(const ChaosFixture&) = delete;

  // Performs one random action, as the seed decides.
  void next();
  // Restores the link and waits until agent and cloud agree. Adds what is wrong to `faults`.
  void converge();

  std::vector<std::string> actions;  // the actions in order, with their times
  std::vector<std::string> faults;   // violated promises

 private:
  using Json = boost::json::object;

  http::Response ask(const http::Request& request);
  http::Response ask_cloud(http::Method method, const std::string& target, const std::string& body);
  Json cloud_object(const std::string& target);
  asio::awaitable<http::Response> handle(const http::Request& request);
  void note_renewal(const http::Request& request);

  void start_agent();
  void stop_agent();
  void restart_agent();
  void kill_agent();
  void set_link(std::string_view toxics);

  void add_pod(const std::string& name);
  void replace_pod();
  void relabel_node();
  void write_pod();
  void write_node();
  void write_event();
  void read_pods();
  void jump();

  void check_pods();
  void check_node();
  void check_events();
  [[nodiscard]] bool was_told_expired(const std::string& event);
  void check_informer();
  [[nodiscard]] std::int64_t waiting();
  void record_action(const std::string& action);
  void broken(const std::string& what) { faults.push_back(what); }
  [[nodiscard]] std::size_t pick(std::size_t count) { return to_size(random_.below(count)); }
  [[nodiscard]] std::string pick_pod();

  test::VirtualTime time_;
  test::ScratchDir scratch_;
  Random random_;
  std::unique_ptr<lab::ApiServer> api_;
  http::Handler serve_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<faults::FaultProxy> link_;
  std::string toxics_;  // of the link
  EdgeOptions options_;
  std::unique_ptr<Edge> edge_;
  std::unique_ptr<http::Client> kubelet_;
  std::unique_ptr<PodInformer> informer_;
  int lives_ = 0;    // of the agent; each kill starts a new data directory
  int written_ = 0;  // numbers the kubelet's writes
  bool listed_ = false;
  std::string renewed_;
  std::string label_;
  std::map<std::string, AcknowledgedWrites> pods_;  // by uid
  AcknowledgedWrites node_;
  std::map<std::string, bool> events_;  // by name: whether it was acknowledged for certain
};

}  // namespace holdfast::agent::chaos
