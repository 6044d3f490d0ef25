"""A node without a kubelet, whose lease is always renewed. If the only node were silent, its zone would count as fully
disrupted, and Kubernetes evicts no pods then."""

import threading
import time

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
RENEWED_EVERY = 5  # seconds; the lease expires after 40


class SteadyNode:
    """A context manager: the node exists inside the `with` block. Without `cpus` it is unschedulable and gets no pods;
    with them schedulers may bind pods to it, which never run.
    """

    def __init__(self, api, name="steady", cpus=0):
        self.api = api
        self.name = name
        self.cpus = cpus
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._renew)

    def __enter__(self):
        self.api.create("/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": self.name},
            "spec": {} if self.cpus else {"unschedulable": True}})
        room = {"cpu": str(self.cpus), "memory": "8Gi", "pods": "110"} if self.cpus else {}
        self.api.merge(f"/api/v1/nodes/{self.name}/status", {"status": {"capacity": room, "allocatable": room}})
        self.set_ready("True")
        self.api.create(LEASES, {
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": self.name},
            "spec": {"holderIdentity": self.name, "leaseDurationSeconds": 40, "renewTime": _now(".000000")}})
        self.thread.start()
        return self

    def set_ready(self, status):
        conditions = [{"type": "Ready", "status": status, "reason": "Steady", "lastHeartbeatTime": _now(),
                       "lastTransitionTime": _now()}]
        self.api.merge(f"/api/v1/nodes/{self.name}/status", {"status": {"conditions": conditions}})

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.api.delete(f"{LEASES}/{self.name}")
        self.api.delete(f"/api/v1/nodes/{self.name}")

    def _renew(self):
        while not self.ended.wait(RENEWED_EVERY):
            self.api.request("PATCH", f"{LEASES}/{self.name}", {"spec": {"renewTime": _now(".000000")}},
                             "application/merge-patch+json")


def _now(fraction=""):
    return time.strftime(f"%Y-%m-%dT%H:%M:%S{fraction}Z", time.gmtime())
