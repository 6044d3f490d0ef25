"""kube-apiserver with its etcd, certificates and tokens, on loopback."""

import json
import os
import socket
import subprocess

from isolate import NODE_ADDRESS

TOKENS = """admintoken,admin,1,"system:masters"
nodetoken,system:node:edge1,2,"system:nodes"
joinme,token-bootstrap-client,3,"system:bootstrappers"
limitedtoken,limited,4,"holdfast.test:limited"
"""
ADMIN_TOKEN, NODE_TOKEN, LIMITED_TOKEN = "admintoken", "nodetoken", "limitedtoken"
# The requests of the node, and of the user with few rights, without their bodies.
AUDIT_POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, userGroups: ["system:masters"]}
- {level: Metadata, userGroups: ["system:nodes", "holdfast.test:limited"]}
- {level: None}
"""
KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{server}"{more}}}}}]
users: [{{name: u, user: {{{user}}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
"""


def free_ports(count):
    """Ports of loopback that nothing listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class KubeServer:
    """The processes "etcd" and "apiserver" among `processes`; their files are in the folder `work`."""

    def __init__(self, programs, processes, work, port, etcd_ports):
        self.programs = programs
        self.processes = processes
        self.work = work
        self.pki = os.path.join(work, "pki")
        self.port = port
        self.etcd_ports = etcd_ports  # for clients, for peers
        self.audits = False  # whether the API server writes the log that requests() reads
        os.makedirs(self.pki, exist_ok=True)

    @property
    def audit_log(self):
        return os.path.join(self.work, "audit.log")

    def requests(self, user, after=0):
        """The requests of `user` in the audit log from byte `after` on, and where the log ends now.

        A request is an event of the audit log, as upstream documents it: verb, objectRef, requestURI, responseStatus.
        A watch is in the log twice; its end is left out.
        """
        found = []
        with open(self.audit_log, "rb") as file:
            file.seek(after)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                after += len(line)
                event = json.loads(line)
                if event["user"]["username"] != user:
                    continue
                if event["verb"] != "watch" or event["stage"] == "ResponseStarted":
                    found.append(event)
        return found, after

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def start_etcd(self, syncs=False):
        """Starts etcd. With `syncs` what it has answered survives a power cut, too."""
        client, peer = (f"http://127.0.0.1:{port}" for port in self.etcd_ports)
        self.processes.start("etcd", [
            self.programs.path("etcd"), "--data-dir", os.path.join(self.work, "etcd"), "--listen-client-urls", client,
            "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", "default=" + peer, *([] if syncs else ["--unsafe-no-fsync"])])

    def start(self, *more):
        """Starts kube-apiserver; `more` are flags."""
        pki = self.pki
        if self.audits:
            with open(os.path.join(self.work, "audit.yaml"), "w") as file:
                file.write(AUDIT_POLICY)
            more = (*more, f"--audit-policy-file={file.name}", f"--audit-log-path={self.audit_log}")
        self.processes.start("apiserver", [
            self.programs.path("kube-apiserver"), f"--etcd-servers=http://127.0.0.1:{self.etcd_ports[0]}",
            "--bind-address=127.0.0.1", f"--advertise-address={NODE_ADDRESS}", f"--secure-port={self.port}",
            f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
            f"--client-ca-file={pki}/ca.crt", "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={pki}/sa.pub",
            f"--service-account-signing-key-file={pki}/sa.key", "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction", f"--token-auth-file={pki}/tokens.csv",
            "--allow-privileged=true", "--kubelet-preferred-address-types=InternalIP",
            "--max-requests-inflight=4000", "--max-mutating-requests-inflight=2000", *more])

    def write_kubeconfig(self, name, server="", token="", proxy=""):
        """Writes NAME.kubeconfig for this server, or another one, and returns its path. `proxy` is a URL."""
        server = server or self.url
        more = f', certificate-authority: "{self.pki}/ca.crt"' if server.startswith("https") else ""
        more += f', proxy-url: "{proxy}"' if proxy else ""
        user = f"token: {token}" if token else ""
        with open(os.path.join(self.work, name + ".kubeconfig"), "w") as file:
            os.chmod(file.name, 0o600)
            file.write(KUBECONFIG.format(server=server, more=more, user=user))
        return file.name

    def make_certificates(self):
        """Makes keys, certificates and tokens, unless they exist."""
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
