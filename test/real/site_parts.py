"""A site of real programs: a control plane, and one node whose kubelet uses the API server through the agent.

    relay (16444) ---> kube-apiserver (16443) <--- kube-controller-manager, kube-scheduler, holdfast-cloud
      ^
      | WORK/node.kubeconfig: a node's own rights and nothing more
    holdfast-edge (10261, 10267) <--- kubelet <--- containerd

It runs in its own namespaces (isolate.py). Every process can be killed and started again by its name.
"""

import json
import os
import shutil
import subprocess

from api import Api
from kube_server import ADMIN_TOKEN, NODE_TOKEN, KubeServer
from node import Node
from processes import Processes

API_PORT, RELAY_PORT, ETCD_PORT = 16443, 16444, 12379
AGENT, ADMIN = "http://127.0.0.1:10261", "http://127.0.0.1:10267"


class Site:
    """Starts and ends the programs. The constructor starts none.

    `programs` are the Programs of kubernetes.py, `bin` is a folder with the project's programs, and `work` is an empty
    folder for logs and state.
    """

    def __init__(self, report, programs, bin, work):
        self.report = report
        self.programs = programs
        self.bin = os.path.abspath(bin)
        self.work = os.path.abspath(work)
        os.makedirs(self.work, exist_ok=True)
        self.processes = Processes(self.work)
        self.server = KubeServer(programs, self.processes, self.work, API_PORT, (ETCD_PORT, ETCD_PORT + 1))
        self.pki = self.server.pki
        self.api = Api(self.server.url, os.path.join(self.pki, "ca.crt"), ADMIN_TOKEN)
        self.local = Api(AGENT, agent="kubelet/v1.36.2")  # root on the node, as a component whose reads are cached
        self.admin = Api(ADMIN)
        self.api_port, self.relay_port = API_PORT, RELAY_PORT
        self.lifecycle, self.scheduler = "", ""
        self.node = Node(self)

    def program(self, name):
        return self.programs.path(name)

    def path(self, name):
        return os.path.join(self.work, name)

    # The control plane.

    def control_plane(self, lifecycle="holdfast-cloud", scheduler="kube-scheduler"):
        """Starts etcd, the API server, the controllers, the scheduler and the relay.

        lifecycle: "holdfast-cloud", or "upstream" for node-lifecycle and taint-eviction in kube-controller-manager.
        scheduler: "kube-scheduler", or "holdfast-cloud" under the name default-scheduler.
        """
        self.server.make_certificates()
        self.server.start_etcd()
        self.start_apiserver()
        self.write_kubeconfig("admin", token=ADMIN_TOKEN)
        self.write_kubeconfig("node", f"https://127.0.0.1:{RELAY_PORT}", NODE_TOKEN)
        self.report.until("the API server is ready", 120, lambda: (bool(self.api.get("/readyz")), ""))
        self.lifecycle, self.scheduler = lifecycle, scheduler
        self.start_controllers()
        self.start_relay()

    def start_apiserver(self, *more):
        self.server.start(*more)

    def start_controllers(self):
        """Starts the controllers and the scheduler that control_plane() was told to start."""
        self._start_controller_manager()
        if self.scheduler == "kube-scheduler":
            self.processes.start("scheduler", [
                self.program("kube-scheduler"), *self._admin_flags(), "--leader-elect=false", "--secure-port=0"])
        controllers = ["*"] if self.lifecycle == "holdfast-cloud" else []
        controllers += ["scheduler"] if self.scheduler == "holdfast-cloud" else []
        if controllers:
            self.start_cloud(controllers)

    def start_cloud(self, controllers=("*",), name="cloud", user="admin", scheduler="default-scheduler", more=()):
        """Starts holdfast-cloud as the process `name` with the rights of `user`; `more` are flags."""
        self.processes.start(name, [
            os.path.join(self.bin, "holdfast-cloud"), "--kubeconfig", self.path(user + ".kubeconfig"),
            "--controllers=" + ",".join(controllers), "--scheduler-name=" + scheduler, "--leader-elect=false",
            *([] if name == "cloud" else ["--secure-port=0"]), *more])

    def _admin_flags(self):
        config = self.path("admin.kubeconfig")
        return [f"--{name}={config}" for name in
                ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")]

    def controller_manager_flags(self):
        """The flags with which kube-controller-manager runs, except --controllers."""
        return [*self._admin_flags(), "--leader-elect=false", f"--cluster-signing-cert-file={self.pki}/ca.crt",
                f"--cluster-signing-key-file={self.pki}/ca.key",
                f"--service-account-private-key-file={self.pki}/sa.key", f"--root-ca-file={self.pki}/ca.crt",
                "--kube-api-qps=200", "--kube-api-burst=400", "--secure-port=0"]

    def _start_controller_manager(self):
        without = ""
        if self.lifecycle == "holdfast-cloud":
            minor = self.programs.minor("kube-controller-manager")
            # Before 1.29 the controller of taints is a part of the other one, whose name was different before 1.28.
            without = ",-nodelifecycle" if minor < 28 else ",-node-lifecycle-controller"
            without += ",-taint-eviction-controller" if minor >= 29 else ""
        self.processes.start("controllers", [
            self.program("kube-controller-manager"), f"--controllers=*{without}", *self.controller_manager_flags()])

    # The uplink.

    def start_relay(self, round_trip_ms=0):
        self.link("pass")
        relay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py")
        self.processes.start("relay", ["python3", relay, str(RELAY_PORT), str(API_PORT), self.path("link"),
                                     str(round_trip_ms)])

    def link(self, mode):
        """Sets the relay's mode: "pass", "refuse", "hole", or "pass" with a round trip and a rate (see relay.py)."""
        with open(self.path("link.new"), "w") as file:
            file.write(mode)
        os.replace(self.path("link.new"), self.path("link"))

    def relayed_bytes(self):
        """Bytes (up, down) since the relay was started; at most 0.1 s old."""
        words = open(self.path("link.bytes")).read().split()
        return int(words[1]), int(words[3])

    def link_state(self):
        """The state of the uplink as the agent reports it: "connected", "suspect", "offline" or "rejoining"."""
        state = self.admin.get("/v1/link")
        return state.get("state") or state.get("link") or json.dumps(state)

    def cut(self, mode="refuse"):
        """Breaks the uplink and waits until the agent has noticed."""
        self.link(mode)
        self.report.until(f"the agent notices that the link is cut ({mode})", 30,
                          lambda: (self.link_state() == "offline", self.link_state()))

    def join(self, seconds=90):
        """Restores the uplink and waits until the agent is connected."""
        self.link("pass")
        self.report.until("the agent is connected again", seconds,
                          lambda: (self.link_state() == "connected", self.link_state()))

    # Helpers.

    def write_kubeconfig(self, name, server="", token="", proxy=""):
        return self.server.write_kubeconfig(name, server, token, proxy)

    def kubectl(self, *arguments, kubeconfig="admin", timeout=60, **more):
        """Runs kubectl. Returns the CompletedProcess with stdout and stderr as text."""
        command = [self.program("kubectl"), "--kubeconfig", self.path(kubeconfig + ".kubeconfig"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **more)

    def apply(self, *objects):
        """Creates or changes objects in the cloud with kubectl apply."""
        body = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        done = self.kubectl("apply", "-f", "-", input=body)
        if done.returncode != 0:
            raise RuntimeError("kubectl apply: " + done.stderr)

    def down(self):
        """Ends all processes of the site and removes the state of containerd and etcd; keeps the logs."""
        self.node.power_off()
        self.processes.kill_all()
        shutil.rmtree(self.path("containerd"), ignore_errors=True)
        shutil.rmtree(self.path("etcd"), ignore_errors=True)
