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
from isolate import NODE_ADDRESS
from node import Node
from processes import Processes

API_PORT, RELAY_PORT, ETCD_PORT = 16443, 16444, 12379
AGENT, ADMIN = "http://127.0.0.1:10261", "http://127.0.0.1:10267"
TOKENS = """admintoken,admin,1,"system:masters"
nodetoken,system:node:edge1,2,"system:nodes"
joinme,token-bootstrap-client,3,"system:bootstrappers"
"""
KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{server}"{authority}}}}}]
users: [{{name: u, user: {{{user}}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
"""


class Site:
    """Starts and ends the programs. The constructor starts none.

    `kubernetes` is a folder with bin/ and images/ (made by real/real unpack), `bin` is a folder with the project's
    programs, and `work` is an empty folder for logs and state.
    """

    def __init__(self, report, kubernetes, bin, work):
        self.report = report
        self.kubernetes = os.path.abspath(kubernetes)
        self.bin = os.path.abspath(bin)
        self.work = os.path.abspath(work)
        self.pki = os.path.join(self.work, "pki")
        os.makedirs(self.pki, exist_ok=True)
        self.processes = Processes(self.work)
        self.api = Api(f"https://127.0.0.1:{API_PORT}", os.path.join(self.pki, "ca.crt"), "admintoken")
        self.local = Api(AGENT, agent="kubelet/v1.36.2")  # root on the node, as a component whose reads are cached
        self.admin = Api(ADMIN)
        self.api_port, self.relay_port = API_PORT, RELAY_PORT
        self.node = Node(self)

    def program(self, name):
        return os.path.join(self.kubernetes, "bin", name)

    def path(self, name):
        return os.path.join(self.work, name)

    # The control plane.

    def control_plane(self, lifecycle="holdfast-cloud", scheduler="kube-scheduler"):
        """Starts etcd, the API server, the controllers, the scheduler and the relay.

        lifecycle: "holdfast-cloud", or "upstream" for node-lifecycle and taint-eviction in kube-controller-manager.
        scheduler: "kube-scheduler", or "holdfast-cloud" under the name default-scheduler.
        """
        self._certificates()
        etcd = f"http://127.0.0.1:{ETCD_PORT}"
        peer = f"http://127.0.0.1:{ETCD_PORT + 1}"
        self.processes.start("etcd", [
            self.program("etcd"), "--data-dir", self.path("etcd"), "--listen-client-urls", etcd,
            "--advertise-client-urls", etcd, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", "default=" + peer, "--unsafe-no-fsync"])
        self.start_apiserver()
        self.write_kubeconfig("admin", self.api.url.geturl(), "admintoken")
        self.write_kubeconfig("node", f"https://127.0.0.1:{RELAY_PORT}", "nodetoken")
        self.report.until("the API server is ready", 120, lambda: (bool(self.api.get("/readyz")), ""))
        self._start_controllers(lifecycle)
        if scheduler == "kube-scheduler":
            self.processes.start("scheduler", [
                self.program("kube-scheduler"), *self._admin_flags(), "--leader-elect=false", "--secure-port=0"])
        if lifecycle == "holdfast-cloud" or scheduler == "holdfast-cloud":
            self._start_cloud(lifecycle, scheduler)
        self.start_relay()

    def start_apiserver(self, *more):
        pki = self.pki
        self.processes.start("apiserver", [
            self.program("kube-apiserver"), f"--etcd-servers=http://127.0.0.1:{ETCD_PORT}", "--bind-address=127.0.0.1",
            f"--advertise-address={NODE_ADDRESS}", f"--secure-port={API_PORT}",
            f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
            f"--client-ca-file={pki}/ca.crt", "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={pki}/sa.pub",
            f"--service-account-signing-key-file={pki}/sa.key", "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction", f"--token-auth-file={pki}/tokens.csv",
            "--allow-privileged=true", "--kubelet-preferred-address-types=InternalIP",
            "--max-requests-inflight=4000", "--max-mutating-requests-inflight=2000", *more])

    def _admin_flags(self):
        config = self.path("admin.kubeconfig")
        return [f"--{name}={config}" for name in
                ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")]

    def _start_controllers(self, lifecycle):
        without = ",-node-lifecycle-controller,-taint-eviction-controller" if lifecycle == "holdfast-cloud" else ""
        self.processes.start("controllers", [
            self.program("kube-controller-manager"), *self._admin_flags(), f"--controllers=*{without}",
            "--leader-elect=false", f"--cluster-signing-cert-file={self.pki}/ca.crt",
            f"--cluster-signing-key-file={self.pki}/ca.key",
            f"--service-account-private-key-file={self.pki}/sa.key", f"--root-ca-file={self.pki}/ca.crt",
            "--kube-api-qps=200", "--kube-api-burst=400", "--secure-port=0"])

    def _start_cloud(self, lifecycle, scheduler):
        controllers = ["*"] if lifecycle == "holdfast-cloud" else []
        if scheduler == "holdfast-cloud":
            controllers.append("scheduler")
        self.processes.start("cloud", [
            os.path.join(self.bin, "holdfast-cloud"), "--kubeconfig", self.path("admin.kubeconfig"),
            "--controllers=" + ",".join(controllers), "--scheduler-name=default-scheduler", "--leader-elect=false"])

    # The uplink.

    def start_relay(self, round_trip_ms=0):
        self.link("pass")
        relay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py")
        self.processes.start("relay", ["python3", relay, str(RELAY_PORT), str(API_PORT), self.path("link"),
                                     str(round_trip_ms)])

    def link(self, mode):
        """Sets the relay's mode: "pass", "refuse" or "hole"."""
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

    def write_kubeconfig(self, name, server, token=""):
        authority = f', certificate-authority: "{self.pki}/ca.crt"' if server.startswith("https") else ""
        user = f"token: {token}" if token else ""
        with open(self.path(name + ".kubeconfig"), "w") as file:
            os.chmod(file.name, 0o600)
            file.write(KUBECONFIG.format(server=server, authority=authority, user=user))
        return file.name

    def kubectl(self, *arguments, kubeconfig="admin", timeout=60, **more):
        """Runs kubectl. Returns the CompletedProcess with stdout and stderr as text."""
        command = ["kubectl", "--kubeconfig", self.path(kubeconfig + ".kubeconfig"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **more)

    def apply(self, *objects):
        """Creates or changes objects in the cloud with kubectl apply."""
        body = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        done = self.kubectl("apply", "-f", "-", input=body)
        if done.returncode != 0:
            raise RuntimeError("kubectl apply: " + done.stderr)

    def _certificates(self):
        if os.path.exists(os.path.join(self.pki, "ca.crt")):
            return
        names = "IP:127.0.0.1,IP:10.0.0.1,DNS:localhost,DNS:kubernetes.default,DNS:kubernetes.default.svc"
        with open(os.path.join(self.pki, "san"), "w") as file:
            file.write("subjectAltName=" + names + "\n")
        with open(os.path.join(self.pki, "tokens.csv"), "w") as file:
            file.write(TOKENS)
        for command in (
                "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 3650 -subj /CN=kubernetes-ca",
                "req -newkey rsa:2048 -nodes -keyout apiserver.key -out apiserver.csr -subj /CN=kube-apiserver",
                "x509 -req -in apiserver.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -extfile san"
                " -out apiserver.crt",
                "genrsa -out sa.key 2048", "rsa -in sa.key -pubout -out sa.pub"):
            subprocess.run(["openssl", *command.split()], cwd=self.pki, check=True, capture_output=True)

    def down(self):
        """Ends all processes of the site and removes the state of containerd and etcd; keeps the logs."""
        self.node.power_off()
        self.processes.kill_all()
        shutil.rmtree(self.path("containerd"), ignore_errors=True)
        shutil.rmtree(self.path("etcd"), ignore_errors=True)
