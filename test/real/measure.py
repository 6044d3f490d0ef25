"""Measurements on a site: latencies over one persistent connection, memory, bytes, writes to disk."""

import shutil
import signal
import socket
import subprocess
import time

from processes import looks, pss_kib, read_proc


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Connection:
    """One persistent HTTP/1.1 connection with as little Python overhead as possible."""

    def __init__(self, api):
        self.headers = "".join(f"{name}: {value}\r\n" for name, value in api.headers().items())
        self.host = api.url.netloc
        self.socket = socket.create_connection((api.url.hostname, api.url.port), 10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if api.url.scheme == "https":
            self.socket = api.context().wrap_socket(self.socket, server_hostname=api.url.hostname)

    def get(self, path):
        """Sends a GET and reads its answer. Returns (seconds, status, bytes of the body)."""
        request = f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n{self.headers}\r\n".encode()
        start = time.perf_counter()
        self.socket.sendall(request)
        data = bytearray()
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._receive()
        head = bytes(data[:end]).lower()
        if b"transfer-encoding: chunked" in head:
            while not data.endswith(b"0\r\n\r\n"):
                data += self._receive()
        else:
            length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
            while len(data) < end + 4 + length:
                data += self._receive()
        return time.perf_counter() - start, int(head.split()[1]), len(data) - end - 4

    def _receive(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the server closed the connection")
        return data


def latencies(apis, path, rounds=400):
    """{name: (p50, p99) in ms} of GETs of a path at several servers.

    The servers take turns, so that changes of the machine's load affect all of them alike.
    """
    connections = {name: Connection(api) for name, api in apis.items()}
    times = {name: [] for name in apis}
    for number in range(rounds + 20):
        for name, connection in connections.items():
            seconds, status, _ = connection.get(path)
            if status != 200:
                raise RuntimeError(f"{name}: {path}: {status}")
            if number >= 20:  # the first 20 warm up
                times[name].append(seconds * 1000)
    return {name: (percentile(each, 0.5), percentile(each, 0.99)) for name, each in times.items()}


def written_bytes(pid):
    """Bytes that a process has caused to be written to disks, since it started."""
    for line in read_proc(pid, "io").splitlines():
        if line.startswith("write_bytes:"):
            return int(line.split()[1])
    return 0


class SyncCount:
    """Counts a process's fsync and fdatasync calls with strace, from the start of the object until count()."""

    def __init__(self, pid, log):
        self.log = log
        self.strace = None
        if shutil.which("strace"):
            self.strace = subprocess.Popen(
                ["strace", "-f", "-q", "-e", "trace=fsync,fdatasync", "-o", log, "-p", str(pid)],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in looks(10, every=0.02):  # until strace has attached
                if "TracerPid:\t0\n" not in read_proc(pid, "status"):
                    break

    def count(self):
        """Ends strace. Returns the number of calls, or None without strace."""
        if self.strace is None:
            return None
        self.strace.send_signal(signal.SIGINT)
        self.strace.wait(10)
        with open(self.log) as file:
            return sum("sync(" in line for line in file)


def memory(site, name):
    """(PSS, private) of a process in MB."""
    pss, private = pss_kib(site.processes.pid(name))
    return pss / 1024, private / 1024
