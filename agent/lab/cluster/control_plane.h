// The control plane of the lab's cluster as real processes: the API server, and holdfast-cloud with
// its scheduler behind a link of its own.
//
// Threading: the loop's thread only.

#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/client/api_client.h"
#include "agent/lab/cluster/access.h"
#include "agent/lab/cluster/children.h"
#include "agent/lab/cluster/kube_server.h"
#include "agent/lab/cluster/link.h"
#include "agent/lab/cluster/tokens.h"
#include "agent/lab/guest/host.h"
#include "agent/lab/scenario/scenario.h"

namespace holdfast::agent::lab::cluster {

struct ControlPlaneSettings {
  std::filesystem::path data;      // an existing directory
  std::vector<std::string> nodes;  // their names, for their tokens
  Flags cloud;                     // of holdfast-cloud, besides those that the lab sets itself
  // A folder with Kubernetes' own programs; empty: the lab's API server.
  std::filesystem::path kubernetes = {};
  bool tls = false;             // the lab's API server speaks TLS, which kubectl needs for tokens
  bool cloud_schedules = true;  // false: the API server's built-in scheduler does
  // A cluster of others in place of an API server and a holdfast-cloud of its own.
  std::optional<guest::Host> host = {};
};

class ControlPlane {
 public:
  // `children` and `clock` outlive this.
  ControlPlane(asio::any_io_executor executor, ControlPlaneSettings settings, Children& children,
               const Clock& clock);

  // Starts the API server, opens client() and the link of holdfast-cloud. Errors: as proc::spawn();
  // timeout and unavailable, with the log's name.
  asio::awaitable<Status> start_server();
  // Starts holdfast-cloud, and returns when it acts. Not in a cluster of others, whose own
  // controllers judge all nodes. Errors: as above.
  asio::awaitable<Status> start_cloud();

  // For Process::cloud and Process::api_server. A killed process stays down until restart(), which
  // does not wait until holdfast-cloud acts: its link may be cut. The API server keeps its port.
  void kill(Process process);
  asio::awaitable<Status> restart(Process process);
  void pause(Process process);
  void resume(Process process);

  [[nodiscard]] net::HostPort address() const {
    return settings_.host ? settings_.host->access.server : net::HostPort{"127.0.0.1", port_};
  }
  // Makes the credentials of a node of a cluster of others; of our own, they exist. Errors: those
  // of guest::certificate_of().
  asio::awaitable<Status> admit(std::string node);
  // An administrator's client, directly at the API server.
  [[nodiscard]] ApiClient& client() { return *client_; }
  [[nodiscard]] Link& cloud_link() { return *cloud_link_; }
  // The kubeconfig of an administrator.
  [[nodiscard]] std::filesystem::path admin_kubeconfig() const;
  // What clients verify the API server by; empty: it speaks plain HTTP.
  [[nodiscard]] std::filesystem::path ca_file() const;
  // The authority of the certificate with which the API server calls kubelets; empty: the cluster
  // of others, which does not reach the nodes of a guest.
  [[nodiscard]] std::filesystem::path kubelet_client_ca() const;
  // The API server's audit log.
  [[nodiscard]] std::filesystem::path audit_log() const;
  // The kubeconfig of a node for a server at this port.
  [[nodiscard]] std::string node_kubeconfig(const std::string& node, std::uint16_t port) const;

  asio::awaitable<void> stop();

 private:
  [[nodiscard]] Status spawn_server();
  [[nodiscard]] Status spawn_cloud();
  asio::awaitable<Status> wait_for_server();
  [[nodiscard]] Status spawn_kube_server();
  [[nodiscard]] Status open_client();
  asio::awaitable<Status> start_kube();
  asio::awaitable<Status> wait_until_ready();
  [[nodiscard]] std::string kubeconfig_for(std::uint16_t port, const std::string& token) const;

  asio::any_io_executor executor_;
  ControlPlaneSettings settings_;
  Children& children_;
  const Clock& clock_;
  Tokens tokens_;
  std::optional<KubeServer> kube_;
  std::map<std::string, tls::Identity> identities_;  // of nodes in a cluster of others
  std::uint16_t port_ = 0;
  std::unique_ptr<ApiClient> client_;
  std::unique_ptr<Link> cloud_link_;
};

}  // namespace holdfast::agent::lab::cluster
