#!/usr/bin/env python3
"""Records the traffic between a real kubelet and a real kube-apiserver: test/data/kubelet/session-1.36.jsonl.

    record_kubelet.py [--kubernetes DIR] --bin DIR --work DIR [--output FILE]

Needs root and the packages that cross/dev real installs. Exits 0 when the whole session was recorded, 77 without root
or Kubernetes' programs. test/data/kubelet/README.md describes the format. Logs stay in the work folder.
"""

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import uuid

import isolate
import judge
import kubernetes
import pods
from node import BOOT_ID
from recording_proxy import RecordingProxy, client_context
from report import Failed, Report
from site_parts import API_PORT, Site

OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/kubelet/session-1.36.jsonl")
PROXY_PORT = 16446
NAMESPACE = "default"
CLAIMED = "/srv/site-data"  # on the node
ALLOWED_BYTES = 900_000
# The environment variable that passes the machine's names to the program that runs in its own namespaces.
MACHINE = "HOLDFAST_RECORD_MACHINE"
# The recording must contain neither these nor the names of this machine and of its folders.
CREDENTIALS = ("nodetoken", "admintoken", "joinme", "PRIVATE KEY")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kubernetes.add_option(parser)
    parser.add_argument("--bin", required=True, help="folder with the project's programs; none of them runs here")
    parser.add_argument("--work", required=True, help="folder for logs and state; emptied first")
    parser.add_argument("--output", default=OUTPUT, help="the recording")
    return parser.parse_args()


def in_default(thing):
    if "namespace" in thing["metadata"]:
        thing["metadata"]["namespace"] = NAMESPACE
    if "claimRef" in thing.get("spec", {}):
        thing["spec"]["claimRef"]["namespace"] = NAMESPACE
    return thing


def web_needs():
    """The objects that the pod web refers to: a Secret, a ConfigMap, a ServiceAccount, a volume and its claim."""
    meta = lambda name: {"name": name, "namespace": NAMESPACE}
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": meta("s1"), "stringData": {"key": "test"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("cm1"), "data": {"key": "value"}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta("sa1")},
        *(in_default(thing) for thing in pods.volume(CLAIMED))]


def web():
    """A pod with one volume of each kind for which the kubelet reads an object from the API server."""
    sources = [{"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}}]
    volumes = {"secret": {"secret": {"secretName": "s1"}}, "config": {"configMap": {"name": "cm1"}},
               "token": {"projected": {"sources": sources}},
               "data": {"persistentVolumeClaim": {"claimName": "data"}}}
    mounts = [{"name": name, "mountPath": "/" + name} for name in volumes]
    return in_default(pods.pod("web", pods.pod_spec(
        pods.container(volumeMounts=mounts), nodeName="edge1", serviceAccountName="sa1",
        automountServiceAccountToken=False,
        volumes=[{"name": name, **source} for name, source in volumes.items()])))


def hostnet():
    return in_default(pods.pod("hostnet", pods.pod_spec(
        pods.container(), nodeName="edge1", hostNetwork=True, automountServiceAccountToken=False)))


def names_of_machine():
    """The IDs that the kubelet would report, and the host name unless it is so short that it occurs in other words."""
    host = os.uname().nodename
    names = [host] if len(host) > 3 else []
    for path in ("/etc/machine-id", BOOT_ID, "/sys/class/dmi/id/product_uuid"):
        if os.path.exists(path):
            with open(path) as file:
                names.append(file.read().strip())
    return names


def hide_machine(work):
    """Makes the kubelet report made-up machine IDs and find an empty /srv."""
    for path, content in (("/etc/machine-id", "0123456789abcdef0123456789abcdef"), (BOOT_ID, str(uuid.uuid4())),
                          ("/sys/class/dmi/id/product_uuid", str(uuid.uuid4()))):
        if os.path.exists(path):
            made_up = os.path.join(work, os.path.basename(path))
            with open(made_up, "w") as file:
                file.write(content + "\n")
            subprocess.run(["mount", "--bind", made_up, path], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/srv"], check=True)


class Story:
    """The sequence of events that is recorded: starts, an idle minute, and an outage of the API server."""

    def __init__(self, site):
        self.site = site
        self.proxy = RecordingProxy(PROXY_PORT, ("127.0.0.1", API_PORT), "nodetoken",
                                    client_context(os.path.join(site.pki, "ca.crt")))

    def tell(self):
        site = self.site
        site.node.start_containerd()
        self.proxy.open()
        self.start_kubelet("registers")
        self.create_pods()
        self.pause(60, "the kubelet is idle")
        site.processes.kill("kubelet")
        self.pause(5, "no kubelet runs")
        self.start_kubelet("is started again")
        self.pause(30, "the kubelet finds its pods")
        self.lose_server()
        site.processes.kill("kubelet")
        self.start_kubelet("starts without the server", is_heard=False)
        self.pause(15, "the kubelet is refused")
        self.find_server()
        self.pause(30, "the kubelet reports what it could not report before")
        self.proxy.close()

    def start_kubelet(self, what, is_heard=True):
        asked = len(self.proxy.exchanges)
        self.proxy.client_starts()
        self.site.node.start_kubelet(server=f"http://127.0.0.1:{PROXY_PORT}")
        if is_heard:
            self.site.report.until(f"the kubelet {what}", 60, lambda: (
                len(self.proxy.exchanges) > asked + 20, len(self.proxy.exchanges)))
            self.are_well()

    def are_well(self):
        """Waits for the node and its pods to be Ready."""
        site = self.site
        site.report.until("the node is Ready", 90, lambda: judge.node_condition(site, "Ready", "True"))
        site.report.until("its pods are Ready", 90, lambda: self.ready())

    def ready(self):
        found = judge.states(judge.cloud_pods(self.site))
        return set(found.values()) <= {"Ready"}, found

    def create_pods(self):
        site = self.site
        site.report.until("the namespace has its ServiceAccount", 60, lambda: (
            site.api.get(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"), ""))
        site.apply(*web_needs())
        site.report.until("the claim is bound", 60, lambda: self.claim_is_bound())
        site.apply(web(), hostnet())
        self.are_well()

    def claim_is_bound(self):
        phase = self.site.api.get(f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims/data")["status"]["phase"]
        return phase == "Bound", phase

    def lose_server(self):
        self.proxy.close()
        self.site.processes.kill("apiserver")

    def find_server(self):
        site = self.site
        site.start_apiserver()
        site.report.until("the API server is back", 120, lambda: (bool(site.api.get("/readyz")), ""))
        asked = len(self.proxy.exchanges)
        self.proxy.open()
        site.report.until("the kubelet has reconnected", 60, lambda: (
            len(self.proxy.exchanges) > asked + 20, len(self.proxy.exchanges)))
        self.are_well()

    def pause(self, seconds, what):
        """Records for `seconds`. Fails if the API server stops, unless `what` contains "refused"."""
        self.site.report.throughout(what, seconds, lambda: (self.site.processes.is_running("apiserver")
                                                            or "refused" in what, "no server"))


def contents(exchange):
    """The decoded target, headers and bodies of an exchange, as one text to search in."""
    encoded = [exchange.get("requestBody", ""), exchange.get("responseBody", "")]
    encoded += [chunk for _, chunk in exchange.get("frames", [])]
    decoded = b"".join(base64.b64decode(each) for each in encoded).decode("latin-1")
    return exchange["target"] + json.dumps(exchange["requestHeaders"]) + decoded


def check(report, exchanges, names):
    """Checks that the recording is complete and contains no data of this machine."""
    everything = "\n".join(contents(exchange) for exchange in exchanges)
    report.equal("the kubelet was started three times", [1, 2, 3],
                 [exchange["start"] for exchange in exchanges if "start" in exchange])
    report.equal("it contains no credential and no name of this machine", [],
                 [name for name in (*CREDENTIALS, *names) if name in everything])
    asked = {(exchange["method"], exchange["target"].partition("?")[0]) for exchange in exchanges}
    for method, path in (("POST", "/api/v1/nodes"), ("PATCH", "/api/v1/namespaces/default/pods/web/status"),
                         ("POST", "/api/v1/namespaces/default/serviceaccounts/sa1/token"),
                         ("GET", "/api/v1/namespaces/default/persistentvolumeclaims/data")):
        report.check(f"it has {method} {path}", (method, path) in asked, sorted(asked))


def write(report, exchanges, output):
    lines = [json.dumps(exchange, separators=(",", ":")) + "\n" for exchange in exchanges]
    size = sum(map(len, lines))
    report.check("it is within its size limit", size <= ALLOWED_BYTES, f"{size} bytes", f"{size} bytes")
    with open(output, "w", encoding="utf-8") as file:
        file.writelines(lines)


def main():
    chosen = arguments()
    programs = kubernetes.programs_or_exit(chosen.kubernetes, "record_kubelet")
    os.environ.setdefault(MACHINE, " ".join(names_of_machine()))
    isolate.enter()
    kubernetes.print_versions(programs)
    shutil.rmtree(chosen.work, ignore_errors=True)
    report = Report()
    site = Site(report, programs, chosen.bin, chosen.work)
    hide_machine(site.work)
    try:
        report.begin("record-kubelet")
        site.control_plane(lifecycle="upstream")
        story = Story(site)
        story.tell()
        check(report, story.proxy.exchanges, [site.work, programs.folder, *os.environ[MACHINE].split()])
        write(report, story.proxy.exchanges, chosen.output)
    except Failed:
        pass
    finally:
        site.down()
    return report.summary()


if __name__ == "__main__":
    sys.exit(main())
