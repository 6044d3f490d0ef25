#include "agent/lab/cluster/kubelet_files.h"

#include <sys/un.h>

#include "agent/lab/cluster/node_groups.h"
#include "embedded/kubelet_node.h"
#include "platform/fs/file.h"
#include "platform/proc/notify.h"
#include "platform/text.h"

namespace holdfast::agent::lab::cluster {
namespace {

using Path = std::filesystem::path;

bool is_there(const Path& path) {
  std::error_code ec;
  return std::filesystem::exists(path, ec);
}

// Where a program of this machine is; empty: nowhere.
Path program_of_machine(const char* name) {
  const std::string path =
      proc::system_environment("PATH").value_or("/usr/bin:/bin") + ":/usr/sbin:/sbin";
  for (const std::string_view folder : split(path, ':')) {
    if (!folder.empty() && is_there(Path(folder) / name)) return Path(folder) / name;
  }
  return {};
}

Error missing(const std::string& what) { return {Errc::not_found, "--kubelet: " + what, {}}; }

Status find_programs_of_machine(KubeletPrograms& programs) {
  struct Needed {
    const char* name;
    const char* package;
  };
  for (const auto& [name, package] :
       {Needed{"unshare", "util-linux"}, Needed{"nsenter", "util-linux"}, Needed{"ip", "iproute2"},
        Needed{"mount", "mount"}, Needed{"runc", "runc"}}) {
    programs.runc = program_of_machine(name);
    if (programs.runc.empty()) {
      return tl::unexpected(
          missing("this machine has no " + std::string(name) + "; install the package " + package));
    }
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

std::string runtime_text(const KubeletPrograms& programs, const KubeletFiles& files) {
  return "version = 3\nroot = \"" + files.runtime_data().string() + "\"\nstate = \"" +
         (files.runtime_state() / "containerd").string() + "\"\n[grpc]\n  address = \"" +
         files.socket().string() +
         "\"\n[plugins.\"io.containerd.cri.v1.images\".pinned_images]\n"
         "  sandbox = \"registry.k8s.io/pause:3.10.2\"\n"
         "[plugins.\"io.containerd.cri.v1.runtime\"]\n"
         "  restrict_oom_score_adj = true\n  enable_cdi = false\n"
         "  [plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.runc]\n"
         "    runtime_type = \"io.containerd.runc.v2\"\n"
         "    [plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.runc.options]\n"
         "      BinaryName = \"" +
         programs.runc.string() +
         "\"\n  [plugins.\"io.containerd.cri.v1.runtime\".cni]\n    bin_dirs = [\"" +
         programs.network_plugins.string() + "\"]\n    conf_dir = \"" +
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

Result<KubeletPrograms> KubeletPrograms::find(const std::filesystem::path& folder) {
  if (!has_groups_of_version_1()) {
    return fail(Errc::unavailable,
                "--kubelet: this machine has no cgroup v1, so a kubelet would see, and remove, "
                "the control groups of this machine's own pods");
  }
  KubeletPrograms programs;
  programs.bin = folder / "bin";
  for (const char* name : {"kubelet", "containerd", "containerd-shim-runc-v2", "ctr"}) {
    if (is_there(programs.bin / name)) continue;
    return tl::unexpected(missing(programs.bin.string() + " has no " + name));
  }
  for (const char* name : {"pause.tar", "busybox.tar"}) {
    programs.images.push_back(folder / "images" / name);
    if (is_there(programs.images.back())) continue;
    return tl::unexpected(missing((folder / "images").string() + " has no " + name));
  }
  if (auto found = find_programs_of_machine(programs); !found) return fail(found.error());
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
