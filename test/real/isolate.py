"""Namespaces of its own for a site: network, mounts, processes.

The site uses the well-known ports, makes bridges and mounts volumes. The namespaces keep all of that from the machine,
and every process in them ends with the first one. Control groups are not separated: one site at a time on a machine.
"""

import fcntl
import glob
import os
import signal
import subprocess
import sys

INSIDE = "HOLDFAST_REAL_INSIDE"
LOCK = "/run/lock/holdfast-real"
NODE_ADDRESS = "10.99.0.2"


def enter():
    """Runs the program again in namespaces of its own and exits with its exit code; returns inside of them."""
    if os.environ.get(INSIDE):
        _network()
        return
    lock = open(LOCK, "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("waiting for another site on this machine to end", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    command = ["unshare", "--net", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc",
               sys.executable, *sys.argv]
    inner = subprocess.Popen(command, env={**os.environ, INSIDE: "1"})
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda *_: inner.kill())  # and with it, everything in the namespaces
    code = inner.wait()
    remove_cgroups()
    sys.exit(code if code >= 0 else 1)


def _network():
    for command in ("ip link set lo up", "ip link add node0 type veth peer name wire0", "ip link set node0 up",
                    "ip link set wire0 up", f"ip address add {NODE_ADDRESS}/24 dev node0",
                    "ip route add default via 10.99.0.1 dev node0", "sysctl -qw net.ipv4.ip_forward=1",
                    "hostname edge1",
                    "mount --make-rshared /"):  # among the containers; unshare has made it private
        subprocess.run(command.split(), check=True)


def remove_cgroups():
    """Removes the empty control groups that the kubelet's pods have left."""
    for top in glob.glob("/sys/fs/cgroup/*/kubepods") + glob.glob("/sys/fs/cgroup/kubepods"):
        for folder, _, _ in os.walk(top, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass  # in use: not ours
