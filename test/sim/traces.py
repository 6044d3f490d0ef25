#!/usr/bin/env python3
"""Shows that a simulation does not depend on the build: the same scenario and seed give the same trace, byte for byte.

    traces.py LAB LAB

Both are holdfast-lab of the same commit, from two builds: with different compilers, optimisation or sanitizers. Each
plays scenarios of test/scenarios, and random ones by the seeds of test/sim/seeds.txt. The second one has another
locale, time zone and folder, and addresses differ anyway. Exit code 1 and the first line that differs, if there is one.
"""

import hashlib
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Those with the most parts: agents and plain kubelets, faults of links, machines, clocks, disks and the API server.
SCENARIOS = ["agent-restart-offline", "apiserver-pause", "drain-during-outage", "flapping-link", "full-flash",
             "no-clock", "power-cuts", "recorded-link", "rollout-during-outage", "statefulset-fencing"]
SEEDS = [1, 2]
# Random scenarios besides those of seeds.txt.
RANDOM_SEEDS = range(1, 11)
SECOND_PLACE = {"LC_ALL": "C.UTF-8", "TZ": "Pacific/Auckland", "LANG": "de_DE.UTF-8"}


def known_seeds():
    lines = (ROOT / "test" / "sim" / "seeds.txt").read_text().splitlines()
    return [int(line.split("#")[0]) for line in lines if line.split("#")[0].strip()]


def cases():
    for scenario, seed in itertools.product(SCENARIOS, SEEDS):
        file = ROOT / "test" / "scenarios" / f"{scenario}.yaml"
        yield f"{scenario}, seed {seed}", ["sim", str(file), f"--seed={seed}", "--trace=-"]
    for seed in [*known_seeds(), *RANDOM_SEEDS]:
        yield f"random scenario {seed}", ["fuzz", f"--replay={seed}"]


def trace(lab, arguments, environment, folder):
    done = subprocess.run([lab, *arguments], capture_output=True, cwd=folder, env=environment, check=False)
    if done.returncode not in (0, 1):
        what = f"{lab} {' '.join(arguments)}"
        sys.exit(f"traces.py: {what} ended with {done.returncode}:\n{done.stderr.decode()[-2000:]}")
    return done.stdout


def difference(first, second):
    pairs = itertools.zip_longest(first.splitlines(), second.splitlines(), fillvalue=b"(the end)")
    for number, (left, right) in enumerate(pairs, 1):
        if left != right:
            return f"line {number}:\n  {left.decode()}\n  {right.decode()}"
    return "the ends of lines"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    first, second = (str(pathlib.Path(lab).resolve()) for lab in sys.argv[1:])
    digest = hashlib.sha256()
    lines = different = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in cases():
            left = trace(first, arguments, dict(os.environ), ROOT)
            right = trace(second, arguments, dict(os.environ, **SECOND_PLACE), folder)
            digest.update(left)
            count += 1
            lines += left.count(b"\n")
            if not left:
                sys.exit(f"traces.py: {name}: no trace")
            if left != right:
                different += 1
                print(f"{name}: the traces differ in {difference(left, right)}")
    print(f"{count} traces with {lines} lines: {different or 'none'} differ, SHA-256 {digest.hexdigest()[:16]}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
