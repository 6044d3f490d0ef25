"""Checks of a site for the scenarios: compare the cloud, the agent's cache, the kubelet and the machine.

Functions for Report.until return (holds, found).
"""

import datetime
import glob
import json

import pods


def seconds_of(time):
    """The time of an object, such as "2026-01-31T12:00:00.000000Z", in seconds since 1970."""
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


def cloud_pods(site):
    """The pods of edge1 in the cloud: {namespace/name: pod}."""
    listed = site.api.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1")
    return _by_name(listed["items"])


def local_pods(site):
    """The pods of edge1 as a component of the node reads them from the agent: {namespace/name: pod}."""
    listed = site.local.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1&resourceVersion=0")
    return _by_name(listed["items"])


def _by_name(items):
    return {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": pod for pod in items}


def node_condition(site, kind, status):
    conditions = site.api.get("/api/v1/nodes/edge1")["status"].get("conditions", [])
    found = {each["type"]: each["status"] for each in conditions}
    return found.get(kind) == status, found


def state(pod):
    """One word for a pod: the reason why a container is waiting, "Ready", or the pod's phase."""
    status = pod.get("status", {})
    for each in status.get("containerStatuses", []) + status.get("initContainerStatuses", []):
        waiting = each.get("state", {}).get("waiting")
        if waiting:
            return waiting.get("reason", "Waiting")
    ready = {each["type"]: each["status"] for each in status.get("conditions", [])}.get("Ready")
    phase = status.get("phase", "Unknown")
    return "Ready" if phase == "Running" and ready == "True" else phase


def states(found):
    return {name: state(pod) for name, pod in sorted(found.items())}


def all_run(site, in_cloud=False):
    """Whether exactly the pods of pods.one_of_each exist, and all are Ready or Succeeded."""
    found = states(cloud_pods(site) if in_cloud else site.node.pods())
    found = {name: word for name, word in found.items() if name.startswith(pods.NAMESPACE + "/")}
    good = [word for word in found.values() if word in ("Ready", "Succeeded")]
    return len(good) == len(found) == pods.PODS_OF_EACH, found


def all_run_anew(site, before):
    """Whether every pod of `before` is Ready in new containers, or has Succeeded."""
    now = site.node.pods()
    found = states(now)
    missing = [name for name in before if found.get(name) not in ("Ready", "Succeeded")]
    same = [name for name in before if name in now and found[name] == "Ready"
            and container_ids(now[name]) & container_ids(before[name])]
    not_ready = {name: found.get(name, "unknown to the kubelet") for name in missing}
    return not missing and not same, {"not ready": not_ready, "old containers": same}


def run(site, *names):
    """Whether the named pods of the scenarios' namespace are Ready on the node."""
    found = states(site.node.pods())
    return all(found.get(f"{pods.NAMESPACE}/{name}") == "Ready" for name in names), found


def gone(site, name):
    found = site.node.pods()
    return f"{pods.NAMESPACE}/{name}" not in found, states(found)


def count(site, prefix, expected):
    found = [name for name in site.node.pods() if name.startswith(f"{pods.NAMESPACE}/{prefix}")]
    return len(found) == expected, found


def has_new_image(site, old, image):
    """Whether the pod `old` now runs `image` and is Ready.

    Compares image IDs as well, because containerd treats names with the same content as one image.
    """
    pod = site.node.pods()[f"{pods.NAMESPACE}/{old['metadata']['name']}"]
    wanted = [each["image"] for each in pod["spec"]["containers"]]
    before, now = ([each.get("imageID") for each in one["status"]["containerStatuses"]] for one in (old, pod))
    return wanted == [image] and now != before and state(pod) == "Ready", {"spec": wanted, "image IDs": now}


def volume_content(site, name, expected):
    """Whether a pod's ConfigMap volume and Secret volume both contain `expected` on the machine."""
    uid = site.node.pods()[f"{pods.NAMESPACE}/{name}"]["metadata"]["uid"]
    found = []
    for path in glob.glob(f"{site.path('kubelet')}/pods/{uid}/volumes/*/*/value"):
        with open(path) as file:
            found.append(file.read())
    return found == [expected, expected], found


def name_of_job(found):
    return next(name for name in found if name.startswith(pods.NAMESPACE + "/once-"))


def container_ids(pod):
    return {each["containerID"] for each in pod["status"].get("containerStatuses", []) if each.get("containerID")}


def restarts(site):
    """{namespace/name: restarts of its containers}, as the kubelet reports them."""
    return {name: _restarts(pod) for name, pod in site.node.pods().items()}


def _restarts(pod):
    return sum(each["restartCount"] for each in pod["status"].get("containerStatuses", []))


def restarted(site, victim):
    """Whether the pod `victim` is Ready in a new container."""
    name = f"{victim['metadata']['namespace']}/{victim['metadata']['name']}"
    now = site.node.pods()[name]
    new = container_ids(now) and not container_ids(now) & container_ids(victim)
    return bool(new) and state(now) == "Ready", {"state": state(now), "new container": bool(new)}


def cloud_knows_restart(site, victim):
    name = f"{victim['metadata']['namespace']}/{victim['metadata']['name']}"
    found = _restarts(cloud_pods(site)[name])
    return found > _restarts(victim), f"{found} restarts in the cloud"


def only_restarted(site, before, expected):
    """Checks that the restart counts changed for exactly the pods in `expected`."""
    now = restarts(site)
    found = {name for name in before if now.get(name) != before[name]}
    site.report.equal("no other pod was restarted", sorted(expected), sorted(found))


COMPARED = ("phase", "podIP", "podIPs", "hostIP", "containerStatuses", "initContainerStatuses", "reason")


def _comparable(pod):
    status = {name: pod["status"].get(name) for name in COMPARED}
    status["conditions"] = sorted(
        (each["type"], each["status"]) for each in pod["status"].get("conditions", []))
    return status


def differences(first, second):
    """{namespace/name: {field: [first, second]}} of two sets of pods, for the fields in COMPARED and the conditions."""
    found = {}
    for name in sorted(set(first) | set(second)):
        if name not in first or name not in second:
            found[name] = "only in the " + ("first" if name in first else "second")
            continue
        one, two = _comparable(first[name]), _comparable(second[name])
        fields = {key: [one[key], two[key]] for key in one if one[key] != two[key]}
        if fields:
            found[name] = fields
    return found


def statuses_equal(site, seconds=60):
    """Checks that the pod statuses in the cloud become equal to the kubelet's within `seconds`."""

    def compare():
        found = differences(cloud_pods(site), site.node.pods())
        return not found, "cloud and kubelet differ: " + json.dumps(found)

    site.report.until("the statuses in the cloud equal the kubelet's", seconds, compare, fatal=False)


def local_statuses_equal(site):
    found = differences(local_pods(site), site.node.pods())
    return not found, "agent and kubelet differ: " + json.dumps(found)


def local_status_is_current(site, name):
    key = f"{pods.NAMESPACE}/{name}"
    found = differences({key: local_pods(site)[key]}, {key: site.node.pods()[key]})
    return not found, "agent and kubelet differ: " + json.dumps(found)


def journal(site):
    """The agent's journal: a list of entries with seq, kind, subject, what."""
    return site.admin.get("/v1/journal?limit=1000")


def last_record(site):
    """The number of the journal's last entry."""
    return max((entry["seq"] for entry in journal(site)), default=0)


def nothing_refused(site, after):
    """Checks that the journal has no failed replayed write in the entries after number `after`."""
    bad = ("write-conflict", "write-rejected", "write-damaged", "write-dropped")
    refused = [entry for entry in journal(site) if entry["seq"] > after and entry["kind"] in bad]
    site.report.check("no replayed write was refused", not refused,
                      f"{len(refused)} were, the last of them: {json.dumps(refused[-5:], indent=1)}")
