// Kubernetes' own control plane as processes of the lab: etcd, kube-apiserver and
// kube-controller-manager, without its node lifecycle controller, whose place holdfast-cloud takes.
//
// Kubernetes' programs are found in one folder, etcd on this machine.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/lab/cluster/access.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent::lab::cluster {

struct KubeServer {
  std::filesystem::path bin;   // of Kubernetes' programs
  std::filesystem::path etcd;  // the program
  std::filesystem::path data;  // an existing directory
  std::uint16_t port = 0;      // of kube-apiserver, on 127.0.0.1
  std::uint16_t etcd_port = 0;
  std::uint16_t etcd_peer_port = 0;

  // Makes certificates and an audit policy in `data`, and picks free ports. Errors: not_found,
  // naming the program that the folder or this machine does not have; those of writing files.
  [[nodiscard]] static Result<KubeServer> prepare(std::filesystem::path bin,
                                                  std::filesystem::path data, WallTime now);

  [[nodiscard]] Flags etcd_flags() const;
  [[nodiscard]] Flags apiserver_flags() const;
  [[nodiscard]] Flags controllers_flags(const std::filesystem::path& kubeconfig) const;
  [[nodiscard]] std::filesystem::path ca_file() const { return data / "pki" / "ca.crt"; }
};

}  // namespace holdfast::agent::lab::cluster
