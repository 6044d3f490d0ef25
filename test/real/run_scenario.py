#!/usr/bin/env python3
"""Plays a scenario with `holdfast-lab run` and a real kubelet.

    run_scenario.py [--kubernetes DIR] --bin DIR --work DIR FILE [-- FLAG...]

FLAG... are those of `holdfast-lab run`; KUBERNETES in them stands for the folder of --kubernetes. Exits as holdfast-lab
does, or with 77 (ctest: skipped) without Kubernetes' programs or root.
"""

import argparse
import os
import shutil
import sys

import images
import kubernetes


def play(programs, chosen, file, flags):
    """Makes the images and becomes `holdfast-lab run`, which plays the scenario `file`."""
    archive = os.path.join(os.path.abspath(chosen.work), "images.tar")
    images.write_images_of(archive, programs.path("busybox"))
    program = os.path.join(os.path.abspath(chosen.bin), "holdfast-lab")
    os.execv(program, [program, "run", file, "--kubelet=" + programs.folder, "--kubelet-images=" + archive, *flags])


def empty_folder(path):
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kubernetes.add_option(parser)
    parser.add_argument("--bin", required=True, help="folder with the project's programs")
    parser.add_argument("--work", required=True, help="folder for the images; emptied first")
    parser.add_argument("file")
    parser.add_argument("flags", nargs="*")
    chosen = parser.parse_args()
    needs_server = any(flag.startswith("--api-server") for flag in chosen.flags)
    user = "run_scenario with Kubernetes' server" if needs_server else "run_scenario"
    programs = kubernetes.programs_or_exit(chosen.kubernetes, user)
    kubernetes.print_versions(programs)
    empty_folder(chosen.work)
    play(programs, chosen, chosen.file, [flag.replace("KUBERNETES", programs.folder) for flag in chosen.flags])


if __name__ == "__main__":
    sys.exit(main())
