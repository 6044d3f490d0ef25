"""Runs a site in its own namespaces: network, mounts, processes, control groups.

The site uses well-known ports, creates bridges and mounts volumes. The namespaces isolate all of that from the machine,
and all processes in them end when the first one ends. The kubelet removes every pod control group that it does not
know, with the processes in it, so it must not see the machine's groups. This isolation of control groups works only
with cgroup v1: where all controllers are in cgroup v2, the kubelet sees the groups of the machine, because a v2 group
that contains processes cannot delegate controllers.
"""

import os
import shutil
import signal
import subprocess
import sys

from processes import looks

INSIDE = "HOLDFAST_REAL_INSIDE"
NODE_ADDRESS = "10.99.0.2"


def enter():
    """Runs the program again in namespaces of its own and exits with its exit code; returns inside of them."""
    if os.environ.get(INSIDE):
        _mount_cgroups()
        _network()
        return
    command = ["unshare", "--net", "--mount", "--pid", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child",
               "--mount-proc", sys.executable, *sys.argv]
    groups = _make_cgroups()
    inner = subprocess.Popen(command, env={**os.environ, INSIDE: "1"}, preexec_fn=lambda: _join(groups))
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda *_: inner.kill())  # this also ends every process in the namespaces
    code = inner.wait()
    _remove(groups)
    sys.exit(code if code >= 0 else 1)


def _network():
    for command in ("ip link set lo up", "ip link add node0 type veth peer name wire0", "ip link set node0 up",
                    "ip link set wire0 up", f"ip address add {NODE_ADDRESS}/24 dev node0",
                    "ip route add default via 10.99.0.1 dev node0", "sysctl -qw net.ipv4.ip_forward=1",
                    "hostname edge1",
                    "mount --make-rshared /"):  # containers need mount propagation; unshare made it private
        subprocess.run(command.split(), check=True)


def _hierarchies():
    """The mounts of cgroup v1 and of a cgroup v2 next to them: [(folder, type, options)]. Empty without cgroup v1."""
    with open("/proc/mounts") as file:
        mounts = [line.split() for line in file]
    generic = {"rw", "relatime", "nosuid", "nodev", "noexec", "nsdelegate"}
    found = [(folder, kind, ",".join(set(options.split(",")) - generic))
             for _, folder, kind, options, *_ in mounts if kind in ("cgroup", "cgroup2")]
    return found if any(kind == "cgroup" for _, kind, _ in found) else []


def _make_cgroups():
    """Makes a control group in each hierarchy. Returns their folders."""
    groups = []
    for folder, _, _ in _hierarchies():
        group = os.path.join(folder, f"holdfast-real-{os.getpid()}")
        os.makedirs(group, exist_ok=True)
        groups.append(group)
        for name in ("cpuset.cpus", "cpuset.mems"):  # empty in a new group; processes cannot join before they are set
            if os.path.exists(os.path.join(group, name)):
                shutil.copyfile(os.path.join(folder, name), os.path.join(group, name))
    return groups


def _join(groups):
    for group in groups:
        with open(os.path.join(group, "cgroup.procs"), "w") as file:
            file.write("0")


def _mount_cgroups():
    """Mounts the hierarchies again: their roots are this namespace's own groups."""
    for folder, kind, options in _hierarchies():
        subprocess.run(["umount", folder], check=True)
        subprocess.run(["mount", "-t", kind, *(["-o", options] if options else []), kind, folder], check=True)


def _remove(groups):
    """Removes the control groups and the groups that pods left below them, once their last processes have ended."""
    for _ in looks(10):
        for group in groups:
            for folder, _, _ in os.walk(group, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass  # a process in it is about to end
        if not any(os.path.exists(group) for group in groups):
            return
