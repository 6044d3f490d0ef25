#!/usr/bin/env python3
"""Finds the programs of a real Kubernetes, and says what is missing.

Kubernetes' own programs are in DIR/bin. --kubernetes specifies DIR, or else the environment variable
HOLDFAST_KUBERNETES. etcd, containerd, runc and the CNI plugins are the distribution's: they are found in PATH and in
the folders in which Debian installs them.

    kubernetes.py PROGRAM [--kubernetes DIR]

checks that DIR has Kubernetes' own programs that PROGRAM of this folder needs (a key of NEEDS). Exits with 0 if it has,
2 if DIR is wrong, 77 if a program is missing or no DIR is specified.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

VARIABLE = "HOLDFAST_KUBERNETES"
SOURCE = f"--kubernetes or {VARIABLE}"  # cross/dev passes its argument on as the variable
SKIPPED = 77  # ctest shows a test with this exit code as skipped
WRONG_INPUT = 2
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
PLUGIN_FOLDERS = ("/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni")

# Kubernetes' own programs, and where people get them.
RELEASE = "Kubernetes releases contain it"
OWN = {"kube-apiserver": RELEASE, "kube-controller-manager": RELEASE, "kube-scheduler": RELEASE, "kubelet": RELEASE,
       "e2e.test": RELEASE, "agnhost": "Kubernetes' test image agnhost contains it"}
# The others, and the Debian packages that contain them.
SYSTEM = {"etcd": "etcd-server", "containerd": "containerd", "containerd-shim-runc-v2": "containerd",
          "ctr": "containerd", "runc": "runc", "busybox": "busybox-static", "kubectl": "kubernetes-client"}
PLUGINS = {name: "containernetworking-plugins" for name in ("bridge", "host-local", "loopback", "portmap")}

SERVER = ("kube-apiserver", "etcd")
RUNTIME = ("containerd", "containerd-shim-runc-v2", "ctr", "runc", "busybox", *PLUGINS)
SITE = (*SERVER, "kube-controller-manager", "kube-scheduler", "kubelet", *RUNTIME, "kubectl")
# What each program needs.
NEEDS = {
    "main": SITE,
    "bench": SITE,
    "record_kubelet": SITE,
    "conformance": (*SITE, "e2e.test", "agnhost"),
    "conformance_lab": ("e2e.test", "kubectl"),
    "run_scenario": ("kubelet", *RUNTIME),
    "run_scenario with Kubernetes' server": (*SERVER, "kube-controller-manager", "kubelet", *RUNTIME),
    "soak": (*SERVER, "kube-controller-manager", "kubelet", *RUNTIME),
    "bench_lab": SERVER,
}
# The programs whose versions are printed, if they are used.
VERSIONED = ("kube-apiserver", "kubelet", "e2e.test", "etcd", "containerd", "runc")


class WrongInput(Exception):
    """What was specified cannot be used; the message names it."""


class Missing(Exception):
    """Nothing was specified, or programs are missing. `lines` has a line for each."""

    def __init__(self, lines):
        super().__init__("\n".join(lines))
        self.lines = lines


class Programs:
    """The programs that one command needs. `folder` is DIR, `plugins` the folder of the CNI plugins."""

    def __init__(self, folder, paths, plugins):
        self.folder = folder
        self.plugins = plugins
        self._paths = paths

    def __contains__(self, name):
        return name in self._paths

    def path(self, name):
        return self._paths[name]

    def versions(self):
        """What the programs print with --version, a line for each. Raises WrongInput if one cannot be run."""
        return [f"{name}: {_version(self._paths[name])}" for name in VERSIONED if name in self._paths]

    def minor(self, name):
        """The minor version of one of Kubernetes' own programs: 36 for "Kubernetes v1.36.2". Raises WrongInput if it
        says none."""
        printed = _version(self._paths[name])
        version = re.search(r"\bv?1\.(\d+)\b", printed)
        if not version:
            raise WrongInput(f"{self._paths[name]} --version: {printed[:200]}: expected a version such as v1.36.2")
        return int(version[1])


def _version(path):
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WrongInput(f"{path} --version: {error}") from error
    lines = (done.stdout or done.stderr).splitlines()
    if done.returncode != 0:
        raise WrongInput(f"{path} --version: exit code {done.returncode}: {' '.join(lines)[:200]}")
    return lines[0] if lines else "prints no version"


def specified_folder(given, environment):
    """The folder that was specified, by `given` (the value of --kubernetes, or None) or else by the environment."""
    source, folder = ("--kubernetes", given) if given is not None else (SOURCE, environment.get(VARIABLE))
    if folder is None:
        raise Missing([f"no Kubernetes: specify a folder that has bin/ with its programs, with --kubernetes DIR or "
                       f"{VARIABLE}"])
    if not folder:
        raise WrongInput(f"{source} is empty; it must be a folder that has bin/ with Kubernetes' programs")
    if not os.path.isdir(folder):
        raise WrongInput(f"{source}: {folder} " + ("is not a folder" if os.path.exists(folder) else "does not exist"))
    return os.path.abspath(folder)


def find(folder, needed, environment, plugin_folders=PLUGIN_FOLDERS, system_folders=SYSTEM_FOLDERS):
    """Finds the `needed` programs; returns Programs. Raises Missing, or WrongInput for a file that is no program."""
    paths, missing = {}, []
    searched = [each for each in environment.get("PATH", "").split(":") if each]
    searched += [each for each in system_folders if each not in searched]
    plugins = next((each for each in plugin_folders if all(shutil.which(name, path=each) for name in PLUGINS)), "")
    for name in needed:
        if name in OWN:
            paths[name] = os.path.join(folder, "bin", name)
            if not os.path.exists(paths[name]):
                missing.append(f"{paths[name]} is missing; {OWN[name]}")
            elif not os.path.isfile(paths[name]) or not os.access(paths[name], os.X_OK):
                raise WrongInput(f"{paths[name]} is not an executable file")
        elif name in PLUGINS:
            if not plugins:
                missing.append(f"the CNI plugin {name} is missing, or others of {', '.join(PLUGINS)}, in "
                               f"{', '.join(plugin_folders)}; the Debian package {PLUGINS[name]} contains them")
                plugins = "reported"
        else:
            paths[name] = shutil.which(name, path=":".join(searched))
            if not paths[name]:
                missing.append(f"{name} is missing in {', '.join(searched)}; the Debian package {SYSTEM[name]} "
                               "contains it")
    if missing:
        raise Missing(missing)
    return Programs(folder, paths, plugins)


def add_option(parser):
    parser.add_argument("--kubernetes", metavar="DIR",
                        help=f"folder that has bin/ with Kubernetes' own programs; default: {VARIABLE}")


def programs_or_exit(given, user, root=True):
    """The programs that `user`, a key of NEEDS, needs. Without them it ends this program, and prints why."""
    try:
        programs = find(specified_folder(given, os.environ), NEEDS[user], os.environ)
        if root and os.geteuid() != 0:
            raise Missing(["the real Kubernetes needs root"])
        return programs
    except (Missing, WrongInput) as error:
        exit_because(error)


def print_versions(programs):
    try:
        for line in programs.versions():
            print(f"# {line}", flush=True)
    except WrongInput as error:
        exit_because(error)


def exit_because(error):
    """Ends this program with the message of WrongInput or the lines of Missing."""
    if isinstance(error, WrongInput):
        print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
        sys.exit(WRONG_INPUT)
    for line in error.lines:
        print(f"SKIPPED: {line}", flush=True)
    sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", choices=NEEDS)
    add_option(parser)
    chosen = parser.parse_args()
    try:
        own = [name for name in NEEDS[chosen.program] if name in OWN]
        find(specified_folder(chosen.kubernetes, os.environ), own, os.environ)
    except (Missing, WrongInput) as error:
        exit_because(error)


if __name__ == "__main__":
    main()
