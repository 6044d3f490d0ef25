"""The scenarios. Each public function in ALL is a scenario; its name is the function's, with dashes.

A scenario starts with a connected node whose pods all run, and restores that state at its end; after a failure main.py
repairs the site.
"""

import os

import cloud_scenarios
import eviction_scenarios
import judge
import path_scenarios
import pods
import scheduler_scenarios
import server_scenarios
from judge import node_condition



def restart_one(site, name, seconds):
    """Kills the containers of a pod ("namespace/name") and waits until the kubelet runs them again; returns the pod."""
    victim = site.node.pods()[name]
    site.node.kill_container(victim)
    site.report.until("a container that was killed runs again", seconds, lambda: judge.restarted(site, victim))
    return victim


def start(site):
    """The first start: a new node registers and becomes Ready, and pods with volumes of every kind run."""
    report = site.report
    site.node.start_containerd()
    site.node.start_agent()
    report.until("the agent answers", 30, lambda: (site.admin.get("/healthz") or True, ""))
    report.until("the agent is connected", 30, lambda: (site.link_state() == "connected", site.link_state()))
    site.node.start_kubelet()
    report.until("the node is Ready for the first time", 60, lambda: node_condition(site, "Ready", "True"))
    site.apply(*pods.one_of_each(site.path("claim")))
    report.until("pods with PVC, tokens, ConfigMap, Secret, init container, host network run", 120,
                 lambda: judge.all_run(site, in_cloud=True))
    judge.statuses_equal(site)


def refused_link(site):
    """The link refuses connections: the node still reads from the agent, and a killed container is restarted."""
    _outage(site, "refuse", "claim")


def black_hole(site):
    """The link drops all data: the node behaves as with a link that refuses connections."""
    _outage(site, "hole", "init")


def _outage(site, mode, name):
    """Cuts the link and kills the container of the pod `name`.

    Each scenario uses another pod, because the kubelet delays the restart of a container that was killed before.
    """
    report = site.report
    before = judge.restarts(site)
    site.cut(mode)
    status, _, text = site.local.raw("GET", "/api/v1/nodes/edge1")
    report.check("the node, which the kubelet reads as protobuf, is read as JSON", status == 200,
                 f"expected: 200\nfound: {status}: {text}")
    victim = restart_one(site, f"{pods.NAMESPACE}/{name}", 30)
    report.until("the agent shows its new status to readers on the node", 15,
                 lambda: judge.local_status_is_current(site, name))
    site.join()
    report.until("the cloud shows the restart", 60, lambda: judge.cloud_knows_restart(site, victim))
    judge.only_restarted(site, before, {f"{pods.NAMESPACE}/{name}"})
    judge.statuses_equal(site)


def kubelet_killed(site):
    """The kubelet is killed and started while the link is down: it finds its pods and restarts none of them."""
    report = site.report
    before = judge.restarts(site)
    site.cut()
    site.processes.kill("kubelet")
    site.node.start_kubelet()
    report.until("the kubelet has all its pods again", 60, lambda: judge.all_run(site))
    judge.only_restarted(site, before, set())
    restart_one(site, "site/token", 60)
    site.join()
    report.until("the node is Ready in the cloud", 60, lambda: node_condition(site, "Ready", "True"))
    judge.statuses_equal(site)


def agent_killed(site):
    """The agent is killed and started while the link is down: it answers from its cache, and no pod restarts."""
    report = site.report
    before = judge.restarts(site)
    site.cut()
    site.processes.kill("edge")
    site.node.start_agent()
    report.until("the agent answers reads from its cache", 15,
                 lambda: (site.local.get("/api/v1/nodes/edge1") is not None, ""))
    restart_one(site, "site/settings", 60)
    site.join()
    judge.only_restarted(site, before, {"site/settings"})
    judge.statuses_equal(site)


def power_cut(site):
    """A power cut while the link is down: after the boot all pods run again without the cloud."""
    report = site.report
    recorded = judge.last_record(site)
    site.cut()
    before = site.node.pods()
    site.node.power_off()
    site.node.power_on()
    report.until("all pods run again while offline", 120, lambda: judge.all_run_anew(site, before))
    report.until("the agent shows the new statuses to readers on the node", 30,
                 lambda: judge.local_statuses_equal(site))
    with open(os.path.join(site.path("claim"), "starts")) as file:
        report.check("the claim's pod has its data", len(file.read().splitlines()) >= 2)
    once = site.node.pods().get(judge.name_of_job(before))
    report.equal("the completed job has not run again", "Succeeded", once and once["status"]["phase"])
    site.join()
    report.until("the node is Ready in the cloud", 60, lambda: node_condition(site, "Ready", "True"))
    judge.statuses_equal(site)
    judge.nothing_refused(site, recorded)


def orderly_reboot(site):
    """A reboot that ends the pods first, while the link is down: after the boot all pods run again."""
    report = site.report
    site.cut()
    before = site.node.pods()
    for name, pod in before.items():
        if judge.state(pod) == "Ready":
            namespace, _, own = name.partition("/")
            site.local.merge(f"/api/v1/namespaces/{namespace}/pods/{own}/status", {"status": {
                "phase": "Failed", "reason": "Terminated",
                "message": "Pod was terminated in response to imminent node shutdown."}})
    site.node.power_off()
    site.node.power_on()
    report.until("all pods run again while offline", 120, lambda: judge.all_run_anew(site, before))
    site.join()
    report.until("the cloud sees all pods run", 60, lambda: judge.all_run(site, in_cloud=True))
    judge.statuses_equal(site)


def power_cut_connected(site):
    """A power cut while the node is connected, for comparison with power-cut."""
    report = site.report
    before = site.node.pods()
    site.node.power_off()
    site.node.power_on()
    report.until("all pods run again while connected", 120, lambda: judge.all_run_anew(site, before))
    judge.statuses_equal(site)


def node_deleted(site):
    """The node is deleted in the cloud while the machine is off: it registers again, also if it boots while offline."""
    for reachable in (True, False):
        _delete_node(site, reachable)


def _delete_node(site, reachable):
    report = site.report
    path = "/api/v1/nodes/edge1"
    uid = site.api.get(path)["metadata"]["uid"]
    before = site.node.pods()
    if not reachable:
        site.cut()
    site.node.power_off()
    site.api.delete(path)
    site.node.power_on()
    report.until("all pods run again", 120, lambda: judge.all_run_anew(site, before))
    if not reachable:
        site.join()
    report.until("the cloud has a new node", 60, lambda: (
        (site.api.get_or_none(path) or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid, "none, or the old one"))
    report.until("it is Ready", 60, lambda: node_condition(site, "Ready", "True"))
    report.until("the cloud sees all pods run", 60, lambda: judge.all_run(site, in_cloud=True))
    judge.statuses_equal(site)


def changes_meanwhile(site):
    """Pods are deleted, created and changed in the cloud while the link is down: the node applies that afterwards."""
    report = site.report
    extra = [pods.pod("doomed", pods.pod_spec(pods.container())),
             pods.pod("relabelled", pods.pod_spec(pods.container()))]
    site.apply(*extra)
    report.until("two more pods run", 60, lambda: judge.run(site, "doomed", "relabelled"))
    relabelled = site.node.pods()[f"{pods.NAMESPACE}/relabelled"]
    site.cut()
    site.api.delete(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/doomed", grace=0)
    new = pods.pod("created", pods.pod_spec(pods.container(), nodeName="edge1"))
    site.api.create(f"/api/v1/namespaces/{pods.NAMESPACE}/pods", new)
    site.api.merge(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/relabelled", {
        "metadata": {"labels": {"colour": "blue"}},
        "spec": {"containers": [{"name": "main", "image": pods.NGINX}]}})
    site.apply(*pods.settings("two"), pods.web(replicas=1))
    still_runs, found = judge.run(site, "doomed")
    report.check("nothing changes on the node while it is offline", still_runs, f"expected: doomed\nfound: {found}")
    site.join()
    report.until("the pod deleted in the cloud is gone", 60, lambda: judge.gone(site, "doomed"))
    report.until("the pod created in the cloud runs", 60, lambda: judge.run(site, "created"))
    report.until("the pod changed in the cloud has its new image", 90,
                 lambda: judge.has_new_image(site, relabelled, pods.NGINX))
    report.until("the Deployment has one replica", 60, lambda: judge.count(site, "web-", 1))
    report.until("ConfigMap and Secret volumes have their new content", 150,
                 lambda: judge.volume_content(site, "settings", "two"))
    site.apply(*pods.settings("one"), pods.web())
    for name in ("created", "relabelled"):
        site.api.delete(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/{name}")
    report.until("everything is as before", 90, lambda: judge.all_run(site, in_cloud=True))
    judge.statuses_equal(site)


def pod_deleted_for_good(site):
    """A pod is deleted gracefully just before the link is cut: the agent records its end and replays it afterwards."""
    report = site.report
    site.apply(pods.pod("leaving", pods.pod_spec(pods.container())))
    report.until("the pod runs", 60, lambda: judge.run(site, "leaving"))
    site.api.delete(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/leaving", grace=5)
    site.cut()
    report.until("the pod ends while offline", 60, lambda: judge.gone(site, "leaving"))
    site.join()
    report.until("the pod is gone in the cloud", 60, lambda: (
        site.api.get_or_none(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/leaving") is None, "still there"))


def new_claim_after_cut(site):
    """A pod with a claim, created just before the link is cut, survives a power cut: the claim was read only once."""
    report = site.report
    folder = site.path("late")
    volume, claim = pods.volume(folder)
    volume["metadata"]["name"] = volume["spec"]["claimRef"]["name"] = "late"
    claim["metadata"]["name"] = claim["spec"]["volumeName"] = "late"
    late = pods.claim_pod()
    late["metadata"]["name"] = "late"
    late["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] = "late"
    site.apply(volume, claim, late)
    report.until("the pod runs", 60, lambda: judge.run(site, "late"))
    site.cut()
    before = site.node.pods()
    site.node.power_off()
    site.node.power_on()
    report.until("all pods run again while offline", 120, lambda: judge.all_run_anew(site, before))
    site.join()
    judge.statuses_equal(site)
    for path in (f"/api/v1/namespaces/{pods.NAMESPACE}/pods/late",
                 f"/api/v1/namespaces/{pods.NAMESPACE}/persistentvolumeclaims/late", "/api/v1/persistentvolumes/late"):
        site.api.delete(path)
    report.until("everything is as before", 90, lambda: judge.all_run(site, in_cloud=True))


# Pods that a failed scenario may leave behind.
EXTRA_PODS = ("doomed", "relabelled", "created", "leaving", "late", "impatient", "wanting", "always",
              "forgotten", "fits", "stuck", "marked", "finished", "theirs", "ours", "old", "others")
ALL = [start, refused_link, black_hole, kubelet_killed, agent_killed, power_cut, new_claim_after_cut, orderly_reboot,
       power_cut_connected, node_deleted, changes_meanwhile, pod_deleted_for_good, cloud_scenarios.kubectl_offline,
       cloud_scenarios.ready, cloud_scenarios.forbidden_writes, cloud_scenarios.autonomy,
       cloud_scenarios.autonomy_of_unready, cloud_scenarios.hollow_nodes, cloud_scenarios.api_server_restarted,
       cloud_scenarios.refused_evictions, eviction_scenarios.stale_watch, eviction_scenarios.marks,
       eviction_scenarios.taken_over, eviction_scenarios.zones, eviction_scenarios.older_releases,
       scheduler_scenarios.unbindable, scheduler_scenarios.nominated,
       path_scenarios.late_answers, path_scenarios.far_api_server, path_scenarios.flapping_link,
       path_scenarios.slow_line, path_scenarios.large_lists, server_scenarios.impersonation, server_scenarios.proxy,
       server_scenarios.node_replaced, server_scenarios.data_restored]
BY_NAME = {function.__name__.replace("_", "-"): function for function in ALL}
