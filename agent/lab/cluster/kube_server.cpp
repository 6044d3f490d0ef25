#include "agent/lab/cluster/kube_server.h"

#include "agent/lab/apiserver/kubelet_dir.h"
#include "agent/lab/apiserver/tls_dir.h"
#include "agent/lab/cluster/machine_programs.h"
#include "platform/fs/file.h"

namespace holdfast::agent::lab::cluster {
namespace {

constexpr const char* audit_policy =
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived, ResponseStarted]\n"
    "rules:\n- level: Metadata\n";

std::string local_url(std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }

}  // namespace

Result<KubeServer> KubeServer::prepare(std::filesystem::path bin, std::filesystem::path data,
                                       WallTime now) {
  for (const char* program : {"kube-apiserver", "kube-controller-manager"}) {
    std::error_code ec;
    if (!std::filesystem::exists(bin / program, ec)) {
      return fail(Errc::not_found, "--api-server: " + bin.string() + " has no " + program);
    }
  }
  TRY(auto etcd, find_machine_program("--api-server", {"etcd", "etcd-server"}));
  KubeServer server{.bin = std::move(bin), .etcd = std::move(etcd), .data = std::move(data)};
  TRY([[maybe_unused]] const TlsDir tls,
      open_tls_dir((server.data / "pki").string(), "127.0.0.1", now));
  if (auto made = open_kubelet_dir(server.data / "kubelet", now); !made) return fail(made.error());
  if (auto done = fs::atomic_write(server.data / "audit-policy.yaml", audit_policy); !done) {
    return fail(done.error());
  }
  TRY(server.port, free_port());
  TRY(server.etcd_port, free_port());
  TRY(server.etcd_peer_port, free_port());
  return server;
}

Flags KubeServer::etcd_flags() const {
  return {{"data-dir", (data / "etcd").string()},
          {"listen-client-urls", local_url(etcd_port)},
          {"advertise-client-urls", local_url(etcd_port)},
          {"listen-peer-urls", local_url(etcd_peer_port)},
          {"unsafe-no-fsync", "true"}};
}

// The rights of nodes are those of every cluster: Node and RBAC, with NodeRestriction.
Flags KubeServer::apiserver_flags() const {
  const auto pki = data / "pki";
  return {{"etcd-servers", local_url(etcd_port)},
          {"bind-address", "127.0.0.1"},
          {"secure-port", std::to_string(port)},
          {"kubelet-client-certificate", (data / "kubelet" / kubelet_client_certificate).string()},
          {"kubelet-client-key", (data / "kubelet" / kubelet_client_key).string()},
          {"kubelet-preferred-address-types", "InternalIP"},
          {"tls-cert-file", (pki / "server.crt").string()},
          {"tls-private-key-file", (pki / "server.key").string()},
          {"client-ca-file", ca_file().string()},
          {"service-cluster-ip-range", "10.0.0.0/24"},
          {"service-account-issuer", "https://kubernetes.default.svc"},
          {"service-account-key-file", (pki / "server.crt").string()},
          {"service-account-signing-key-file", (pki / "server.key").string()},
          {"authorization-mode", "Node,RBAC"},
          {"enable-admission-plugins", "NodeRestriction"},
          {"token-auth-file", (data / "tokens").string()},
          {"audit-policy-file", (data / "audit-policy.yaml").string()},
          {"audit-log-path", (data / "audit.log").string()},
          {"max-requests-inflight", "4000"},
          {"max-mutating-requests-inflight", "2000"}};
}

Flags KubeServer::controllers_flags(const std::filesystem::path& kubeconfig) const {
  return {{"kubeconfig", kubeconfig.string()},
          {"authentication-kubeconfig", kubeconfig.string()},
          {"authorization-kubeconfig", kubeconfig.string()},
          {"controllers", "*,-node-lifecycle-controller,-taint-eviction-controller"},
          {"leader-elect", "false"},
          {"service-account-private-key-file", (data / "pki" / "server.key").string()},
          {"root-ca-file", ca_file().string()},
          {"kube-api-qps", "200"},
          {"kube-api-burst", "400"},
          {"secure-port", "0"}};
}

}  // namespace holdfast::agent::lab::cluster
