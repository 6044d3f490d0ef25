"""Scenarios about what users and the cloud see: kubectl on the node, refused writes, the lifecycle controllers."""

import collections
import json
import os
import signal
import subprocess
import time

import judge
import pods
from kube_server import LIMITED_TOKEN
from steady_node import SteadyNode

TOO_LONG = 5  # seconds; includes the start of kubectl on a busy machine
NODE_PODS = ("get", "pods", "-A", "--field-selector=spec.nodeName=edge1")

GIVE_UP = 15  # seconds

# kubectl on the node without credentials, so that the agent uses the node's: (arguments, exit code, expected output).
# An exit code of None accepts any.
AS_NODE = (
    (("get", "node", "edge1"), 0, ("edge1", "STATUS", "VERSION")),
    (("get", "node", "edge1", "-o", "wide"), 0, ("INTERNAL-IP", "containerd://")),
    (NODE_PODS, 0, ("READY", "RESTARTS", "claim", "Running")),
    ((*NODE_PODS, "-o", "wide"), 0, ("NODE", "edge1", "10.88.0.")),
    (("get", "pod", "claim", "-n", pods.NAMESPACE, "-o", "yaml"), 0, ("claimName: data",)),
    (("describe", "node", "edge1"), 0, ("Conditions:", "Allocatable:")),
    (("describe", "pod", "claim", "-n", pods.NAMESPACE), 0, ("ClaimName:",)),
    (("version",), 0, ("Client Version",)),
    (("delete", "pod", "claim", "-n", pods.NAMESPACE), 1, ("unreachable",)),
    (("annotate", "pod", "claim", "-n", pods.NAMESPACE, "a=b"), 1, ("unreachable",)),
    (("get", "configmaps", "-A"), 1, ()),
)
# kubectl through an agent with an administrator's credentials, which has cached these reads while connected.
AS_ADMIN = (
    (("get", "pods", "-A"), 0, ("READY", "RESTARTS", "claim")),
    (("get", "nodes"), 0, ("STATUS", "VERSION")),
    (("get", "deployment", "web", "-n", pods.NAMESPACE), 0, ("UP-TO-DATE", "3/3")),
    (("get", "all", "-n", pods.NAMESPACE), None, ()),
    (("rollout", "status", "deployment/web", "-n", pods.NAMESPACE, "--timeout=3s"), None, ()),
    (("auth", "can-i", "get", "pods"), None, ()),
    (("scale", "deployment", "web", "--replicas=5", "-n", pods.NAMESPACE), 1, ("unreachable",)),
    (("delete", "deployment", "web", "-n", pods.NAMESPACE), 1, ("unreachable",)),
    (("create", "configmap", "new", "-n", pods.NAMESPACE), 1, ("unreachable",)),
)


def kubectl_offline(site):
    """kubectl on the node while the link is down: it answers with a warning, or fails at once and says why."""
    site.write_kubeconfig("local", "http://127.0.0.1:10261")
    site.node.start_client_agent("kubectl")
    for who, table in (("local", AS_NODE), ("clients", AS_ADMIN)):
        for arguments, code, _ in table:
            if code != 1 and arguments[0] in ("get", "describe", "version"):
                site.kubectl(*arguments, kubeconfig=who)
    web = ("get", "deployment", "web", "-n", pods.NAMESPACE)
    site.report.until("the Deployment is complete", 60, lambda: (
        "3/3" in (found := site.kubectl(*web, kubeconfig="clients").stdout), found))
    before = site.kubectl(*NODE_PODS, kubeconfig="local").stdout
    site.cut()
    for who, table in (("local", AS_NODE), ("clients", AS_ADMIN)):
        for arguments, code, words in table:
            _kubectl_once(site, who, arguments, code, words)
    after = site.kubectl(*NODE_PODS, kubeconfig="local").stdout
    site.report.equal("the table of pods has the same columns", before.partition("\n")[0].split(),
                      after.partition("\n")[0].split())
    site.processes.kill("clients")
    site.join()


def _kubectl_once(site, who, arguments, code, words):
    report, what = site.report, f"kubectl ({who}) {' '.join(arguments)}"
    start = time.monotonic()
    try:
        done = site.kubectl(*arguments, kubeconfig=who, timeout=GIVE_UP)
    except subprocess.TimeoutExpired:
        report.fail(what + ": within a moment", f"expected: under {TOO_LONG} s\nfound: no end after {GIVE_UP} s")
        return
    took = time.monotonic() - start
    output = done.stdout + done.stderr
    found = f"exit code {done.returncode} after {took:.1f} s:\n{output[:400]}"
    report.check(what + ": within a moment", took < TOO_LONG, f"expected: under {TOO_LONG} s\nfound: {found}",
                 f"{took:.1f} s")
    if code is not None:
        missing = [word for word in words if word not in output]
        report.check(what + ": as expected", done.returncode == code and not missing,
                     f"expected: exit code {code} and {words}\nfound: {found}")
    is_read = arguments[0] in ("get", "describe")
    if is_read and done.returncode == 0:
        report.check(what + ": warns of stale data", "Warning:" in done.stderr, f"expected a warning\nfound: {found}")
    if arguments[0] == "rollout":
        report.check(what + ": does not report success without a warning", done.returncode != 0 or "Warning:" in output,
                     f"expected: a failure or a warning\nfound: {found}")


def ready(site):
    """`holdfastctl ready` says which pods would start after a boot while offline, and why the others would not."""
    volume = {"name": "v", "secret": {"secretName": "missing"}}
    mount = {"name": "v", "mountPath": "/v"}
    site.report.equal("every pod would come back", (0, {}), _not_ready(site))
    site.apply(pods.pod("wanting", pods.pod_spec(pods.container(volumeMounts=[mount]), volumes=[volume])),
               pods.pod("always", pods.pod_spec({**pods.container(), "imagePullPolicy": "Always"})))
    expected = (1, {"wanting": ["Secret site/missing does not exist"],
                    "always": [f"image {pods.BUSYBOX} is always pulled"]})
    site.report.until("two pods would not", 30, lambda: (_not_ready(site) == expected, _not_ready(site)))
    site.cut()
    site.report.equal("the answer is the same while offline", expected, _not_ready(site))
    site.join()
    for name in ("wanting", "always"):
        site.api.delete(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/{name}", grace=0)
    site.report.until("every pod would come back again", 60, lambda: (_not_ready(site) == (0, {}), _not_ready(site)))


def _not_ready(site):
    """The exit code of `holdfastctl ready`, and {pod: why it would not come back}."""
    done = subprocess.run([os.path.join(site.bin, "holdfastctl"), "--data-dir", site.path("holdfast"), "ready", "-o",
                           "json"], capture_output=True, text=True, timeout=GIVE_UP)
    found = json.loads(done.stdout)["pods"] if done.stdout else [{"name": done.stderr, "ready": False, "reasons": []}]
    return done.returncode, {
        pod["name"]: [reason["text"] for reason in pod["reasons"]] for pod in found if not pod["ready"]}


def forbidden_writes(site):
    """Replayed events in a terminating namespace are refused with 403; the agent still becomes connected."""
    report = site.report
    namespace = "ending"
    site.apply(pods.namespace(namespace))
    blocked = {"apiVersion": "v1", "kind": "ConfigMap", "data": {},
               "metadata": {"name": "blocker", "namespace": namespace, "finalizers": ["holdfast.test/blocker"]}}
    site.apply(blocked)
    site.cut()
    for number in range(5):
        site.local.create(f"/api/v1/namespaces/{namespace}/events", pods.event(namespace, f"refused-{number}"))
    site.local.create(f"/api/v1/namespaces/{pods.NAMESPACE}/events", pods.event(pods.NAMESPACE, "accepted"))
    site.api.delete(f"/api/v1/namespaces/{namespace}")
    site.link("pass")
    report.until("the agent is connected although events are refused", 40,
                 lambda: (site.link_state() == "connected", site.link_state()))
    path = f"/api/v1/namespaces/{pods.NAMESPACE}/events/accepted"
    report.until("the other event has arrived", 30, lambda: (site.api.get_or_none(path) is not None, "missing"))
    site.api.merge(f"/api/v1/namespaces/{namespace}/configmaps/blocker", {"metadata": {"finalizers": None}})
    report.until("the namespace is gone", 60,
                 lambda: (site.api.get_or_none(f"/api/v1/namespaces/{namespace}") is None, "still there"))


def autonomy(site):
    """holdfast-cloud: a silent node with the autonomy annotation keeps its pods; without it they are evicted."""
    with SteadyNode(site.api):
        _autonomy(site)


def _autonomy(site):
    report = site.report
    annotation = "node.beta.openyurt.io/autonomy"
    site.apply(pods.pod("impatient", pods.pod_spec(pods.container(), nodeName="edge1", tolerations=[
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
        for key in ("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready")])))
    report.until("one more pod runs", 60, lambda: judge.run(site, "impatient"))
    site.api.merge("/api/v1/nodes/edge1", {"metadata": {"annotations": {annotation: "true"}}})
    site.cut("hole")
    report.until("the silent node is shown as Unknown", 120, lambda: judge.node_condition(site, "Ready", "Unknown"))
    report.throughout("an autonomous node that is Unknown keeps its pods", 15, lambda: _no_eviction(site))
    site.api.merge("/api/v1/nodes/edge1", {"metadata": {"annotations": {annotation: None}}})
    report.until("without autonomy it gets a NoExecute taint", 60, lambda: _tainted(site, "NoExecute"))
    report.until("and the pod that tolerates it for a second is deleted", 60, lambda: (
        _deleting(site, "impatient"), "not deleted"))
    site.join()
    report.until("the pod ends on the node", 60, lambda: judge.gone(site, "impatient"))
    report.until("the node has no taint", 60, lambda: _tainted(site, None))
    report.until("the other pods are Ready in the cloud", 90, lambda: judge.all_run(site, in_cloud=True))


def autonomy_of_unready(site):
    """holdfast-cloud: a node that becomes autonomous while it is not Ready keeps its pods."""
    report, key = site.report, "node.kubernetes.io/not-ready"
    name = "unready"
    path, node = f"/api/v1/namespaces/{pods.NAMESPACE}/pods/{name}", f"/api/v1/nodes/{name}"
    tolerations = [{"key": each, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
                   for each, seconds in ((key, 15), ("dedicated", 7200))]
    with SteadyNode(site.api), SteadyNode(site.api, name) as unready:
        site.apply(pods.pod(name, pods.pod_spec(pods.container(), nodeName=name, tolerations=tolerations)))
        unready.set_ready("False")
        report.until("the node has the taint not-ready", 60, lambda: (
            key + ":NoExecute" in (found := taint_names(site, node)), found))
        taints = site.api.get(node)["spec"]["taints"] + [{"key": "dedicated", "effect": "NoExecute"}]
        site.api.merge(node, {"spec": {"taints": taints},
                              "metadata": {"annotations": {"node.beta.openyurt.io/autonomy": "true"}}})
        report.until("as an autonomous node it loses that taint", 60, lambda: (
            key + ":NoExecute" not in (found := taint_names(site, node)), found))
        report.throughout("the timer of that taint does not end its pod", 25, lambda: (
            "deletionTimestamp" not in (found := site.api.get(path)["metadata"]), found))
        site.api.delete(path, grace=0)


def taint_names(site, node):
    return [f"{each['key']}:{each['effect']}" for each in site.api.get(node)["spec"].get("taints", [])]


def hollow_nodes(site):
    """holdfast-lab nodes: hollow nodes are Ready, become Unknown when they are silenced, and recover."""
    report, lab = site.report, os.path.join(site.bin, "holdfast-lab")
    start_hollow(site, lab, 50)
    try:
        report.until("all hollow nodes are Ready", 60, lambda: hollow(site, {"True": 50}))
        done = subprocess.run([lab, "nodes", "silence", "hollow-0", "hollow-7"], capture_output=True, text=True)
        report.equal("two of them are silenced", "2 matched, 2 silenced\n", done.stdout + done.stderr)
        report.until("these two are Unknown", 120, lambda: hollow(site, {"True": 48, "Unknown": 2}))
        done = subprocess.run([lab, "nodes", "resume", "hollow-0", "hollow-7"], capture_output=True, text=True)
        report.equal("they are resumed", "2 matched, 2 resumed\n", done.stdout + done.stderr)
        report.until("they are Ready at once", 5, lambda: hollow(site, {"True": 50}))
    finally:
        site.processes.kill("nodes", signal.SIGTERM)
    report.until("all of them are deleted", 30, lambda: hollow(site, {}))


def api_server_restarted(site):
    """The API server restarts: afterwards holdfast-cloud and the agent see what happens as soon as before."""
    report, lab = site.report, os.path.join(site.bin, "holdfast-lab")
    start_hollow(site, lab, 20)
    try:
        report.until("all hollow nodes are Ready", 60, lambda: hollow(site, {"True": 20}))
        site.processes.kill("apiserver")
        site.cut()
        site.start_apiserver()
        report.until("the API server is ready", 120, lambda: (bool(site.api.get("/readyz")), ""))
        site.join()
        done = subprocess.run([lab, "nodes", "silence", "hollow-3"], capture_output=True, text=True)
        report.equal("a node is silenced", "1 matched, 1 silenced\n", done.stdout + done.stderr)
        site.apply(pods.pod("created", pods.pod_spec(pods.container())))
        report.until("a pod created now runs", 30, lambda: judge.run(site, "created"))
        report.until("the silent node is Unknown", 90, lambda: hollow(site, {"True": 19, "Unknown": 1}))
        site.api.delete(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/created", grace=0)
        report.until("the deleted pod is gone on the node", 30, lambda: judge.gone(site, "created"))
    finally:
        site.processes.kill("nodes", signal.SIGTERM)
    report.until("all hollow nodes are deleted", 30, lambda: hollow(site, {}))


RBAC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cross", "k8s")
DOOMED_NODE, DOOMED = "doomed", 20


def refused_evictions(site):
    """holdfast-cloud may not delete pods: it tries now and then, names the missing rule, and goes on with it."""
    report = site.report
    site.write_kubeconfig("limited", token=LIMITED_TOKEN)
    site.kubectl("apply", "-f", os.path.join(RBAC, "cloud-rbac.yaml"))
    site.apply(*binding("ClusterRole", "holdfast-cloud"), *binding("Role", "holdfast-cloud", "kube-node-lease"))
    _, mark = site.server.requests("limited")
    taint = {"key": DOOMED_NODE, "effect": "NoExecute"}
    with SteadyNode(site.api, DOOMED_NODE):
        site.apply(*(pods.pod(f"{DOOMED_NODE}-{number}", pods.pod_spec(pods.container(), nodeName=DOOMED_NODE))
                     for number in range(DOOMED)))
        site.processes.kill("cloud")
        site.start_cloud(name="limited", user="limited")
        site.api.merge(f"/api/v1/nodes/{DOOMED_NODE}", {"spec": {"taints": [taint]}})
        report.until("a deletion is refused", 60, lambda: (_deletions(site, mark) > 0, "none"))
        report.throughout("no pod is deleted", 30, lambda: (_doomed(site) == DOOMED, _doomed(site)))
        found = _deletions(site, mark)
        report.check("it asks now and then", found <= 8 * DOOMED,
                     f"expected: at most eight times for each of {DOOMED} pods\nfound: {found}", f"{found} times")
        log = site.processes.log("limited")
        report.check("its log names the rule", "cloud-rbac-taint-eviction.yaml" in log, f"found: {log[-1500:]}")
        site.kubectl("apply", "-f", os.path.join(RBAC, "cloud-rbac-taint-eviction.yaml"))
        site.apply(*binding("ClusterRole", "holdfast-cloud-taint-eviction"))
        report.until("with that rule it deletes the pods", 180, lambda: (_doomed(site) == 0, _doomed(site)))
        site.processes.kill("limited")
        site.start_cloud()
        for number in range(DOOMED):
            site.api.delete(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/{DOOMED_NODE}-{number}", grace=0)
    for name in ("holdfast-cloud", "holdfast-cloud-taint-eviction"):
        site.kubectl("delete", "clusterrolebinding", "limited-" + name)


def binding(kind, role, namespace=""):
    """Binds the role to the user of LIMITED_TOKEN."""
    where = {"namespace": namespace} if namespace else {}
    group = "rbac.authorization.k8s.io"
    return [{"apiVersion": group + "/v1", "kind": kind + "Binding", "metadata": {"name": "limited-" + role, **where},
             "roleRef": {"apiGroup": group, "kind": kind, "name": role},
             "subjects": [{"kind": "User", "apiGroup": group, "name": "limited"}]}]


def _deletions(site, mark):
    requests, _ = site.server.requests("limited", mark)
    return sum(each["verb"] == "delete" and each["objectRef"]["resource"] == "pods" for each in requests)


def _doomed(site):
    """How many pods of that node exist and are not being deleted."""
    found = site.api.get(f"/api/v1/pods?fieldSelector=spec.nodeName%3D{DOOMED_NODE}")["items"]
    return sum("deletionTimestamp" not in pod["metadata"] for pod in found)


def start_hollow(site, lab, count):
    """Starts so many hollow nodes, which take no other pods and are deleted when the process "nodes" ends."""
    site.processes.start("nodes", [
        lab, "nodes", "--kubeconfig", site.path("admin.kubeconfig"), f"--count={count}", "--zone=hollow",
        "--taints=hollow=true:NoSchedule", "--delete-on-exit"])


def hollow(site, expected):
    """Whether so many hollow nodes have each status of the condition Ready."""
    nodes = site.api.get("/api/v1/nodes?labelSelector=holdfast.dev/hollow")["items"]
    found = collections.Counter(
        condition["status"] for node in nodes for condition in node["status"]["conditions"]
        if condition["type"] == "Ready")
    return found == collections.Counter(expected), dict(found)


def _taints(site):
    return site.api.get("/api/v1/nodes/edge1")["spec"].get("taints", [])


def _tainted(site, effect):
    taints = _taints(site)
    return (any(each["effect"] == effect for each in taints) if effect else not taints), json.dumps(taints)


def _deleting(site, name):
    pod = site.api.get_or_none(f"/api/v1/namespaces/{pods.NAMESPACE}/pods/{name}")
    return pod is None or "deletionTimestamp" in pod["metadata"]


def _no_eviction(site):
    """No NoExecute taint, and no pod is deleted."""
    deleted = [name for name, pod in judge.cloud_pods(site).items() if "deletionTimestamp" in pod["metadata"]]
    evicts = deleted or _tainted(site, "NoExecute")[0]
    return not evicts, f"taints {_taints(site)}, deleted: {deleted}"
