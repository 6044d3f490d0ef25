#!/usr/bin/env python3
"""Measures the agent with the real Kubernetes, next to the same figures without the agent: one table in Markdown.

    bench.py [--kubernetes DIR] --bin DIR --work DIR [--idle MINUTES] [--churn MINUTES] [--runs N] [PART...]

Parts: ready, reads, pods (memory and bytes with 10 and 110 pods), returns (bytes after an outage, with and without
gzip), idle, boot, replay. Measure on a quiet machine.
Figures per hour are measured for --idle minutes (10) and multiplied. Exits 0 when everything was measured, 77 when
there are no programs of Kubernetes.
"""

import argparse
import os
import shutil
import sys
import time

import isolate
import judge
import kubernetes
import measure
import pods
from api import Api
from report import Failed, Report
from site_parts import Site

PARTS = ("ready", "reads", "pods", "returns", "idle", "boot", "replay")
DIRECT, AGENT = "direct", "agent"


class Table:
    """Rows of figures: what, directly, through the agent, the goal."""

    def __init__(self):
        self.rows = []

    def add(self, what, direct, agent, goal=""):
        self.rows.append((what, direct, agent, goal))
        print("# " + " | ".join(self.rows[-1]), flush=True)

    def text(self):
        lines = ["| what | without the agent | with the agent | goal |", "|---|---|---|---|"]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.rows])


class Bench:
    """Measures each part on its own sites; `site()` starts one."""

    def __init__(self, options, programs, report):
        self.options = options
        self.programs = programs
        self.report = report
        self.table = Table()
        self.number = 0

    def site(self, way, wait=True):
        """A control plane and a node, with or without the agent; with `wait` the node is Ready."""
        self.number += 1
        folder = os.path.join(self.options.work, f"{self.number}-{way}")
        site = Site(self.report, self.programs, self.options.bin, folder)
        site.control_plane()
        site.node.behind_agent = way == AGENT
        site.node.start_containerd()
        if wait:
            self.start_node(site)
        return site

    def start_node(self, site):
        """Starts the agent and the kubelet together. Returns the seconds until the node is Ready in the cloud."""
        began = time.monotonic()
        if site.node.behind_agent:
            site.node.start_agent()
        site.node.start_kubelet(through_relay=True)
        self.report.until("the node is Ready", 60, lambda: judge.node_condition(site, "Ready", "True"), every=0.02)
        return time.monotonic() - began

    def both(self, part):
        """Calls part(site) on a site without and on one with the agent. Returns {way: its result}."""
        results = {}
        for way in (DIRECT, AGENT):
            site = self.site(way)
            try:
                results[way] = part(site)
            finally:
                site.down()
        return results

    def run_pods(self, site, count):
        """Creates pods until there are `count` and waits until they are Ready. Returns the seconds."""
        began = time.monotonic()
        have = len([name for name in judge.cloud_pods(site) if name.startswith("site/")])
        site.apply(pods.namespace(), *pods.settings(),
                   *(self._usual_pod(number) for number in range(have, count)))
        self.report.until(f"{count} pods run", 600, lambda: self._running(site, count), every=0.5)
        return time.monotonic() - began

    @staticmethod
    def _usual_pod(number):
        """A pod with a token, a ConfigMap and a Secret."""
        pod = pods.settings_pod()
        pod["metadata"]["name"] = f"usual-{number}"
        return pod

    @staticmethod
    def _running(site, count):
        found = judge.states(judge.cloud_pods(site))
        good = [name for name, word in found.items() if word == "Ready"]
        return len(good) == count, f"{len(good)} Ready"

    # The parts.

    def ready(self):
        taken = {DIRECT: [], AGENT: []}
        for _ in range(self.options.runs):
            for way, each in taken.items():
                site = self.site(way, wait=False)
                try:
                    each.append(self.start_node(site))
                finally:
                    site.down()
        direct, agent = (measure.percentile(taken[way], 0.5) for way in (DIRECT, AGENT))
        self.table.add("node Ready at its first start, median", f"{direct:.1f} s", f"{agent:.1f} s",
                       f"{direct + 0.3:.1f} s")

    def reads(self):
        site = self.site(AGENT, wait=False)
        try:
            # Both ways connect to the API server without the relay, which is slow.
            site.write_kubeconfig("node", site.api.url.geturl(), "nodetoken")
            self.start_node(site)
            self.run_pods(site, 10)
            authority = os.path.join(site.pki, "ca.crt")
            apis = {DIRECT: Api(site.api.url.geturl(), authority, "nodetoken", site.local.agent), AGENT: site.local}
            listed = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1"
            for what, path in (("GET of a pod", "/api/v1/namespaces/site/pods/usual-1"),
                               ("GET of the node", "/api/v1/nodes/edge1"), ("LIST of 10 pods", listed),
                               ("LIST of 10 pods, from the cache", listed + "&resourceVersion=0")):
                found = measure.latencies(apis, path)
                for index, name in enumerate(("p50", "p99")):
                    one, two = found[DIRECT][index], found[AGENT][index]
                    self.table.add(f"{what}, {name}", f"{one:.2f} ms", f"{two:.2f} ms ({two / one:.2f} x)",
                                   f"{max(one * 1.15, one + 0.1):.2f} ms")
        finally:
            site.down()

    def pods(self):
        found = self.both(self._pods)
        for what in found[AGENT]:
            goal = {"PSS with 10 pods": "8 MB", "PSS with 110 pods": "10 MB"}.get(what, "")
            self.table.add(what, found[DIRECT].get(what, ""), found[AGENT][what], goal)

    def _pods(self, site):
        found = {}
        behind = site.node.behind_agent

        def note_memory(when):
            kubelet = measure.memory(site, "kubelet")[0]
            found["PSS of the kubelet " + when] = f"{kubelet:.0f} MB"
            if behind:
                pss, private = measure.memory(site, "edge")
                found["PSS " + when] = f"{pss:.1f} MB ({private:.1f} private)"

        self.run_pods(site, 10)
        self.pause(30)
        note_memory("with 10 pods")
        before = site.relayed_bytes()
        seconds = self.run_pods(site, 110)
        self.pause(20)
        up, down = (after - start for after, start in zip(site.relayed_bytes(), before))
        found["100 more pods Ready"] = f"{seconds:.0f} s"
        found["bytes while they start"] = f"{up / 1024:.0f} KiB up, {down / 1024:.0f} KiB down"
        note_memory("with 110 pods")
        if behind:
            scopes = site.admin.get("/v1/status")["cache"]
            found["scopes with 110 pods"] = str(scopes.get("scopes", ""))
        written = measure.written_bytes(site.processes.pid("edge")) if behind else 0
        churned = self.churn(site, self.options.churn)
        if behind:
            written = measure.written_bytes(site.processes.pid("edge")) - written
            each = written / 1024 / max(1, churned)
            found["flash for one pod's life, in the churn"] = f"{each:.0f} KiB, of {churned} pods"
            site.kubectl("-n", "site", "delete", "pods", "--all", "--wait=false")
            self.report.until("the pods are gone", 300, lambda: self._running(site, 0), every=0.5)
            self.run_pods(site, 10)
            self.pause(60)
            note_memory(f"with 10 pods, after {self.options.churn} minutes of churn")
            found["scopes after the churn"] = str(site.admin.get("/v1/status")["cache"]["scopes"])
        return found

    def churn(self, site, minutes):
        """Creates and deletes pods for `minutes`, ten at a time. Returns how many."""
        end, number = time.monotonic() + minutes * 60, 0
        while time.monotonic() < end:
            names = [f"churn-{number + each}" for each in range(10)]
            number += 10
            fresh = []
            for name in names:
                pod = self._usual_pod(0)
                pod["metadata"]["name"] = name
                fresh.append(pod)
            site.apply(*fresh)
            self.report.until("ten pods come", 120, lambda wanted=names: judge.run(site, *wanted), every=0.5)
            for name in names:
                site.api.delete(f"/api/v1/namespaces/site/pods/{name}")
            self.report.until("ten pods go", 120, lambda wanted=names: (
                not any(f"site/{name}" in judge.cloud_pods(site) for name in wanted), ""), every=0.5)
        return number

    def returns(self):
        site = self.site(AGENT)
        try:
            self.run_pods(site, 110)
            packed = self._bytes_of_return(site)
            site.processes.kill("apiserver")
            site.start_apiserver("--feature-gates=APIResponseCompression=false")
            site.join()
            plain = self._bytes_of_return(site)
            self.table.add("bytes down when the link returns, 110 pods", "",
                           f"{packed / 1024:.0f} KiB, {plain / 1024:.0f} KiB without gzip")
        finally:
            site.down()

    def _bytes_of_return(self, site):
        self.pause(5)
        site.cut()
        before = site.relayed_bytes()[1]
        site.join()
        self.pause(5)
        return site.relayed_bytes()[1] - before

    def idle(self):
        found = self.both(self._idle)
        for what in found[AGENT]:
            self.table.add(what, found[DIRECT].get(what, ""), found[AGENT][what])

    def _idle(self, site):
        self.run_pods(site, 10)
        self.pause(150)  # the kubelet writes each pod's status once more, about a minute after its start
        minutes, found = self.options.idle, {}
        syncs = None
        if site.node.behind_agent:
            edge = site.processes.pid("edge")
            syncs = measure.SyncCount(edge, site.path("syncs"))
            written = measure.written_bytes(edge)
        before = site.relayed_bytes()
        self.pause(minutes * 60)
        up, down = ((after - start) * 60 / minutes / 1024 for after, start in zip(site.relayed_bytes(), before))
        found["bytes in an idle hour, 10 pods"] = f"{up:.0f} KiB up, {down:.0f} KiB down"
        if syncs:
            count = syncs.count()
            hourly = (measure.written_bytes(edge) - written) * 60 / minutes / 1024
            found["written to disk in an idle hour"] = f"{hourly:.0f} KiB"
            found["fsyncs in an idle hour"] = "strace is missing" if count is None else f"{count * 60 / minutes:.0f}"
        return found

    def boot(self):
        taken = {}
        for way in (DIRECT, AGENT):
            site = self.site(way)
            try:
                self.run_pods(site, 10)
                if way == AGENT:
                    site.cut()
                before = site.node.pods()
                site.node.power_off()
                began = time.monotonic()
                site.node.power_on()
                self.report.until("10 pods run after the boot", 120,
                                  lambda site=site, before=before: judge.all_run_anew(site, before), every=0.05)
                taken[way] = time.monotonic() - began
            finally:
                site.down()
        self.table.add("from power to 10 pods running (with the agent: offline)", f"{taken[DIRECT]:.1f} s",
                       f"{taken[AGENT]:.1f} s", f"{taken[DIRECT]:.1f} s")

    def replay(self):
        site = self.site(AGENT)
        try:
            self.run_pods(site, 10)
            site.processes.kill("relay")
            site.start_relay(round_trip_ms=5)
            site.join()
            site.cut()
            for number in range(1000):
                site.local.create("/api/v1/namespaces/site/events", pods.event("site", f"played-{number}"))
            site.link("pass")
            began = time.monotonic()
            connected = self.report.until("connected", 120,
                                          lambda: (site.link_state() == "connected", site.link_state()))
            listed = "/api/v1/namespaces/site/events?fieldSelector=reason%3DPlayed"

            def arrived():
                count = len(site.api.get(listed)["items"])
                return count == 1000, f"{count} of 1000"

            self.report.until("1,000 writes are in the cloud", 300, arrived)
            self.table.add("replay of 1,000 writes at 5 ms round trip: from the link's return",
                           "", f"connected {connected:.1f} s, all there {time.monotonic() - began:.1f} s", "5 s")
        finally:
            site.down()

    @staticmethod
    def pause(seconds):
        """Lets the site run for a fixed time: either the measurement's duration or the time to settle before it."""
        time.sleep(seconds)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kubernetes.add_option(parser)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--idle", type=float, default=10, help="minutes")
    parser.add_argument("--churn", type=float, default=10, help="minutes")
    parser.add_argument("--runs", type=int, default=3, help="repetitions of the part ready")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: all of {', '.join(PARTS)}")
    return parser.parse_intermixed_args()


def main():
    options = arguments()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        print(f"unknown part: {', '.join(unknown)}; known: {', '.join(PARTS)}")
        return 2
    programs = kubernetes.programs_or_exit(options.kubernetes, "bench")
    isolate.enter()
    kubernetes.print_versions(programs)
    options.work = os.path.abspath(options.work)
    shutil.rmtree(options.work, ignore_errors=True)
    report = Report()
    bench = Bench(options, programs, report)
    for part in options.parts or PARTS:
        report.begin(part)
        try:
            getattr(bench, part)()
        except Failed:
            pass
    print(bench.table.text())
    return report.summary()


if __name__ == "__main__":
    sys.exit(main())
