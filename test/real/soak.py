#!/usr/bin/env python3
"""Writes a scenario of random cuts from a seed and plays it with `holdfast-lab run` and real kubelets.

    soak.py [--kubernetes DIR] --bin DIR --work DIR [MINUTES] [--seed N]

Two nodes have a real kubelet behind holdfast-edge; a third one, with holdfast-node, is never cut off. At the end no
container may have restarted, no pod may have been evicted, and statuses, leases and taints in the API must be those of
the nodes. Exits as holdfast-lab does, or with 77 without Kubernetes' programs or root.
"""

import argparse
import os
import random
import sys

import kubernetes
import run_scenario

QUIET_AT_END = 45  # seconds without faults: a kubelet reports its status every ten seconds
LONGEST_CUT = 90  # seconds; pods tolerate an unreachable node for 300
SCENARIO = """name: soak
about: random cuts of {minutes} minutes, from the seed {seed}; no pod may notice
duration: {duration}s
seed: {seed}

fleet:
  sites:
  - {{name: kube, nodes: 2, link: 4g}}
  - {{name: hub, nodes: 1}}

workloads:
- {{deployment: web, replicas: 4, on: kube}}
- {{statefulset: db, replicas: 2, on: kube}}
- {{daemonset: probe}}

events:
{events}

expect:
- {{restarts: 0}}
- {{evictions: 0}}
- {{unavailable: 0s, of: web}}
- {{unavailable: 0s, of: db}}
- {{unavailable: 0s, of: probe}}
- {{duplicates: 0}}
"""


def cut(dice, target):
    seconds = round(min(LONGEST_CUT, dice.lognormvariate(2.7, 0.9)) + 1)
    kind = dice.choice(["black-hole", "black-hole", "refuse", "reset"])
    direction = dice.choice(["both", "both", "both", "up", "down"]) if kind == "black-hole" else "both"
    return f"cut: {target}, kind: {kind}, direction: {direction}, for: {seconds}s", seconds


def flap(dice, target):
    seconds = dice.randint(15, 60)
    return f"flap: {target}, up: {dice.randint(1, 8)}s, down: {dice.randint(1, 12)}s, for: {seconds}s", seconds


def degrade(dice, target):
    seconds = dice.randint(10, 40)
    return f"degrade: {target}, link: {dice.choice(['satellite', 'nb-iot'])}, for: {seconds}s", seconds


def kill(dice, target):
    return f"kill: {target}, process: {dice.choice(['edge', 'kubelet'])}", 3


def pause(dice, target):
    seconds = dice.randint(2, 10)
    return f"pause: {target}, process: {dice.choice(['edge', 'kubelet'])}, for: {seconds}s", seconds


FAULTS = [cut, cut, cut, cut, cut, flap, degrade, kill, pause]


def events_of(dice, duration):
    """Faults one after the other, some while the last one acts, until it must be quiet."""
    lines, at = [], 5
    while True:
        text, seconds = dice.choice(FAULTS)(dice, dice.choice(["kube-1", "kube-2", "kube"]))
        if at + seconds > duration - QUIET_AT_END:
            return lines
        lines.append(f"- {{at: {at}s, {text}}}")
        together = dice.random() < 0.25
        at += dice.randint(1, 5) if together else seconds + dice.randint(2, 25)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kubernetes.add_option(parser)
    parser.add_argument("--bin", required=True, help="folder with the project's programs")
    parser.add_argument("--work", required=True, help="folder for logs and state; emptied first")
    parser.add_argument("minutes", metavar="MINUTES", type=float, nargs="?", default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 1 << 31))
    chosen = parser.parse_args()
    if not 2 <= chosen.minutes <= 24 * 60:
        parser.error("MINUTES: from 2 to 1440")
    return chosen


def main():
    chosen = arguments()
    programs = kubernetes.programs_or_exit(chosen.kubernetes, "soak")
    kubernetes.print_versions(programs)
    run_scenario.empty_folder(chosen.work)
    file = os.path.join(chosen.work, "soak.yaml")
    duration = round(chosen.minutes * 60)
    with open(file, "w") as out:
        events = "\n".join(events_of(random.Random(chosen.seed), duration))
        out.write(SCENARIO.format(minutes=chosen.minutes, seed=chosen.seed, duration=duration, events=events))
    print(f"seed {chosen.seed}: repeat with `cross/dev soak {chosen.minutes:g} --seed {chosen.seed}`; the scenario is "
          f"{file}", flush=True)
    run_scenario.play(programs, chosen, file, [
        "--kubelet-on=kube", "--api-server=" + programs.folder, "--converge=60s",
        "--data=" + os.path.join(chosen.work, "data"), "--report=" + os.path.join(chosen.work, "soak.html")])


if __name__ == "__main__":
    sys.exit(main())
