"""Processes of a site: started in the background, each with a log, and ended by process ID."""

import os
import select
import signal
import subprocess
import time


def looks(seconds, every=0.1):
    """Yields the seconds since the start, every `every` seconds until `seconds` have passed, at least once.

    Programs that are not ours offer no event to wait for; callers poll them in this loop, which is the only place
    that sleeps between two checks.
    """
    start = time.monotonic()
    while True:
        took = time.monotonic() - start
        yield took
        if took > seconds:
            return
        time.sleep(every)


class Processes:
    """The processes that a site has started, by name. Each one writes FOLDER/NAME.log."""

    def __init__(self, folder):
        self.folder = folder
        self.running = {}  # name -> Popen

    def start(self, name, argv, env=None):
        """Starts argv in the background. Its log is appended to."""
        log = open(os.path.join(self.folder, name + ".log"), "ab")
        environment = {**os.environ, **(env or {})}
        self.running[name] = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=self.folder)
        log.close()
        return self.running[name]

    def is_running(self, name):
        process = self.running.get(name)
        return process is not None and process.poll() is None

    def pid(self, name):
        return self.running[name].pid

    def kill(self, name, sign=signal.SIGKILL):
        """Ends one process and waits for its end. Does nothing if it is not running."""
        process = self.running.pop(name, None)
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(sign)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill_all(self):
        for name in reversed(list(self.running)):
            self.kill(name)

    def log(self, name):
        try:
            with open(os.path.join(self.folder, name + ".log"), errors="replace") as file:
                return file.read()
        except OSError:
            return ""


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def read_proc(pid, name):
    """The text of /proc/PID/NAME with NULs as spaces; empty when the process no longer exists."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def container_pids(contains="kubepods"):
    """The process IDs in the kubelet's containers: those whose cgroup path contains `contains`."""
    return [pid for pid in all_pids() if contains in read_proc(pid, "cgroup")]


def kill_pids(pids, seconds=10):
    """Sends SIGKILL and waits for all, at most `seconds`. They need not be children of this process."""
    end = time.monotonic() + seconds
    killed = []
    for pid in pids:
        try:
            killed.append(os.pidfd_open(pid))
            signal.pidfd_send_signal(killed[-1], signal.SIGKILL)
        except ProcessLookupError:
            pass
    for pidfd in killed:
        ended = select.poll()
        ended.register(pidfd, select.POLLIN)
        ended.poll(max(0, 1000 * (end - time.monotonic())))
        os.close(pidfd)


def pss_kib(pid):
    """(proportional, private) memory of a process in KiB, from smaps_rollup."""
    fields = {}
    for line in read_proc(pid, "smaps_rollup").splitlines():
        name, _, value = line.partition(":")
        if value.strip().endswith("kB"):
            fields[name] = int(value.split()[0])
    private = fields.get("Private_Clean", 0) + fields.get("Private_Dirty", 0)
    return fields.get("Pss", 0), private


def memory_peak_kib(pid):
    """The most memory that a process has had resident so far, in KiB."""
    for line in read_proc(pid, "status").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise RuntimeError(f"process {pid} does not exist")
