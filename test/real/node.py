"""The node of a site: containerd, the agent and the kubelet. Each can be killed, and the whole node can lose power."""

import json
import os
import shutil
import ssl
import subprocess
import urllib.request
import uuid

import images
from api import Api
from isolate import NODE_ADDRESS
from kubernetes import SYSTEM_FOLDERS
from processes import all_pids, container_pids, kill_pids, read_proc

CLIENT_AGENT = "http://127.0.0.1:11261"
CLIENT_AGENT_ADMIN = "http://127.0.0.1:11267"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
CACHE_AGENTS = ("kubelet,kube-proxy,flanneld,coredns,raven-agent-ds,yurttunnel-agent,holdfast-edge,kubectl")
# Version 2 is what containerd 1.6 reads; containerd 2 migrates it.
CONTAINERD = """version = 2
root = "{work}/containerd/root"
state = "{work}/containerd/state"
[grpc]
  address = "{work}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  enable_cdi = false
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "{runc}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{work}/cni"
"""
KUBELET = """apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
failSwapOn: false
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
evictionHard: {memory.available: "50Mi", nodefs.available: "1%", imagefs.available: "1%"}
imageGCHighThresholdPercent: 100
containerLogMaxSize: 1Mi
clusterDNS: ["10.0.0.10"]
clusterDomain: cluster.local
maxPods: 200
"""


class Node:
    """The node edge1 of the Site `site`."""

    def __init__(self, site):
        self.site = site
        self.behind_agent = True

    def start(self, behind_agent=True):
        """Starts all parts without waiting for the node to be Ready. Without the agent the kubelet uses the API server.
        """
        self.behind_agent = behind_agent
        self.start_containerd()
        if behind_agent:
            self.start_agent()
        self.start_kubelet()

    def start_agent(self, *more):
        site = self.site
        folder = site.path("holdfast")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        site.processes.start("edge", [
            os.path.join(site.bin, "holdfast-edge"), "--node-name=edge1", "--kubeconfig", site.path("node.kubeconfig"),
            "--data-dir", folder, "--cache-agents=" + CACHE_AGENTS, *more])

    def start_client_agent(self, cache_agents="*", proxy=""):
        """Starts a second agent with an administrator's credentials, at CLIENT_AGENT, for kubectl and e2e tests.
        `proxy` is the URL of a proxy before the API server.

        It is what README.md shows: client-go sends no token to an http:// server, so the agent uses its own.
        """
        site = self.site
        folder = site.path("holdfast-clients")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        site.write_kubeconfig("admin-over-relay", f"https://127.0.0.1:{site.relay_port}", "admintoken", proxy)
        site.processes.start("clients", [
            os.path.join(site.bin, "holdfast-edge"), "--node-name=clients", "--kubelet-grace=0s", "--kubeconfig",
            site.path("admin-over-relay.kubeconfig"), "--data-dir", folder, "--cache-agents=" + cache_agents,
            "--listen=127.0.0.1:11261", "--admin-listen=127.0.0.1:11267", "--secure-listen="])
        admin = Api(CLIENT_AGENT_ADMIN)
        site.report.until("the agent for clients is connected", 60, lambda: (
            admin.get("/v1/link")["state"] == "connected", admin.get("/v1/link")))
        return site.write_kubeconfig("clients", CLIENT_AGENT)

    def start_containerd(self):
        site, work = self.site, self.site.work
        os.makedirs(site.path("cni"), exist_ok=True)
        with open(site.path("containerd.toml"), "w") as file:
            file.write(CONTAINERD.format(work=work, pause=images.PAUSE, runc=site.program("runc"),
                                         plugins=site.programs.plugins))
        network = {"cniVersion": "0.4.0", "name": "real", "plugins": [
            {"type": "bridge", "bridge": "real0", "isGateway": True, "ipMasq": False, "ipam": {
                "type": "host-local", "ranges": [[{"subnet": "10.88.0.0/24"}]], "dataDir": work + "/ipam"}},
            {"type": "portmap", "capabilities": {"portMappings": True}}]}
        with open(site.path("cni/10-real.conflist"), "w") as file:
            json.dump(network, file)
        # containerd looks for its shim in PATH.
        path = ":".join([os.path.dirname(site.program("containerd-shim-runc-v2")), os.environ["PATH"], *SYSTEM_FOLDERS])
        site.processes.start("containerd", [site.program("containerd"), "--config", site.path("containerd.toml")],
                             {"PATH": path})
        site.report.until("containerd answers", 60, lambda: (self._ctr("version"), ""))
        if not os.path.exists(site.path("images-imported")):
            self.import_images()

    def import_images(self):
        programs, archive = self.site.programs, self.site.path("images.tar")
        images.write_images_of(archive, programs.path("busybox"),
                               programs.path("agnhost") if "agnhost" in programs else "")
        if not self._ctr("-n", "k8s.io", "images", "import", archive):
            raise RuntimeError("cannot import " + archive)
        open(self.site.path("images-imported"), "w").close()

    def _ctr(self, *arguments):
        command = [self.site.program("ctr"), "-a", self.site.path("containerd.sock"), *arguments]
        return subprocess.run(command, capture_output=True, timeout=120).returncode == 0

    def start_kubelet(self, through_relay=False, server=""):
        """Starts the kubelet. Its server is `server` if given (a proxy that adds the node's token); else the agent;
        else, without an agent, the relay, which counts bytes, or the API server itself.
        """
        site = self.site
        minor = site.programs.minor("kubelet")
        with open(site.path("kubelet.yaml"), "w") as file:
            # Kubelets before 1.31 do not know it and accept control groups v1.
            file.write(KUBELET + ("failCgroupV1: false\n" if minor >= 31 else ""))
        if server or self.behind_agent:
            config = site.write_kubeconfig("kubelet", server or "http://127.0.0.1:10261")
        else:
            server = f"https://127.0.0.1:{site.relay_port if through_relay else site.api_port}"
            config = site.write_kubeconfig("kubelet", server, "nodetoken")
        site.processes.start("kubelet", [
            site.program("kubelet"), "--config", site.path("kubelet.yaml"), "--kubeconfig", config,
            "--container-runtime-endpoint", "unix://" + site.path("containerd.sock"), "--hostname-override=edge1",
            "--node-ip=" + NODE_ADDRESS, "--root-dir", site.path("kubelet"), "--v=2",
            # Their default was Docker.
            *(["--container-runtime=remote"] if minor < 24 else [])])

    # What the kubelet has.

    def pods(self):
        """The pods that the kubelet has now, with its own view of their status: {namespace/name: pod}."""
        context = ssl._create_unverified_context()
        with urllib.request.urlopen("https://127.0.0.1:10250/pods", context=context, timeout=5) as answer:
            items = json.load(answer).get("items") or []
        return {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": pod for pod in items}

    def containers_of(self, pod):
        """The processes of a pod (as an object) on this machine."""
        uid = pod["metadata"]["uid"]
        return [pid for pid in container_pids("pod" + uid) if "pause" not in read_proc(pid, "cmdline")]

    # Accidents.

    def kill_container(self, pod):
        """kill -9 of a pod's processes except its pause process."""
        pids = self.containers_of(pod)
        if not pids:
            raise RuntimeError("the pod has no process")
        kill_pids(pids)

    def power_off(self):
        """Simulates a power cut: removes the node's processes, mounts, network devices and containerd's state."""
        for name in ("edge", "kubelet", "containerd"):
            self.site.processes.kill(name)
        kill_pids(self._shims() + container_pids())
        kill_pids(self._shims() + container_pids())
        self._unmount()
        links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout
        for line in links.splitlines():
            name = line.split(": ")[1].partition("@")[0]
            if name.startswith("veth") or name == "real0":
                subprocess.run(["ip", "link", "delete", name], capture_output=True)
        shutil.rmtree(self.site.path("containerd/state"), ignore_errors=True)

    def power_on(self):
        """Simulates a boot: sets a new boot ID, then starts everything together."""
        boot_id = self.site.path("boot-id")
        with open(boot_id, "w") as file:
            file.write(f"{uuid.uuid4()}\n")
        subprocess.run(["umount", BOOT_ID], capture_output=True)
        subprocess.run(["mount", "--bind", boot_id, BOOT_ID], check=True)
        self.start(self.behind_agent)

    def repair(self):
        """Starts the processes that are not running."""
        for name, start in (("containerd", self.start_containerd), ("edge", self.start_agent),
                            ("kubelet", self.start_kubelet)):
            if not self.site.processes.is_running(name) and (name != "edge" or self.behind_agent):
                start()

    def _shims(self):
        socket = self.site.path("containerd.sock")
        return [pid for pid in all_pids()
                if "containerd-shim" in read_proc(pid, "cmdline") and socket in read_proc(pid, "cmdline")]

    def _unmount(self):
        with open("/proc/mounts") as file:
            mounts = [line.split()[1] for line in file]
        for mount in sorted(mounts, reverse=True):
            if mount.startswith(self.site.work + "/") or mount.startswith("/run/netns/cni-"):
                subprocess.run(["umount", "-l", mount], capture_output=True)
