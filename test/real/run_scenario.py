#!/usr/bin/env python3
"""Plays a scenario with `holdfast-lab run` and a real kubelet: run_scenario.py --kubernetes DIR --bin DIR FILE FLAG...

FLAG... are those of `holdfast-lab run`, after `--`; KUBERNETES in them stands for the folder. Exits as holdfast-lab
does, or with 77 (ctest: skipped) without Kubernetes binaries or root.
"""

import argparse
import os
import sys

SKIPPED = 77


def reason_to_skip(kubernetes):
    """Why no kubelet can run here; "" if one can."""
    if not os.path.exists(os.path.join(kubernetes, "bin", "kubelet")):
        return f"no Kubernetes in {kubernetes}; see test/real/README.md"
    return "" if os.geteuid() == 0 else "the real Kubernetes needs root"


def command_of(chosen, file, flags):
    """The command line that plays the scenario `file`."""
    return [os.path.join(os.path.abspath(chosen.bin), "holdfast-lab"), "run", file,
            "--kubelet=" + os.path.abspath(chosen.kubernetes), *flags]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kubernetes", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("file")
    parser.add_argument("flags", nargs="*")
    chosen = parser.parse_args()
    reason = reason_to_skip(chosen.kubernetes)
    if reason:
        print(f"SKIPPED: {reason}")
        return SKIPPED
    flags = [flag.replace("KUBERNETES", os.path.abspath(chosen.kubernetes)) for flag in chosen.flags]
    command = command_of(chosen, chosen.file, flags)
    os.execv(command[0], command)


if __name__ == "__main__":
    sys.exit(main())
