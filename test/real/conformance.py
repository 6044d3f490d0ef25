#!/usr/bin/env python3
"""Runs upstream's e2e.test directly and through the agent: what passes directly must pass through the agent.

    conformance.py [--kubernetes DIR] --bin DIR --work DIR [--ci] [--only REGEX] [--ways direct,agent,cloud]

The three ways, each with a control plane and a node of its own:

    direct  the kubelet and the tests use the API server; controllers and scheduler are upstream's
    agent   the kubelet uses a holdfast-edge with the node's rights, the tests use a holdfast-edge with an
            administrator's rights and --cache-agents='*'
    cloud   as direct, with holdfast-cloud in place of node-lifecycle, taint-eviction and kube-scheduler
            (only tests of sig-scheduling, sig-apps, NoExecuteTaintManager, PriorityClass and preemption)

Exits 0 when every test that passed directly passed in the other ways or is in explained.txt; 1 when one did not; 77
without Kubernetes' programs or root. Results are in WORK/results.json, and a table for README.md in WORK/table.md.
"""

import argparse
import json
import os
import re
import shutil
import sys
import time

import isolate
import judge
import kubernetes
from report import Failed, Report
from site_parts import Site
from suite import Suite, matching

HERE = os.path.dirname(os.path.abspath(__file__))
LISTS = os.path.join(HERE, "conformance")
CLOUD = re.compile(r"^\[sig-(scheduling|apps)\]|NoExecuteTaintManager|PriorityClass|Preemption")
TAINTS = re.compile(r"NoExecuteTaintManager")  # run although [Disruptive]: it removes its taints from the node


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kubernetes.add_option(parser)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--ci", action="store_true", help="the subset of ci.txt")
    parser.add_argument("--only", default="", help="only tests whose name matches")
    parser.add_argument("--ways", default="direct,agent,cloud")
    parser.add_argument("--direct", help="results.json of an earlier run, used instead of running direct again")
    parser.add_argument("--processes", type=int, default=4, help="processes of e2e.test at a time")
    return parser.parse_args()


def chosen_names(suite, options):
    names = matching(suite.names(), os.path.join(LISTS, "focus.txt"))
    skipped = matching(names, os.path.join(LISTS, "skip.txt"))
    names = [name for name in names if name not in skipped or TAINTS.search(name)]
    if options.ci:
        names = list(matching(names, os.path.join(LISTS, "ci.txt")))
    return sorted(name for name in names if re.search(options.only, name))


def start(site, way):
    """Starts a site for one way; returns the kubeconfig file for the tests."""
    ours = "holdfast-cloud" if way == "cloud" else None
    site.control_plane(lifecycle=ours or "upstream", scheduler=ours or "kube-scheduler")
    site.node.start_containerd()
    if way == "agent":
        site.node.start_agent()
        site.report.until("the agent is connected", 60, lambda: (site.link_state() == "connected", site.link_state()))
    site.node.behind_agent = way == "agent"
    site.node.start_kubelet()
    site.report.until("the node is Ready", 120, lambda: judge.node_condition(site, "Ready", "True"))
    if way == "agent":
        return site.node.start_client_agent()
    return site.path("admin.kubeconfig")


def play(report, programs, options, way, names):
    """Runs the tests in one way; except with direct, those that fail run a second time."""
    report.begin(way)
    folder = os.path.join(options.work, way)
    site = Site(report, programs, options.bin, folder)
    began = time.monotonic()
    try:
        kubeconfig = start(site, way)
        suite = Suite(site.program("e2e.test"), os.path.join(folder, "reports"))
        results = suite.run(way, kubeconfig, names, options.processes)
        again = [name for name, each in results.items() if each["state"] not in ("passed", "skipped")]
        if again and way != "direct":
            second = suite.run(way + "-again", kubeconfig, again, 2)
            for name, each in second.items():
                results[name] = {**each, "tries": 2, "first": results[name]["message"]}
        print(f"# {way}: {len(names)} tests in {time.monotonic() - began:.0f} s", flush=True)
        return results
    finally:
        site.down()


def sig(name):
    return re.match(r"\[sig-([a-z-]+)\]", name).group(1)


def table(results):
    """A Markdown table of the tests passed and run, for each group of tests and each way."""
    ways = list(results)
    lines = ["| tests | " + " | ".join(f"{way}: passed of those run" for way in ways) + " |",
             "|---" * (len(ways) + 1) + "|"]
    for group in sorted({sig(name) for each in results.values() for name in each}):
        cells = []
        for way in ways:
            states = [each["state"] for name, each in results[way].items() if sig(name) == group]
            played = [state for state in states if state != "skipped"]
            cells.append(f"{played.count('passed')} of {len(played)}" if played else "")
        lines.append(f"| sig-{group} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def compare(report, direct, other, way):
    """Records a failure for each test that passed directly but not in `way`, unless explained.txt lists it.

    A test that needed a second try in `way` fails, too.
    """
    report.begin(f"{way} against direct")
    explained = matching(other, os.path.join(LISTS, "explained.txt"))
    played = [name for name in other if direct.get(name, {}).get("state") == "passed"]
    for name in sorted(played):
        state = other[name]["state"]
        if state == "passed" and not other[name].get("tries"):
            continue
        if name in explained:
            print(f"# explained: {name}: {explained[name]}")
        elif state == "passed":
            report.fail(name, f"passed directly, but only at the second try with {way}\nfirst: {other[name]['first']}")
        else:
            report.fail(name, f"passed directly, {state} with {way}\n{other[name]['message']}")
    passed = sum(other[name]["state"] == "passed" for name in played)
    report.check(f"tests that pass directly were run with {way}", passed > 0, "none has passed",
                 f"{passed} of {len(played)} passed")


def main():
    options = arguments()
    programs = kubernetes.programs_or_exit(options.kubernetes, "conformance")
    isolate.enter()
    kubernetes.print_versions(programs)
    options.work = os.path.abspath(options.work)
    shutil.rmtree(options.work, ignore_errors=True)
    report = Report()
    suite = Suite(programs.path("e2e.test"), os.path.join(options.work, "list"))
    names = chosen_names(suite, options)
    results, earlier = {}, {}
    if options.direct:
        with open(options.direct) as file:
            earlier = json.load(file)
    try:
        for way in options.ways.split(","):
            passed = results.get("direct", {})
            wanted = [name for name in names
                      if (way != "cloud" or CLOUD.search(name))
                      and (not passed or passed.get(name, {}).get("state") == "passed")]
            if way == "direct" and options.direct:
                results[way] = {name: each for name, each in earlier["direct"].items() if name in names}
            else:
                results[way] = play(report, programs, options, way, wanted)
            with open(os.path.join(options.work, "results.json"), "w") as file:
                json.dump(results, file, indent=1)
    except Failed:
        pass
    for way in results:
        if way != "direct" and "direct" in results:
            compare(report, results["direct"], results[way], way)
    with open(os.path.join(options.work, "table.md"), "w") as file:
        file.write(table(results) + "\n")
    print(table(results))
    return report.summary()


if __name__ == "__main__":
    sys.exit(main())
