#!/usr/bin/env python3
"""Runs upstream's [sig-api-machinery] e2e tests against the API server of holdfast-lab.

    conformance_lab.py [--kubernetes DIR] --bin DIR --work DIR [--only REGEX] [--all]

No pod runs: the site is `holdfast-lab apiserver`, holdfast-cloud, and hollow nodes that report pods as running. Tests
that need an image are in conformance/lab_skip.txt and are not run. Those in conformance/lab.txt are run and may fail,
for the reasons that it gives. Every other test must pass: if one fails, the exit code is 1. It is 77 without e2e.test.
The results are in WORK/results.json.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time

import kubernetes
from processes import Processes
from report import Report
from suite import Suite, matching

HERE = os.path.dirname(os.path.abspath(__file__))
LISTS = os.path.join(HERE, "conformance")
FOCUS = re.compile(r"^\[sig-api-machinery\]")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kubernetes.add_option(parser)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--only", default="", help="only tests whose name matches")
    parser.add_argument("--all", action="store_true", help="also the tests of lab.txt, which are known to fail")
    parser.add_argument("--processes", type=int, default=4, help="processes of e2e.test at a time")
    return parser.parse_args()


class Lab:
    """The processes: an API server on a free port, a lifecycle controller, and two hollow nodes."""

    def __init__(self, report, kubectl, bin, folder):
        self.report = report
        self.kubectl = kubectl
        self.bin = os.path.abspath(bin)
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        self.processes = Processes(folder)

    def start(self):
        program = os.path.join(self.bin, "holdfast-lab")
        self.processes.start("apiserver", [
            program, "apiserver", "--listen=127.0.0.1:0", "--data=" + os.path.join(self.folder, "data"),
            "--tls-dir=" + os.path.join(self.folder, "tls"), "--write-kubeconfig=" + self.kubeconfig])
        self._until("the API server listens", lambda: os.path.exists(self.kubeconfig))
        # The suite asks for the Service of the API server before its first test; the lab has no such Service.
        subprocess.run([self.kubectl, "--kubeconfig", self.kubeconfig, "create", "service", "clusterip", "kubernetes",
                        "--tcp=443:443"], check=True, stdout=subprocess.DEVNULL)
        self.processes.start("nodes", [
            program, "nodes", "--kubeconfig=" + self.kubeconfig, "--count=2", "--control=127.0.0.1:0"])
        self.processes.start("cloud", [
            os.path.join(self.bin, "holdfast-cloud"), "--kubeconfig=" + self.kubeconfig, "--secure-port=0",
            "--leader-elect=false"])
        self._until("both nodes can be used", lambda: self.processes.log("cloud").count("taints=0") == 2)

    def _until(self, what, ask):
        self.report.until(what, 30, lambda: (ask(), "see the logs in " + self.folder))

    def stop(self):
        self.processes.kill_all()


def judge(report, results, known):
    """Records one check per test. A test in `known` that fails is only printed, with its reason."""
    for name, each in sorted(results.items()):
        state = each["state"]
        if state == "passed":
            report.ok(name, f"{each['seconds']:.1f} s")
            if name in known:
                print(f"# passed although lab.txt lists it: {name}", flush=True)
        elif name in known:
            print(f"# known: {name}: {known[name]}", flush=True)
        else:
            report.fail(name, f"{state}\n{each['message']}")


def main():
    options = arguments()
    programs = kubernetes.programs_or_exit(options.kubernetes, "conformance_lab", root=False)
    kubernetes.print_versions(programs)
    options.work = os.path.abspath(options.work)
    shutil.rmtree(options.work, ignore_errors=True)
    report = Report()
    # The lab reads CustomResourceDefinitions as JSON only.
    suite = Suite(programs.path("e2e.test"), os.path.join(options.work, "reports"),
                  ["--kube-api-content-type=application/json"])
    names = [name for name in suite.names() if FOCUS.search(name) and re.search(options.only, name)]
    skipped = matching(names, os.path.join(LISTS, "lab_skip.txt"))
    names = [name for name in names if name not in skipped]
    known = matching(names, os.path.join(LISTS, "lab.txt"))
    chosen = names if options.all else [name for name in names if name not in known]
    report.begin("lab")
    lab = Lab(report, programs.path("kubectl"), options.bin, os.path.join(options.work, "lab"))
    began = time.monotonic()
    try:
        lab.start()
        results = suite.run("lab", lab.kubeconfig, chosen, options.processes, deadline=120)
    finally:
        lab.stop()
    with open(os.path.join(options.work, "results.json"), "w") as file:
        json.dump(results, file, indent=1)
    judge(report, results, known)
    passed = sum(each["state"] == "passed" for each in results.values())
    print(f"# {passed} of {len(chosen)} passed in {time.monotonic() - began:.0f} s; {len(known)} are known to fail, "
          f"{len(skipped)} need an image or are not run", flush=True)
    report.check("tests were run", passed > 0 or not chosen, "none has passed")
    return report.summary()


if __name__ == "__main__":
    sys.exit(main())
