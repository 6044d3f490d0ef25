// A kubelet's programs and the files that it and its runtime read.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent::lab::cluster {

// The image of the pods that the lab makes: it has the programs of busybox.
inline constexpr std::string_view pod_image = "docker.io/local/busybox:1";

// Where the programs are. The kubelet is in the folder bin/ of a folder; the others are this
// machine's.
struct KubeletPrograms {
  std::filesystem::path kubelet;
  std::filesystem::path images;  // an archive to import: the sandbox's image, and pod_image
  std::filesystem::path containerd;
  std::filesystem::path ctr;
  std::filesystem::path runc;
  std::filesystem::path network_plugins;

  // `mounts`: see has_groups_of_version_1(). Errors: not_found, naming what is missing, where, and
  // the Debian package of this machine's programs; unavailable (this machine has no cgroup v1).
  [[nodiscard]] static Result<KubeletPrograms> find(const std::filesystem::path& folder,
                                                    const std::filesystem::path& images,
                                                    std::string_view mounts);
};

// Everything of one node, in its folder.
struct KubeletFiles {
  std::filesystem::path folder;

  [[nodiscard]] std::filesystem::path script() const { return folder / "kubelet_node.sh"; }
  [[nodiscard]] std::filesystem::path socket() const { return folder / "containerd.sock"; }
  [[nodiscard]] std::filesystem::path runtime_config() const { return folder / "containerd.toml"; }
  [[nodiscard]] std::filesystem::path runtime_data() const { return folder / "containerd"; }
  // What a power loss destroys.
  [[nodiscard]] std::filesystem::path runtime_state() const { return folder / "state"; }
  [[nodiscard]] std::filesystem::path kubelet_config() const { return folder / "kubelet.yaml"; }
  // The kubeconfig of a kubelet behind holdfast-edge.
  [[nodiscard]] std::filesystem::path edge_kubeconfig() const {
    return folder / "kubelet.kubeconfig";
  }
  [[nodiscard]] std::filesystem::path kubelet_data() const { return folder / "kubelet"; }

  struct Choices {
    Duration lease_duration{};
    int pods_max = 110;
    std::string edge_url;  // "http://127.0.0.1:10261"
  };
  // Writes the script and the configurations. Errors: invalid (the folder's path is too long for
  // the socket); those of writing files.
  [[nodiscard]] Status write(const KubeletPrograms& programs, const Choices& choices) const;
};

}  // namespace holdfast::agent::lab::cluster
