"""Upstream's e2e.test: lists its tests and runs chosen ones in several processes at a time."""

import json
import os
import queue
import re
import subprocess
import threading
import time


def full_name(report):
    return " ".join((report["ContainerHierarchyTexts"] or []) + [report["LeafNodeText"]])


def is_serial(name):
    return "[Serial]" in name or "[Disruptive]" in name


def patterns(file):
    """The regular expressions of a file: [(expression, the comment above it)]."""
    found, comment, fresh = [], [], True
    with open(file) as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("#"):
                comment = comment + [line[1:].strip()] if fresh else [line[1:].strip()]
                fresh = True
            elif line:
                found.append((re.compile(line), " ".join(comment)))
                fresh = False
            else:
                comment, fresh = [], True
    return found


def matching(names, file):
    """The names that a pattern of `file` matches: {name: the comment above the first pattern that matches}."""
    table = patterns(file)
    return {name: comment for name in names for expression, comment in reversed(table) if expression.search(name)}


class Suite:
    """The program e2e.test; `folder` receives its reports and logs. `flags` are passed to each run."""

    def __init__(self, program, folder, flags=()):
        self.program = program
        self.flags = flags
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def names(self):
        """All tests that are not disabled by default. Uses a dry run, which needs no API server."""
        report = os.path.join(self.folder, "all.json")
        subprocess.run([self.program, "--provider=skeleton", "--kubeconfig=/dev/null", "--ginkgo.dry-run",
                        "--ginkgo.json-report=" + report], capture_output=True, cwd=self.folder, timeout=120)
        return [full_name(each) for each in self._reports(report) if each["State"] == "passed"]

    @staticmethod
    def _reports(path):
        with open(path) as file:
            return [each for each in json.load(file)[0]["SpecReports"] if each["LeafNodeType"] == "It"]

    def run(self, way, kubeconfig, names, processes=4, deadline=240):
        """Runs tests; [Serial] and [Disruptive] ones one at a time after the others. `way` prefixes the file names.

        Returns {name: {"state": passed, failed, skipped, ..., "seconds": s, "message": text}}. Each process gets
        `deadline` seconds per test and is killed after that; its tests without a result get the state "lost".
        """
        results = {}
        parallel = sorted(name for name in names if not is_serial(name))
        serial = sorted(name for name in names if is_serial(name))
        for kind, chosen, workers in (("parallel", parallel, processes), ("serial", serial, 1)):
            batches = queue.SimpleQueue()
            size = max(1, min(12, len(chosen) // (4 * workers) + 1))
            # Tests with similar names take similar time: dealing them out to the batches keeps slow tests from
            # forming one long batch at the end.
            count = (len(chosen) + size - 1) // size
            for number in range(count):
                batches.put((f"{way}-{kind}-{number}", chosen[number::count]))
            threads = [threading.Thread(target=self._work, args=(batches, kubeconfig, results, deadline))
                       for _ in range(workers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return results

    def _work(self, batches, kubeconfig, results, deadline):
        while True:
            try:
                batch, names = batches.get_nowait()
            except queue.Empty:
                return
            found = self._run_batch(batch, kubeconfig, names, deadline)
            for name in names:
                results[name] = found.get(name, {"state": "lost", "seconds": 0, "message": f"see {batch}.log"})
            states = [each["state"] for each in (results[name] for name in names)]
            print(f"# {time.strftime('%H:%M:%S')} {batch}: {states.count('passed')} of {len(names)} passed", flush=True)

    def _run_batch(self, batch, kubeconfig, names, deadline):
        report = os.path.join(self.folder, batch + ".json")
        # Ginkgo matches "SUITE NAME".
        focus = "(" + "|".join(re.escape(name).replace("\\ ", " ") for name in names) + ")$"
        with open(os.path.join(self.folder, batch + ".log"), "w") as log:
            try:
                subprocess.run([
                    self.program, "--kubeconfig", kubeconfig, "--provider=skeleton", "--num-nodes=1",
                    "--allowed-not-ready-nodes=0", "--ginkgo.no-color", "--ginkgo.json-report=" + report,
                    "--ginkgo.focus=" + focus, "--ginkgo.timeout=2h", *self.flags],
                    stdout=log, stderr=log, cwd=self.folder, timeout=deadline * len(names))
            except subprocess.TimeoutExpired:
                log.write("killed: it took too long\n")
        try:
            reports = self._reports(report)
        except OSError:
            return {}
        wanted = set(names)
        return {full_name(each): {
            "state": each["State"], "seconds": each.get("RunTime", 0) / 1e9,
            "message": (each.get("Failure") or {}).get("Message", "")[:600]}
            for each in reports if full_name(each) in wanted}
