"""Scenarios about links that are far, slow or flapping, and about answers that are large.

Each of them is what a kubelet or kubectl without the agent gets through, too.
"""

import collections
import concurrent.futures
import json
import random
import subprocess
import time

import judge
import pods
from api import Api
from node import CLIENT_AGENT_ADMIN
from processes import memory_peak_kib

NODE_USER = "system:node:edge1"
NODE = "/api/v1/nodes/edge1"
CONDITION = "TestOfTheLink"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/edge1"
LEASE_AGE_MAX = 20  # seconds


def late_answers(site):
    """Each answer comes 1.3 s late, then 3 s, then 8 s: the node stays Ready, and the agent is connected soon."""
    report = site.report
    report.until("the node has a lease", 30, lambda: (site.api.get_or_none(LEASE) is not None, "none"))
    for round_trip_ms in (1300, 3000, 8000):
        site.link(f"pass {round_trip_ms}")
        report.throughout(f"the node is Ready and its lease is young, although answers take {round_trip_ms} ms", 90,
                          lambda: _is_alive(site))
        # The first late answers cannot be told from a black hole.
        report.equal("the agent is connected by then", "connected", site.link_state())
        site.link("pass")
    site.join()
    judge.statuses_equal(site)


def _is_alive(site):
    ready, found = judge.node_condition(site, "Ready", "True")
    age = time.time() - judge.seconds_of(site.api.get(LEASE)["spec"]["renewTime"])
    return ready and age <= LEASE_AGE_MAX, f"Ready: {found.get('Ready')}; the lease is {age:.1f} s old"


def far_api_server(site):
    """The agent starts where a round trip takes 0.4 s, 0.6 s and 3 s: it connects, as a kubelet does."""
    report = site.report
    for round_trip_ms, seconds in ((400, 8), (600, 10), (3000, 40)):
        site.processes.kill("edge")
        site.link(f"pass {round_trip_ms}")
        site.node.start_agent()
        report.until(f"the agent connects with a round trip of {round_trip_ms} ms", seconds,
                     lambda: (site.link_state() == "connected", site.link_state()))
    site.join()
    judge.statuses_equal(site)


def flapping_link(site):
    """Three cuts of 5 s, in each of which the node writes: each scope goes on watching, and nothing is listed."""
    report, before = site.report, judge.restarts(site)
    _, mark = site.server.requests(NODE_USER)
    site.cut()
    site.join()
    watched = _watched(site, mark)  # after a cut, each scope that is left is watched anew
    report.check("the node watches its scopes", len(watched) > 5, f"found: {watched}")
    for number in range(1, 4):
        _, mark = site.server.requests(NODE_USER)
        recorded, bytes_before = judge.last_record(site), sum(site.relayed_bytes())
        site.cut()
        site.local.merge(NODE + "/status", _condition({"status": "True", "reason": f"Cut{number}"}))
        report.throughout(f"cut {number}: the node's reads are answered", 5,
                          lambda: (bool(site.local.get("/api/v1/nodes/edge1")), ""))
        site.join()
        report.until(f"cut {number}: all scopes are watched again", 30, lambda: (
            not (missing := watched - _watched(site, mark)), missing))
        requests, _ = site.server.requests(NODE_USER, mark)
        granted = [each for each in requests if each["verb"] == "list" and each["responseStatus"]["code"] == 200]
        report.equal(f"cut {number}: nothing is listed", [], [each["requestURI"] for each in granted])
        reasons = [each["reason"] for each in site.api.get(NODE)["status"]["conditions"] if each["type"] == CONDITION]
        report.equal(f"cut {number}: what the node wrote has arrived", [f"Cut{number}"], reasons)
        written = sorted({entry["subject"].partition("/")[0] for entry in judge.journal(site)
                          if entry["seq"] > recorded and entry["kind"] == "write-accepted"})
        kib = (sum(site.relayed_bytes()) - bytes_before) / 1024
        limit = 8 + 2 * len(watched) + 16 * len(written)
        verbs = dict(collections.Counter(each["verb"] for each in requests))
        report.check(f"cut {number}: a few bytes for each scope", kib < limit,
                     f"expected: under {limit} KiB for {len(watched)} scopes\nfound: {kib:.0f} KiB: {verbs}",
                     f"{kib:.0f} KiB for {len(watched)} scopes, written: {', '.join(written)}")
    site.local.merge(NODE + "/status", _condition({"$patch": "delete"}))
    judge.only_restarted(site, before, set())
    judge.statuses_equal(site)


def _condition(fields):
    return {"status": {"conditions": [{"type": CONDITION, **fields}]}}


def _watched(site, after=0):
    """What the node has watched: the paths of its watches with their selectors."""
    requests, _ = site.server.requests(NODE_USER, after)
    return {_scope_of(each["requestURI"]) for each in requests if each["verb"] == "watch"}


def _scope_of(uri):
    path, _, query = uri.partition("?")
    return path, tuple(sorted(word for word in query.split("&") if "Selector=" in word))


POOR_LINE = 16 * 1000  # bytes per second
POD_BYTES = 100 * 1000
NOTE = "holdfast.test/note"


def slow_line(site):
    """Large pods, whose containers were restarted offline, over a line of 16 KB/s: all their statuses arrive."""
    report = site.report
    names = [name for name in site.node.pods() if "/once-" not in name]
    note = random.Random(1).randbytes(POD_BYTES // 2).hex()
    for name in names:
        _annotate(site, name, note)
    report.until("the node has the large pods", 30, lambda: (
        (found := sum(_has_note(pod) for pod in site.node.pods().values())) == len(names), found))
    site.cut()
    victims = [site.node.pods()[name] for name in names]
    for victim in victims:
        site.node.kill_container(victim)
    for victim in victims:
        report.until(f"{victim['metadata']['name']} runs again while offline", 120,
                     lambda: judge.restarted(site, victim))
    site.link(f"pass 100 {POOR_LINE}")
    report.until("the agent is connected over the slow line", 120,
                 lambda: (site.link_state() == "connected", site.link_state()))
    report.until("the cloud knows all restarts", 180, lambda: (
        not (missing := [each["metadata"]["name"] for each in victims if not judge.cloud_knows_restart(site, each)[0]]),
        missing))
    report.throughout("the node is Ready and its lease is young", 30, lambda: _is_alive(site))
    site.link("pass")
    for name in names:
        _annotate(site, name, None)
    site.join()
    judge.statuses_equal(site)


def _annotate(site, name, note):
    namespace, _, pod = name.partition("/")
    site.api.merge(f"/api/v1/namespaces/{namespace}/pods/{pod}", {"metadata": {"annotations": {NOTE: note}}})


def _has_note(pod):
    return NOTE in pod["metadata"].get("annotations", {})


CONFIG_MAPS, CONFIG_MAP_BYTES = 1200, 10 * 1024
SECRETS, SECRET_BYTES = 500, 100 * 1024
SMALL_LINE = 150 * 1024  # bytes per second
PEAK_MAX = 64 * 1024  # KiB


def large_lists(site):
    """Lists of 12 MiB and 50 MiB arrive through the agent as they arrive directly, over a slow line, and offline."""
    report = site.report
    site.node.start_client_agent("kubectl")
    agent = Api(CLIENT_AGENT_ADMIN)
    for name, kind, field, count, size in (
            ("many", "configmaps", "data", CONFIG_MAPS, CONFIG_MAP_BYTES),
            ("few", "configmaps", "data", 300, CONFIG_MAP_BYTES),
            ("secret", "secrets", "stringData", SECRETS, SECRET_BYTES)):
        site.apply(pods.namespace("large-" + name))
        _fill(site, f"/api/v1/namespaces/large-{name}/{kind}", field, count, size)
    _same_list(site, "configmaps", "large-many", 60)
    _same_list(site, "secrets", "large-secret", 120)
    site.link(f"pass 50 {SMALL_LINE}")
    _same_from_cache(site, "/api/v1/namespaces/large-few/configmaps?resourceVersion=0", 60)
    _same_list(site, "configmaps", "large-few", 60)
    report.equal("the agent has stayed connected", "connected", site.link_state())
    site.link("pass")
    wanted = {"/api/v1/namespaces/large-many/configmaps", "/api/v1/namespaces/large-secret/secrets"}
    report.until("the large lists are kept on disk", 180, lambda: (
        wanted <= (kept := _kept_on_disk(agent)), sorted(kept)))
    site.cut()
    _same_list(site, "configmaps", "large-many", 60)
    _same_list(site, "secrets", "large-secret", 120)
    site.join()
    peak = memory_peak_kib(site.processes.pid("clients"))
    report.check("the agent has needed little memory", peak < PEAK_MAX,
                 f"expected: under {PEAK_MAX} KiB\nfound: {peak} KiB", f"{peak // 1024} MiB at most")
    site.processes.kill("clients")
    namespaces = [f"/api/v1/namespaces/large-{name}" for name in ("many", "few", "secret")]
    for each in namespaces:
        site.api.delete(each)
    report.until("the lists are gone", 120, lambda: (
        not (found := [each for each in namespaces if site.api.get_or_none(each)]), found))
    report.until("everything is as before", 90, lambda: judge.all_run(site, in_cloud=True))


def _kept_on_disk(agent):
    return {scope["path"] for scope in agent.get("/v1/scopes") if scope["on_disk"] and scope["complete"]}


def _fill(site, path, field, count, size):
    def create(number):
        value = random.Random(number).randbytes(size // 2).hex()  # gzip halves it
        site.api.create(path, {"metadata": {"name": f"item-{number:04}"}, field: {"value": value}})

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        list(threads.map(create, range(count)))


def _same_from_cache(site, target, seconds):
    """A list that the agent has not had yet, and that its own cache may answer, has the same objects as directly."""
    direct = site.kubectl("get", "--raw", target, timeout=seconds)
    start = time.monotonic()
    through = site.kubectl("get", "--raw", target, kubeconfig="clients", timeout=seconds)
    took = time.monotonic() - start
    if through.returncode != 0:
        site.report.fail(f"GET {target}", f"expected: {len(direct.stdout)} bytes\nfound: {through.stderr[:400]}")
        return
    expected, found = (json.loads(each.stdout)["items"] for each in (direct, through))
    site.report.check(f"GET {target}: the same objects", found == expected,
                      f"expected: {len(expected)} objects\nfound: {len(found)}, or other ones",
                      f"{took:.1f} s for {len(found)} objects")


def _same_list(site, kind, namespace, seconds):
    """kubectl prints the same list directly and through the agent."""
    arguments = ("get", kind, "-n", namespace, "-o", "json")
    direct = site.kubectl(*arguments, timeout=seconds)
    start = time.monotonic()
    try:
        through = site.kubectl(*arguments, kubeconfig="clients", timeout=seconds)
    except subprocess.TimeoutExpired:
        site.report.fail(f"kubectl {' '.join(arguments)}", f"expected: an end within {seconds} s")
        return
    took = time.monotonic() - start
    site.report.check(
        f"kubectl {' '.join(arguments)}: the same list", through.returncode == 0 and through.stdout == direct.stdout,
        f"expected: {len(direct.stdout)} bytes\nfound: exit code {through.returncode}, {len(through.stdout)} bytes: "
        f"{through.stderr[:400]}", f"{took:.1f} s for {len(through.stdout) >> 20} MiB")
