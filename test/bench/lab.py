"""Measures holdfast-lab: lab.py BIN [sim | apiserver] [--nodes N] [--kubernetes DIR]

sim: fleets of 1,000 to N nodes (default: 100,000) with three pods on each node for one virtual day, in which 30 % of
the nodes are cut off for two hours; and one site of three nodes with faults. apiserver: creates, updates and deliveries
of watches, next to those of kube-apiserver with etcd, which test/real/kubernetes.py finds. Both print a table; the
growth with the number of nodes is drawn into build/bench/lab.svg. Times are CPU time (user and system), so that other
work on the machine does not count.
"""

import argparse
import json
import math
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import threading

import sim_endurance

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
import kube_server  # noqa: E402
import kubernetes  # noqa: E402
from api import Api, Refused  # noqa: E402
from processes import Processes, looks  # noqa: E402

SIZES = [1_000, 3_000, 10_000, 30_000, 100_000]
SITES = 100
CUT_SITES = 30
ROW = "{:<46}  {:>14}  {:>14}  {}"


def row(what, ours, budget="", theirs=""):
    print(ROW.format(what, ours, budget, theirs), flush=True)


def run(command, **options):
    """Runs a program; returns its CPU seconds, peak memory in MB and standard error."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, **options)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode()
    if process.returncode != 0:
        sys.exit(f"lab.py: {' '.join(command)} failed:\n{text}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


# ------------------------------------------------------------------------------------- simulator


def fleet(nodes):
    names = [f"s{number:03}" for number in range(SITES)]
    sites = "\n".join(f"  - {{name: {name}, nodes: {nodes // SITES}}}" for name in names)
    return f"""name: fleet
duration: 24h
fleet:
  sites:
{sites}
workloads:
- {{daemonset: proxy}}
- {{daemonset: logs}}
- {{daemonset: app}}
events:
- {{at: 8h, for: 2h, cut: [{', '.join(names[:CUT_SITES])}]}}
"""


def simulate(program, text, folder):
    """Plays a scenario; returns CPU seconds, MB, events and skipped renewals."""
    file = folder / "scenario.yaml"
    file.write_text(text)
    seconds, memory, errors = run([program, "sim", str(file), "--skip-heartbeats"])
    words = next(line for line in errors.splitlines() if "renewals skipped" in line).split()
    return seconds, memory, int(words[1]), int(words[3])


def measure_sim(program, most, folder):
    rows = []
    for nodes in [size for size in SIZES if size <= most]:
        seconds, memory, events, skipped = simulate(program, fleet(nodes), folder)
        rows.append({"nodes": nodes, "seconds": seconds, "mb": memory, "events": events})
        is_largest = nodes == SIZES[-1]
        row(f"{nodes:,} nodes, {3 * nodes:,} pods, a day: CPU time", f"{seconds:.1f} s", "60 s" if is_largest else "")
        row("  memory", f"{memory:.0f} MB", "1024 MB" if is_largest else "")
        row("  events; each second of CPU time", f"{events:,}", "", f"{events / seconds:,.0f}")
        row("  renewals of quiet nodes, skipped", f"{skipped:,}")
    draw(rows, pathlib.Path("build/bench/lab.svg"))
    text = sim_endurance.scenario(1)
    seconds, memory, events, _ = simulate(program, text, folder)
    row(f"one site of three nodes with faults, {sim_endurance.DAYS} days: CPU time", f"{seconds:.1f} s")
    row("  times real time", f"{sim_endurance.DAYS * 86400 / seconds:,.0f}", "50,000")
    row("  events; each second of CPU time", f"{events:,}", "", f"{events / seconds:,.0f}")


def draw(rows, file):
    """Three charts side by side: CPU time, memory and events against nodes; both axes are logarithmic."""
    charts = [("CPU time, s", "seconds"), ("memory, MB", "mb"), ("events", "events")]
    width, height, left, bottom = 300, 260, 60, 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * len(charts)} {height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{width * len(charts)}" height="{height}" fill="white"/>']
    for number, (title, key) in enumerate(charts):
        low = math.floor(math.log10(min(each[key] for each in rows)))
        high = max(low + 1, math.ceil(math.log10(max(each[key] for each in rows))))

        def at(nodes, value, base=number * width, low=low, high=high):
            x = base + left + (math.log10(nodes) - 3) / 2 * (width - left - 20)
            return x, height - bottom - (math.log10(value) - low) / (high - low) * (height - bottom - 40)

        out.append(f'<text x="{number * width + left}" y="20" font-weight="bold">{title}</text>')
        for power in range(low, high + 1):
            x, y = at(1000, 10**power)
            out.append(f'<path d="M{x:.0f} {y:.0f}h{width - left - 20}" stroke="#ddd"/>'
                       f'<text x="{x - 6:.0f}" y="{y + 4:.0f}" text-anchor="end">{10**power:,g}</text>')
        for nodes, label in [(1_000, "1k"), (10_000, "10k"), (100_000, "100k")]:
            x, y = at(nodes, 10**low)
            out.append(f'<text x="{x:.0f}" y="{y + 18:.0f}" text-anchor="middle">{label}</text>')
        points = [at(each["nodes"], each[key]) for each in rows]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="#1f6feb" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#1f6feb"/>' for x, y in points]
        out.append(f'<text x="{number * width + left + 100}" y="{height - 4}" text-anchor="middle">nodes</text>')
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(out + ["</svg>"]) + "\n")
    print(f"growth: {file}")


# ------------------------------------------------------------------------------------ API servers


def measured(bench, kubeconfig, pids):
    done = subprocess.run([bench, "apiserver", kubeconfig, *map(str, pids)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def await_line(server, text):
    """Reads what the server prints until a line has `text`, and in the background from then on."""
    read = b""
    while text not in read:
        ready, _, _ = select.select([server.stdout], [], [], 30)
        line = os.read(server.stdout.fileno(), 4096) if ready else b""
        if not line:
            sys.exit(f"lab.py: holdfast-lab does not start:\n{read.decode()}")
        read += line
    threading.Thread(target=shutil.copyfileobj, args=(server.stdout, open(os.devnull, "wb")), daemon=True).start()


def measure_lab(binaries, folder, durable):
    work = folder / f"lab-{durable}"
    kubeconfig = work / "kubeconfig"
    work.mkdir(mode=0o700)
    server = subprocess.Popen(
        [binaries / "holdfast-lab", "apiserver", f"--data={work / 'data'}", "--listen=127.0.0.1:0",
         f"--tls-dir={work / 'tls'}", f"--write-kubeconfig={kubeconfig}", "--controllers=false",
         f"--durable={'true' if durable else 'false'}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        await_line(server, b"apiserver listening")
        return measured(binaries / "holdfast-bench", kubeconfig, [server.pid])
    finally:
        server.terminate()
        server.wait()


def measure_real(binaries, programs, folder, durable):
    """Measures kube-apiserver with an etcd that syncs each write if `durable`."""
    work = folder / f"real-{durable}"
    work.mkdir(mode=0o700)
    processes = Processes(str(work))
    port, *etcd_ports = kube_server.free_ports(3)
    server = kube_server.KubeServer(programs, processes, str(work), port, etcd_ports)
    try:
        server.make_certificates()
        server.start_etcd(syncs=durable)
        server.start()
        kubeconfig = server.write_kubeconfig("admin", token=kube_server.ADMIN_TOKEN)
        await_ready(server, processes)
        return measured(binaries / "holdfast-bench", kubeconfig, [processes.pid("apiserver"), processes.pid("etcd")])
    finally:
        processes.kill_all()


def await_ready(server, processes):
    api = Api(server.url, os.path.join(server.pki, "ca.crt"), kube_server.ADMIN_TOKEN)
    found = ""
    for _ in looks(120):
        try:
            api.get("/readyz")
            return
        except (OSError, Refused) as error:
            found = error
        for name in ("etcd", "apiserver"):
            if not processes.is_running(name):
                sys.exit(f"lab.py: {name} has ended:\n{processes.log(name)[-2000:]}")
    sys.exit(f"lab.py: kube-apiserver is not ready: {found}")


def measure_apiserver(binaries, programs, folder):
    for durable, says in [(False, "survives kill -9"), (True, "survives a power cut")]:
        ours = measure_lab(binaries, folder, durable)
        theirs = measure_real(binaries, programs, folder, durable) if programs else {}
        print(f"API server, each write {says}; 32 requests at once, ConfigMaps of 0.9 KB")

        def compare(what, key, form="{:,.0f}", ours=ours, theirs=theirs):
            row("  " + what, form.format(ours[key]), "", form.format(theirs[key]) if theirs else "not measured")

        compare("creates each second (50,000)", "creates_per_s")
        compare("updates each second (10,000)", "updates_per_s")
        compare("deliveries to 20 watchers each second", "deliveries_per_s")
        compare("CPU time of a create, us", "creates_cpu_us")
        compare("CPU time of an update, us", "updates_cpu_us")
        compare("CPU time of a delivery, us", "deliveries_cpu_us", "{:,.1f}")
        compare("memory with 50,000 objects, MiB (PSS)", "memory_mib")


def find_kubernetes(given):
    """The programs of kube-apiserver and etcd. Without them it prints what is missing, and returns None."""
    try:
        programs = kubernetes.find(kubernetes.specified_folder(given, os.environ), kubernetes.NEEDS["bench_lab"],
                                   os.environ)
    except kubernetes.Missing as missing:
        for line in missing.lines:
            print(f"SKIPPED: kube-apiserver is not measured: {line}", flush=True)
        return None
    except kubernetes.WrongInput as error:
        kubernetes.exit_because(error)
    kubernetes.print_versions(programs)
    return programs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("part", nargs="?", choices=["sim", "apiserver"])
    parser.add_argument("--nodes", type=int, default=SIZES[-1])
    kubernetes.add_option(parser)
    arguments = parser.parse_args()
    programs = find_kubernetes(arguments.kubernetes) if arguments.part != "sim" else None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        print(ROW.format("what", "holdfast-lab", "budget", "kube-apiserver"))
        if arguments.part in (None, "sim"):
            measure_sim(str(arguments.bin / "holdfast-lab"), arguments.nodes, folder)
        if arguments.part in (None, "apiserver"):
            measure_apiserver(arguments.bin.resolve(), programs, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
