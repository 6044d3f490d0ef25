#include "agent/lab/cluster/kubelet_files.h"

#include <sys/un.h>

#include "agent/lab/cluster/machine_programs.h"
#include "agent/lab/cluster/node_groups.h"
#include "embedded/kubelet_node.h"
#include "platform/fs/file.h"

namespace holdfast::agent::lab::cluster {
namespace {

using Path = std::filesystem::path;

bool is_there(const Path& path) {
  std::error_code ec;
  return std::filesystem::exists(path, ec);
}

Error missing(const std::string& what) { return {Errc::not_found, "--kubelet: " + what, {}}; }

Status find_machine_programs(KubeletPrograms& programs) {
  const auto find = [](std::string_view name, std::string_view package) {
    return find_machine_program("--kubelet", {name, package});
  };
  TRY(programs.containerd, find("containerd", "containerd"));
  TRY(programs.ctr, find("ctr", "containerd"));
  TRY(programs.runc, find("runc", "runc"));
  for (const MachineProgram& each : {MachineProgram{"containerd-shim-runc-v2", "containerd"},
                                     {"unshare", "util-linux"},
                                     {"nsenter", "util-linux"},
                                     {"ip", "iproute2"},
                                     {"mount", "mount"}}) {
    if (auto found = find_machine_program("--kubelet", each); !found) return fail(found.error());
  }
  programs.network_plugins = "/usr/lib/cni";
  if (!is_there("/usr/lib/cni/bridge") && is_there("/opt/cni/bin/bridge")) {
    programs.network_plugins = "/opt/cni/bin";
  }
  for (const char* plugin : {"bridge", "host-local", "loopback"}) {
    if (is_there(programs.network_plugins / plugin)) continue;
    return tl::unexpected(missing(programs.network_plugins.string() + " has no " + plugin +
                                  "; install the package containernetworking-plugins"));
  }
  return {};
}

// containerd 1.6 reads configurations of version 2; containerd 2 migrates them.
std::string runtime_text(const KubeletPrograms& programs, const KubeletFiles& files) {
  return "version = 2\nroot = \"" + files.runtime_data().string() + "\"\nstate = \"" +
         (files.runtime_state() / "containerd").string() + "\"\n[grpc]\n  address = \"" +
         files.socket().string() +
         "\"\n[plugins.\"io.containerd.grpc.v1.cri\"]\n"
         "  sandbox_image = \"registry.k8s.io/pause:3.10.2\"\n"
         "  restrict_oom_score_adj = true\n  enable_cdi = false\n"
         "  [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
         "    runtime_type = \"io.containerd.runc.v2\"\n"
         "    [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n"
         "      BinaryName = \"" +
         programs.runc.string() +
         "\"\n  [plugins.\"io.containerd.grpc.v1.cri\".cni]\n    bin_dir = \"" +
         programs.network_plugins.string() + "\"\n    conf_dir = \"" +
         (files.folder / "cni").string() + "\"\n";
}

std::string network_text(const KubeletFiles& files) {
  return R"({"cniVersion":"0.4.0","name":"lab","plugins":[{"type":"bridge","bridge":"pods0",)"
         R"("isGateway":true,"ipMasq":false,"ipam":{"type":"host-local",)"
         R"("ranges":[[{"subnet":"10.88.0.0/16"}]],"dataDir":")" +
         (files.runtime_state() / "addresses").string() + R"("}}]})";
}

std::string kubelet_text(const KubeletFiles::Choices& choices) {
  const auto lease = std::chrono::ceil<std::chrono::seconds>(choices.lease_duration).count();
  return "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
         "cgroupDriver: cgroupfs\nfailSwapOn: false\nfailCgroupV1: false\n"
         "authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}\n"
         "authorization: {mode: AlwaysAllow}\n"
         "evictionHard: {memory.available: 50Mi, nodefs.available: 1%, imagefs.available: 1%}\n"
         "imageGCHighThresholdPercent: 100\nclusterDNS: [10.0.0.10]\n"
         "clusterDomain: cluster.local\nmaxPods: " +
         std::to_string(choices.pods_max) + "\nnodeLeaseDurationSeconds: " + std::to_string(lease) +
         "\n";
}

std::string edge_text(const std::string& url) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: edge\n"
         "clusters:\n- name: edge\n  cluster:\n    server: " +
         url + "\ncontexts:\n- name: edge\n  context:\n    cluster: edge\n    user: edge\n" +
         "users:\n- name: edge\n  user: {}\n";
}

}  // namespace

Result<KubeletPrograms> KubeletPrograms::find(const std::filesystem::path& folder,
                                              const std::filesystem::path& images,
                                              std::string_view mounts) {
  if (!has_groups_of_version_1(mounts)) {
    return fail(Errc::unavailable,
                "--kubelet: this machine has no cgroup v1, so a kubelet would see, and remove, "
                "the control groups of this machine's own pods");
  }
  KubeletPrograms programs;
  programs.kubelet = folder / "bin" / "kubelet";
  if (!is_there(programs.kubelet)) {
    return tl::unexpected(missing((folder / "bin").string() + " has no kubelet"));
  }
  programs.images = images;
  if (!is_there(images)) {
    return fail(Errc::not_found, "--kubelet-images: " + images.string() + " does not exist");
  }
  if (auto found = find_machine_programs(programs); !found) return fail(found.error());
  return programs;
}

Status KubeletFiles::write(const KubeletPrograms& programs, const Choices& choices) const {
  // containerd has a second socket, ADDRESS.ttrpc.
  if (socket().string().size() + sizeof ".ttrpc" > sizeof sockaddr_un::sun_path) {
    return fail(Errc::invalid, "--data: " + socket().string() +
                                   " is too long for a socket; choose a shorter path");
  }
  if (auto made = fs::ensure_dir(folder / "cni"); !made) return made;
  const std::pair<Path, std::string> texts[] = {
      {script(), std::string(embedded::kubelet_node_sh)},
      {runtime_config(), runtime_text(programs, *this)},
      {folder / "cni" / "10-lab.conflist", network_text(*this)},
      {kubelet_config(), kubelet_text(choices)},
      {edge_kubeconfig(), edge_text(choices.edge_url)}};
  for (const auto& [path, text] : texts) {
    if (auto written = fs::atomic_write(path, text); !written) return written;
  }
  return {};
}

}  // namespace holdfast::agent::lab::cluster
