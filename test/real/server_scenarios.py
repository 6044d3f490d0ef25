"""Scenarios about the API server: who asks it, through what, and what becomes of its data."""

import os
import shutil
import signal

import judge
import pods
from api import Api
from kube_server import free_ports
from node import CLIENT_AGENT

NODE = "/api/v1/nodes/edge1"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/edge1"
SECRETS = f"/api/v1/namespaces/{pods.NAMESPACE}/secrets"


def impersonation(site):
    """Who acts as another user gets what the API server gives that user, and nothing while the link is down."""
    report = site.report
    site.node.start_client_agent()
    through = Api(CLIENT_AGENT)
    paths = (SECRETS, SECRETS + "?resourceVersion=0", SECRETS + "?watch=true&resourceVersion=0&timeoutSeconds=1",
             SECRETS + "/password?resourceVersion=0")
    others = ({"Impersonate-User": "nobody"}, {"Impersonate-Uid": "7"},
              {"Impersonate-User": "nobody", "Impersonate-Group": "system:masters"})
    for path in paths:
        report.equal(f"GET {path} is answered", 200, through.raw("GET", path)[0])
    for other in others:
        for path in paths:
            report.equal(f"GET {path} with {other}: as directly", site.api.raw("GET", path, more=other)[0],
                         through.raw("GET", path, more=other)[0])
    site.cut()
    report.until("the agent for clients notices that the link is cut", 30, lambda: (
        (found := through.raw("GET", SECRETS)[1].get("Warning")) is not None, found))
    for path in paths:
        report.equal(f"offline: GET {path} is answered", 200, through.raw("GET", path)[0])
        for other in others:
            report.equal(f"offline: GET {path} with {other}", 503, through.raw("GET", path, more=other)[0])
    event = pods.event(pods.NAMESPACE, "of-nobody")
    report.equal("offline: an event of another user is not taken for the node's", 503, site.local.raw(
        "POST", f"/api/v1/namespaces/{pods.NAMESPACE}/events", event, more=others[0])[0])
    site.processes.kill("clients")
    site.join()


def proxy(site):
    """The kubeconfig names a proxy: the agent reaches the API server through it alone, and says what it refuses."""
    report = site.report
    port, = free_ports(1)
    folder = os.path.dirname(os.path.abspath(__file__))

    def start_proxy(credentials):
        site.processes.start("proxy", ["python3", os.path.join(folder, "connect_proxy.py"), str(port), credentials])

    start_proxy("agent:secret")
    site.node.start_client_agent(proxy=f"http://agent:secret@127.0.0.1:{port}")
    report.equal("the proxy has connected it", {f"127.0.0.1:{site.relay_port} 200 Connection Established"},
                 set(site.processes.log("proxy").splitlines()))
    admin = Api("http://127.0.0.1:11267")
    site.processes.kill("proxy")
    report.until("without the proxy the agent is offline", 30, lambda: (
        (found := admin.get("/v1/link"))["state"] == "offline", found))
    start_proxy("agent:changed")
    report.until("it says what a proxy that refuses its password answers", 40, lambda: (
        "407" in str(found := admin.get("/v1/link")), found))
    site.processes.kill("proxy")
    start_proxy("agent:secret")
    report.until("it is connected again", 60, lambda: (
        (found := admin.get("/v1/link"))["state"] == "connected", found))
    site.processes.kill("clients")
    site.processes.kill("proxy")


def node_replaced(site):
    """The Node is deleted while connected, and registers anew: the lease belongs to the new Node, and it stays."""
    report = site.report
    old = site.api.get(NODE)["metadata"]["uid"]
    site.processes.kill("kubelet")
    site.api.delete(NODE)
    site.node.start_kubelet()
    report.until("the kubelet registers a new Node", 60, lambda: (
        (site.api.get_or_none(NODE) or {"metadata": {"uid": old}})["metadata"]["uid"] != old, "none, or the old one"))
    new = site.api.get(NODE)["metadata"]["uid"]
    report.until("the lease belongs to the new Node", 60, lambda: _lease_of(site, new))
    lease = site.api.get(LEASE)["metadata"]["uid"]
    report.throughout("it stays the same lease, although leases of old Nodes are collected", 30, lambda: (
        (found := (site.api.get_or_none(LEASE) or {"metadata": {}})["metadata"].get("uid")) == lease, found))
    report.until("the node is Ready", 60, lambda: judge.node_condition(site, "Ready", "True"))
    report.until("the cloud sees all pods run", 90, lambda: judge.all_run(site, in_cloud=True))
    judge.statuses_equal(site)


def _lease_of(site, uid):
    found = [each["uid"] for each in site.api.get(LEASE)["metadata"].get("ownerReferences", [])]
    return found == [uid], found


def data_restored(site):
    """etcd is restored from a copy: pods that are not in it end, and new ones start, as before."""
    report, copy = site.report, site.path("etcd-copy")
    _stop_server(site)
    shutil.copytree(site.path("etcd"), copy)
    _start_server(site)
    site.join()
    site.apply(pods.pod("forgotten", pods.pod_spec(pods.container())))
    report.until("a pod that is not in the copy runs", 90, lambda: judge.run(site, "forgotten"))
    # So many versions that those after the restoration stay below them for a while.
    for number in range(500):
        site.api.merge(NODE, {"metadata": {"annotations": {"holdfast.test/number": str(number)}}})
    newest = int(site.api.get(NODE)["metadata"]["resourceVersion"])
    report.until("the agent has seen the newest Node", 30, lambda: (
        (found := int(site.local.get(NODE + "?resourceVersion=0")["metadata"]["resourceVersion"])) >= newest, found))
    recorded = judge.last_record(site)
    _stop_server(site)
    shutil.rmtree(site.path("etcd"))
    os.rename(copy, site.path("etcd"))
    _start_server(site)
    site.join()
    report.until("the pod that is not in the copy ends on the node", 90, lambda: judge.gone(site, "forgotten"))
    report.until("the journal says that the data is older", 90, lambda: (
        any(entry["seq"] > recorded and entry["kind"] == "cloud" for entry in judge.journal(site)),
        judge.journal(site)[-3:]))
    site.apply(pods.pod("created", pods.pod_spec(pods.container())))
    report.until("a new pod runs", 90, lambda: judge.run(site, "created"))
    site.api.delete(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/created", grace=0)
    report.until("everything is as before", 90, lambda: judge.all_run(site, in_cloud=True))
    judge.statuses_equal(site)


def _stop_server(site):
    """Ends the API server and etcd, and what has read from them and would go on with versions that are gone."""
    for name in ("cloud", "scheduler", "controllers", "apiserver"):
        site.processes.kill(name)
    site.processes.kill("etcd", signal.SIGTERM)


def _start_server(site):
    site.server.start_etcd()
    site.start_apiserver()
    site.report.until("the API server is ready", 120, lambda: (bool(site.api.get("/readyz")), ""))
    site.start_controllers()
