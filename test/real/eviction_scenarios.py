"""Scenarios about the evictions of holdfast-cloud: what it does on stale news, what it marks, counts and keeps, and how
it takes the place of kube-controller-manager and kube-scheduler with their flags and files."""

import json
import os
import signal
import subprocess
import urllib.request

import judge
import pods
from cloud_scenarios import RBAC, binding, hollow, start_hollow, taint_names
from holding_proxy import HoldingProxy
from kube_server import ADMIN_TOKEN, LIMITED_TOKEN, free_ports
from recording_proxy import client_context
from steady_node import SteadyNode

NODES, NODE, NAME = "/api/v1/nodes", "/api/v1/nodes/lost", "lost"
EVENTS = f"/api/v1/namespaces/{pods.NAMESPACE}/events"
OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
MAINTENANCE = {"key": "maintenance", "effect": "NoExecute"}
METRICS = "http://127.0.0.1:10257/metrics"


def _path(name):
    return f"/api/v1/namespaces/{pods.NAMESPACE}/pods/{name}"


def _bound(name, **spec):
    """A pod on the lost node. No kubelet ends it there."""
    return pods.pod(name, pods.pod_spec(pods.container(), nodeName=NAME, **spec))


def _taint(site, *taints):
    """Gives the lost node these taints, and no others but the controller's."""
    given = (OUT_OF_SERVICE["key"], MAINTENANCE["key"])
    kept = [each for each in site.api.get(NODE)["spec"].get("taints", []) if each["key"] not in given]
    site.api.merge(NODE, {"spec": {"taints": [*kept, *taints]}})


def _is_deleting(site, name):
    return "deletionTimestamp" in site.api.get(_path(name))["metadata"]


def stale_watch(site):
    """holdfast-cloud: while its watch of the nodes hangs, it forces nothing on a node that is in service again."""
    report = site.report
    # Neither upstream's collector of pods nor the other instance is to force anything.
    for name in ("cloud", "scheduler", "controllers"):
        site.processes.kill(name)
    port, = free_ports(1)
    proxy = HoldingProxy(port, ("127.0.0.1", site.api_port), ADMIN_TOKEN,
                         client_context(os.path.join(site.pki, "ca.crt")))
    proxy.open()
    site.write_kubeconfig("proxied", f"http://127.0.0.1:{port}")
    with SteadyNode(site.api), SteadyNode(site.api, NAME) as node:
        site.start_cloud(name="proxied", user="proxied")
        _forces_nothing(site, proxy, node, "the taint is removed", lambda: _taint(site))
        _forces_nothing(site, proxy, node, "the node is Ready", lambda: node.set_ready("True"))
        site.processes.kill("proxied")
    proxy.close()
    site.start_controllers()
    report.until("the other pods are Ready in the cloud", 90, lambda: judge.all_run(site, in_cloud=True))


def _forces_nothing(site, proxy, node, what, change):
    report, name = site.report, "stuck"
    path = _path(name)
    node.set_ready("False")
    report.until("the node has the taint not-ready", 60, lambda: (
        "node.kubernetes.io/not-ready:NoExecute" in (found := taint_names(site, NODE)), found))
    site.apply(_bound(name, tolerations=[{"operator": "Exists"}]))
    seen = proxy.delivered(NODES)
    _taint(site, OUT_OF_SERVICE)
    report.until("the controller sees that the node is out of service", 30, lambda: (
        proxy.has_delivered(NODES, OUT_OF_SERVICE["key"], seen), "no such event"))
    proxy.hold(NODES)
    change()
    mark = len(proxy.exchanges)
    site.api.delete(path)
    report.throughout(f"{what}, unseen: the pod neither fails nor is deleted by force", 20, lambda: (
        (found := site.api.get_or_none(path)) is not None and found["status"].get("phase") != "Failed", found))
    report.equal(f"{what}, unseen: no such request", (0, 0), (
        proxy.asked("DELETE", path, mark), proxy.asked("PATCH", path + "/status", mark)))
    report.check(f"{what}, unseen: the controller has asked for the node", proxy.asked("GET", NODE, mark) > 0,
                 "expected: a GET of the node\nfound: none")
    proxy.release()
    node.set_ready("False")
    _taint(site, OUT_OF_SERVICE)
    report.until("the node is out of service again: the pod is deleted by force", 60, lambda: (
        site.api.get_or_none(path) is None, "still there"))
    report.check("it was this controller", proxy.asked("DELETE", path, mark) > 0, "expected: a DELETE\nfound: none")
    _taint(site)


def marks(site):
    """holdfast-cloud: a withdrawn eviction leaves no mark, a new leader repeats no event, finished pods are kept."""
    report = site.report
    site.write_kubeconfig("limited", token=LIMITED_TOKEN)
    site.kubectl("apply", "-f", os.path.join(RBAC, "cloud-rbac.yaml"))
    site.apply(*binding("ClusterRole", "holdfast-cloud"), *binding("Role", "holdfast-cloud", "kube-node-lease"))
    site.processes.kill("cloud")
    with SteadyNode(site.api), SteadyNode(site.api, NAME):
        site.apply(_bound("marked"), _bound("finished"))
        site.api.merge(_path("finished") + "/status", {"status": {"phase": "Succeeded"}})
        site.start_cloud(name="limited", user="limited", more=["--eviction-mode=evict"])
        _withdraws(site)
        site.processes.kill("limited")
        for event in _events_of(site, "marked"):
            site.api.delete(f"{EVENTS}/{event['metadata']['name']}")
        site.start_cloud(more=["--eviction-mode=evict"])
        _taint(site, MAINTENANCE)
        report.until("with the right to evict it evicts the pod", 60, lambda: (_is_deleting(site, "marked"), "no"))
        report.equal("and tells of it once", 1, _marking_events(site, "marked"))
        report.until("the eviction is counted", 10, lambda: (
            (found := _metric("taint_eviction_controller_pod_deletions_total")) == 1, found))
        site.processes.kill("cloud")
        site.start_cloud()
        report.until("the next leader deletes the finished pod, as upstream", 60, lambda: (
            site.api.get_or_none(_path("finished")) is None, "still there"))
        report.throughout("it tells nothing of the pod that terminates", 15, lambda: (
            (found := _marking_events(site, "marked")) == 1, found))
        site.api.delete(_path("marked"), grace=0)
    site.kubectl("delete", "clusterrolebinding", "limited-holdfast-cloud")
    report.until("the other pods are Ready in the cloud", 90, lambda: judge.all_run(site, in_cloud=True))


def _withdraws(site):
    report = site.report
    _taint(site, MAINTENANCE)
    report.until("the eviction of a pod is refused", 60, lambda: (
        "cloud-rbac-eviction-api.yaml" in (log := site.processes.log("limited")), log[-500:]))
    site.processes.kill("limited")
    site.start_cloud(name="limited", user="limited")
    report.until("a pod is marked for its deletion", 60, lambda: _has_mark(site, "marked", "True"))
    report.throughout("its deletion is refused", 5, lambda: (not _is_deleting(site, "marked"), "it is deleted"))
    _taint(site)
    report.until("without the taint the mark is withdrawn", 60, lambda: _has_mark(site, "marked", "False"))
    site.processes.kill("limited")
    site.start_cloud(name="limited", user="limited", more=["--eviction-mode=evict"])
    _taint(site, MAINTENANCE)
    report.throughout("with the API of evictions a finished pod is kept", 15, lambda: (
        not _is_deleting(site, "finished"), "it is deleted"))
    _taint(site)


def _has_mark(site, name, status):
    found = [each for each in site.api.get(_path(name))["status"].get("conditions", [])
             if each["type"] == "DisruptionTarget"]
    return [each["status"] for each in found] == [status], found


def _events_of(site, name):
    return site.api.get(f"{EVENTS}?fieldSelector=involvedObject.name%3D{name}")["items"]


def _marking_events(site, name):
    """How often an event told that the pod is marked for its deletion."""
    return sum(each.get("count", 1) for each in _events_of(site, name)
               if each["reason"] == "TaintManagerEviction" and each["message"].startswith("Marking for deletion"))


def _metric(name, label=""):
    """The sum of a metric of holdfast-cloud over all its labels, or over those with `label`."""
    with urllib.request.urlopen(METRICS, timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name) and label in line)


SCHEDULER_CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
    "leaderElection": {"leaderElect": False, "resourceName": "kube-scheduler", "resourceNamespace": "kube-system"},
    "clientConnection": {"qps": 50, "burst": 100, "contentType": "application/vnd.kubernetes.protobuf"},
    "enableProfiling": False, "parallelism": 16, "percentageOfNodesToScore": 0,
    "podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 10}


def taken_over(site):
    """holdfast-cloud runs with kube-controller-manager's flags and kube-scheduler's file, as these programs do."""
    report = site.report
    minor = site.programs.minor("kube-scheduler")
    config = {**SCHEDULER_CONFIG, "clientConnection": {**SCHEDULER_CONFIG["clientConnection"],
                                                       "kubeconfig": site.path("admin.kubeconfig")}}
    if minor < 25:
        config["apiVersion"] = "kubescheduler.config.k8s.io/v1beta1"
    with open(site.path("scheduler.yaml"), "w") as file:
        json.dump(config, file)  # which is YAML, too
    for name in ("cloud", "scheduler"):
        site.processes.kill(name)
    site.processes.start("scheduler", [site.program("kube-scheduler"), "--config=" + file.name, "--secure-port=0"])
    # What kubeadm writes for kube-controller-manager, and the flags with which it runs here.
    flags = [*site.controller_manager_flags(), "--use-service-account-credentials=true", "--allocate-node-cidrs=true",
             "--cluster-cidr=10.88.0.0/16", "--cluster-name=kubernetes", "--service-cluster-ip-range=10.0.0.0/24",
             f"--client-ca-file={site.pki}/ca.crt", f"--requestheader-client-ca-file={site.pki}/ca.crt"]
    site.processes.start("moved", [
        os.path.join(site.bin, "holdfast-cloud"), *flags, "--controllers=*,bootstrapsigner,tokencleaner,scheduler",
        "--scheduler-name=binder", "--scheduler-config=" + file.name])
    for name, scheduler in (("theirs", "default-scheduler"), ("ours", "binder")):
        site.apply(pods.pod(name, pods.pod_spec(pods.container(), schedulerName=scheduler)))
        report.until(f"a pod of {scheduler} runs", 60, lambda: judge.run(site, name))
    log = site.processes.log("moved")
    for word in ("flags of kube-controller-manager without effect", "cluster-cidr",
                 "not in this program, kube-controller-manager runs them", "bootstrapsigner",
                 "--scheduler-config: has no effect here", "leaderElection", "clientConnection"):
        report.equal(f"one warning names {word!r}", 1, sum(word in line for line in log.splitlines()))
    for name in ("theirs", "ours"):
        site.api.delete(_path(name), grace=0)
    for name in ("moved", "scheduler", "controllers"):
        site.processes.kill(name)
    site.start_controllers()
    report.until("everything is as before", 90, lambda: judge.all_run(site, in_cloud=True))


def zones(site):
    """holdfast-cloud: its log and metrics tell that a zone is disrupted, and that it is not any more."""
    report, lab = site.report, os.path.join(site.bin, "holdfast-lab")
    names = [f"hollow-{number}" for number in range(4)]
    start_hollow(site, lab, len(names))
    try:
        report.until("all hollow nodes are Ready", 60, lambda: hollow(site, {"True": 4}))
        mark = len(site.processes.log("cloud"))
        report.equal("all of them are silenced", "4 matched, 4 silenced\n", _lab(lab, "silence", names))
        report.until("they are Unknown", 120, lambda: hollow(site, {"Unknown": 4}))
        report.until("the log says that their zone is disrupted", 20, lambda: (
            "zone is now in another state" in (log := site.processes.log("cloud")[mark:]) and "hollow" in log, log))
        report.until("the metric says so", 10, lambda: ((found := _disrupted_zones()) == 1, found))
        report.equal("not all zones are", 0, _metric("holdfast_cloud_all_zones_disrupted"))
        report.equal("they are resumed", "4 matched, 4 resumed\n", _lab(lab, "resume", names))
        report.until("they are Ready again", 30, lambda: hollow(site, {"True": 4}))
        report.until("so is the zone", 20, lambda: ((found := _disrupted_zones()) == 0, found))
    finally:
        site.processes.kill("nodes", signal.SIGTERM)
    report.until("all hollow nodes are deleted", 30, lambda: hollow(site, {}))


def _lab(lab, command, nodes):
    done = subprocess.run([lab, "nodes", command, *nodes], capture_output=True, text=True)
    return done.stdout + done.stderr


def _disrupted_zones():
    return _metric("holdfast_cloud_zone_state", 'state="FullDisruption"')


IMPATIENT = [{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
             for key in ("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready")]


def older_releases(site):
    """holdfast-cloud evicts as 1.16 without TaintBasedEvictions, and keeps pods as OpenYurt's first releases."""
    report = site.report
    site.processes.kill("cloud")
    with SteadyNode(site.api) as steady, SteadyNode(site.api, NAME) as node:
        site.apply(_bound("old", tolerations=IMPATIENT), pods.pod("others", pods.pod_spec(
            pods.container(), nodeName=steady.name)))
        site.start_cloud(more=["--feature-gates=TaintBasedEvictions=false", "--pod-eviction-timeout=20s"])
        site.api.merge(f"{NODES}/{steady.name}", {"spec": {"taints": [MAINTENANCE]}})
        report.until("another's NoExecute taint evicts", 30, lambda: (_is_deleting(site, "others"), "no"))
        node.set_ready("False")
        report.throughout("a node that is not ready gets no NoExecute taint, and its pod stays at first", 15, lambda: (
            not any("NoExecute" in each for each in taint_names(site, NODE)) and not _is_deleting(site, "old"),
            taint_names(site, NODE)))
        report.until("after --pod-eviction-timeout it is deleted", 40, lambda: (_is_deleting(site, "old"), "no"))
        for name in ("old", "others"):
            site.api.delete(_path(name), grace=0)
        node.set_ready("True")
        site.processes.kill("cloud")
        site.api.merge(NODE, {"metadata": {"annotations": {"node.beta.openyurt.io/autonomy": "true"}}})
        site.start_cloud(more=["--autonomy-mode=openyurt-classic"])
        report.until("the node has no taint for that any more", 60, lambda: (
            "not-ready" not in (found := str(taint_names(site, NODE))), found))
        site.apply(_bound("old", tolerations=IMPATIENT))
        node.set_ready("False")
        report.until("the node is tainted", 60, lambda: (
            "not-ready" in (found := str(taint_names(site, NODE))), found))
        report.throughout("an autonomous node that is not ready keeps its pods", 20, lambda: (
            not _is_deleting(site, "old"), "it is deleted"))
        site.api.delete(_path("old"), grace=0)
    site.processes.kill("cloud")
    site.start_cloud()
    report.until("the other pods are Ready in the cloud", 90, lambda: judge.all_run(site, in_cloud=True))
