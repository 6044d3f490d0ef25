"""Processes of a site: started in the background with a log each, ended by pid."""

import os
import select
import signal
import subprocess
import time


def looks(seconds, every=0.1):
    """Yields the seconds since the start, again and again until `seconds` have passed, and at least once.

    What a program of somebody else does raises no event that could be waited for; this is the only pause between
    two looks at it.
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
        """Ends one process and waits for its end. Nothing happens when it has ended already."""
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
    """The text of /proc/PID/NAME with NULs as spaces; empty when the process has gone."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def container_pids(contains="kubepods"):
    """Processes in a container of the kubelet: those whose cgroup has `contains` in its path."""
    return [pid for pid in all_pids() if contains in read_proc(pid, "cgroup")]


def kill_pids(pids, seconds=10):
    """kill -9, and waits until they are gone. Another process may be their parent."""
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
    """Proportional and private memory of a process in KiB, from smaps_rollup."""
    fields = {}
    for line in read_proc(pid, "smaps_rollup").splitlines():
        name, _, value = line.partition(":")
        if value.strip().endswith("kB"):
            fields[name] = int(value.split()[0])
    private = fields.get("Private_Clean", 0) + fields.get("Private_Dirty", 0)
    return fields.get("Pss", 0), private
