"""Scenarios about the scheduler of holdfast-cloud, which is compared with kube-scheduler in the same cluster."""

import judge
import pods
from steady_node import SteadyNode

CLASS = "first-consumer"
ELSEWHERE = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
    {"key": "kubernetes.io/hostname", "operator": "In", "values": ["elsewhere"]}]}]}}
NEW_FIELDS_SINCE = 34  # the minor version that knows all of these fields by default


def objects_and_names(site):
    """Objects for kubectl apply, among them the pod "fits", and the names of the pods that must stay Pending.

    For each of these there is a pod NAME-upstream, which is left to kube-scheduler.
    """
    once = site.path("once")
    others = [
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": CLASS},
         "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"},
        _claim("unbound", storageClassName=CLASS),
        _volume("far", "far", local={"path": once}, nodeAffinity=ELSEWHERE),
        _claim("far", volumeName="far", storageClassName=""),
        _pod("fits"),
    ]
    specs = {
        "waits": _with_claim("unbound"),
        "lacks": _with_claim("missing"),
        "ephemeral": {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": CLASS,
            "resources": {"requests": {"storage": "1Gi"}}}}}}]},
        "remote": _with_claim("far"),
        "afar": {"nodeSelector": {"kubernetes.io/hostname": "elsewhere"}},
    }
    if site.programs.minor("kube-apiserver") >= NEW_FIELDS_SINCE:
        others += [
            _volume("sole", "sole", ["ReadWriteOncePod"], hostPath={"path": once, "type": "DirectoryOrCreate"}),
            _claim("sole", ["ReadWriteOncePod"], volumeName="sole", storageClassName=""),
            pods.pod("holder", pods.pod_spec(pods.container(), nodeName="edge1", **_with_claim("sole"))),
        ]
        specs["second"] = _with_claim("sole")
        specs["huge"] = {"resources": {"requests": {"cpu": "1000"}}}
        specs["device"] = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}
    twins = [_pod(name, **spec) for name, spec in specs.items()]
    twins += [_pod(f"{name}-upstream", "default-scheduler", **spec) for name, spec in specs.items()]
    return others + twins, list(specs)


def _pod(name, scheduler="binder", **spec):
    mounts = [{"name": each["name"], "mountPath": "/v"} for each in spec.get("volumes", [])]
    return pods.pod(name, pods.pod_spec(pods.container(volumeMounts=mounts), schedulerName=scheduler, **spec))


def _with_claim(name):
    return {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]}


def _claim(name, modes=("ReadWriteOnce",), **spec):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": pods.meta(name), "spec": {
        "accessModes": list(modes), "resources": {"requests": {"storage": "1Gi"}}, **spec}}


def _volume(name, claim, modes=("ReadWriteOnce",), **spec):
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": list(modes), "storageClassName": "",
        "persistentVolumeReclaimPolicy": "Retain",
        "claimRef": {"namespace": pods.NAMESPACE, "name": claim}, **spec}}


def unbindable(site):
    """The scheduler of holdfast-cloud leaves pods Pending that no node can run, for kube-scheduler's reasons."""
    report = site.report
    site.start_cloud(["scheduler"], name="binder", scheduler="binder")
    objects, names = objects_and_names(site)
    site.apply(*objects)
    report.until("a pod that fits is bound and runs", 60, lambda: judge.run(site, "fits"))
    for name in names:
        report.until(f"{name}: Pending, for a reason", 30, lambda: _pending(site, name), fatal=False)
    if site.programs.minor("kube-scheduler") >= 36:
        for name in names:
            if name != "device":  # it names what it does not support
                report.until(f"{name}: kube-scheduler's reasons", 30, lambda: _same_message(site, name), fatal=False)
    report.throughout("none of them is bound", 10, lambda: (not (found := _bound(site, names)), found))
    site.processes.kill("binder")
    for each in reversed(objects):
        site.kubectl("delete", each["kind"], each["metadata"]["name"], "-n", pods.NAMESPACE, "--force",
                     "--grace-period=0", "--wait=false")
    report.until("everything is as before", 90, lambda: judge.all_run(site, in_cloud=True))


def nominated(site):
    """The scheduler of holdfast-cloud: a pod whose nominated node fails soon gets room on another one."""
    report = site.report
    site.start_cloud(["scheduler"], name="binder", scheduler="binder")
    selector = {"metadata": {"labels": {"group": "nominated"}}}
    with SteadyNode(site.api, "first", 2) as first, SteadyNode(site.api, "second", 2) as second:
        for node in (first, second):
            site.api.merge(f"/api/v1/nodes/{node.name}", selector)
        site.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"},
                    "value": 1000})
        fills = [f"fills-{number}" for number in range(2)]
        site.apply(*(_wants_cpus(name) for name in fills))
        report.until("both nodes are full", 30, lambda: (
            len(set((found := _bound(site, fills)).values())) == 2, found))
        site.apply(_wants_cpus("urgent", priorityClassName="high"))
        report.until("a node is nominated", 30, lambda: (_nominated(site) in ("first", "second"), _nominated(site)))
        nominated_node = _nominated(site)
        (first if nominated_node == "first" else second).set_ready("False")
        report.until("the other one is nominated soon after that one has failed", 30, lambda: (
            _nominated(site) not in ("", nominated_node), _nominated(site)))
        for name in (*fills, "urgent"):
            site.api.delete(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/{name}", grace=0)
    site.processes.kill("binder")
    site.kubectl("delete", "priorityclass", "high")


def _wants_cpus(name, **spec):
    container = {**pods.container(), "resources": {"requests": {"cpu": "1500m"}}}
    return pods.pod(name, pods.pod_spec(
        container, schedulerName="binder", nodeSelector={"group": "nominated"}, **spec))


def _nominated(site):
    pod = site.api.get(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/urgent")
    return pod["spec"].get("nodeName") or pod["status"].get("nominatedNodeName", "")


def _message(site, name):
    """Why the scheduler could not bind the pod; empty if it has not said."""
    pod = site.api.get(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/{name}")
    found = [each.get("message", "") for each in pod["status"].get("conditions", []) if each["type"] == "PodScheduled"]
    return "" if "nodeName" in pod["spec"] else "".join(found)


def _pending(site, name):
    message = _message(site, name)
    return bool(message), message


def _same_message(site, name):
    """The reasons are kube-scheduler's. What follows is about preemption, and in 1.36 about dynamic resources."""
    ours, upstream = (_message(site, each).partition(". ")[0] for each in (name, name + "-upstream"))
    return ours == upstream.replace("-upstream", ""), f"ours: {ours}\nkube-scheduler's: {upstream}"


def _bound(site, names):
    found = {name: site.api.get(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/{name}")["spec"].get("nodeName")
             for name in names}
    return {name: node for name, node in found.items() if node}
