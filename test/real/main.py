#!/usr/bin/env python3
"""Runs scenarios with the real Kubernetes: main.py [--kubernetes DIR] --bin DIR --work DIR [SCENARIO...]

Exits 0 when every check held, 1 when one did not, 77 without Kubernetes' programs or root (ctest: skipped).
Needs root and the packages that cross/dev real installs. Logs stay in the work folder.
"""

import argparse
import shutil
import sys
import time
import traceback

import isolate
import judge
import kubernetes
import scenarios
from report import Failed, Report
from site_parts import Site


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kubernetes.add_option(parser)
    parser.add_argument("--bin", required=True, help="folder with holdfast-edge, holdfast-cloud and holdfastctl")
    parser.add_argument("--work", required=True, help="folder for logs and state; emptied first")
    parser.add_argument("--list", action="store_true", help="print the scenarios and what they show")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="default: all")
    return parser.parse_intermixed_args()


def play(site, function):
    """Runs one scenario and returns whether it passed. A failure ends the scenario, not the run."""
    report = site.report
    report.begin(function.__name__.replace("_", "-"))
    start, failures = time.monotonic(), len(report.failures)
    try:
        function(site)
    except Failed:
        pass
    except Exception:  # a bug in the scenario, or a server that does not answer
        report.fail("the scenario ends", traceback.format_exc())
    print(f"# {report.scenario}: {time.monotonic() - start:.0f} s", flush=True)
    return len(report.failures) == failures


def repair(site):
    """Restores the site after a failed scenario: all processes run, the link passes, the usual pods run.

    Returns whether that worked.
    """
    report, processes = site.report, site.processes
    report.begin("repair")
    try:
        site.link("pass")
        site.node.repair()
        site.join(180)
        site.apply(*scenarios.pods.one_of_each(site.path("claim")))
        for name, pod in judge.cloud_pods(site).items():
            if pod["metadata"]["name"] in scenarios.EXTRA_PODS:
                site.api.delete(f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}", 0)
        report.until("the node is Ready", 60, lambda: judge.node_condition(site, "Ready", "True"))
        report.until("the usual pods run again", 120, lambda: judge.all_run(site, in_cloud=True))
        return all(processes.is_running(name) for name in ("edge", "kubelet", "containerd", "apiserver"))
    except Exception as error:
        report.fail("the site is repaired", error)
        return False


def main():
    chosen = arguments()
    if chosen.list:
        for name, function in scenarios.BY_NAME.items():
            print(f"{name:24} {function.__doc__.splitlines()[0]}")
        return 0
    unknown = [name for name in chosen.scenarios if name not in scenarios.BY_NAME]
    if unknown:
        print(f"unknown scenario: {', '.join(unknown)}; known: {', '.join(scenarios.BY_NAME)}")
        return 2
    programs = kubernetes.programs_or_exit(chosen.kubernetes, "main")
    isolate.enter()
    kubernetes.print_versions(programs)
    shutil.rmtree(chosen.work, ignore_errors=True)
    report = Report()
    site = Site(report, programs, chosen.bin, chosen.work)
    site.server.audits = True
    wanted = [scenarios.BY_NAME[name] for name in chosen.scenarios if name != "start"] or scenarios.ALL[1:]
    try:
        report.begin("control-plane")
        site.control_plane()
        good = play(site, scenarios.start)
        for function in wanted:
            if not good and not repair(site):
                break
            good = play(site, function)
    except Failed:
        pass
    finally:
        site.down()
    print(f"# logs: {site.work}")
    return report.summary()


if __name__ == "__main__":
    sys.exit(main())
