"""Plays years of one site with three nodes and faults in the simulator: sim_endurance.py PROGRAM HOURS [SEED]

Each run is one scenario of half a year with about two faults a day, drawn from a seed. As many processes run as there
are cores. A run that fails leaves its scenario in build/endurance, and its command is printed.
"""

import os
import pathlib
import random
import subprocess
import sys
import time

DAYS = 182
FAULTS_A_DAY = 2
MINUTES = 24 * 60
AFTER_FAULT = 20  # quiet minutes, more than --converge-within
FOLDER = pathlib.Path("build/endurance")


def fault(draw, at):
    """One event in YAML; all of them end within three hours."""
    node = f"site-{draw.randint(1, 3)}"
    where = draw.choice(["site", "site", node])
    length = draw.choice([draw.randint(5, 300), draw.randint(300, 10_000)])
    choices = [
        f"cut: {where}, direction: {draw.choice(['both', 'both', 'up', 'down'])}, "
        f"kind: {draw.choice(['black-hole', 'refuse', 'reset'])}",
        f"flap: {where}, up: {draw.randint(2, 90)}s, down: {draw.randint(2, 90)}s",
        f"power-loss: {where}",
        f"kill: {node}, process: {draw.choice(['edge', 'kubelet'])}",
        f"clock-step: {where}, by: {draw.choice(['-', ''])}{draw.randint(1, 2000)}m",
        f"disk-full: {node}",
        f"degrade: {where}, link: {draw.choice(['satellite', 'nb-iot', '4g'])}",
        "kill: cloud",
        "pause: api-server",
        f"api-server: {draw.choice(['unavailable', 'overloaded', 'silent-watch', 'gone'])}",
    ]
    chosen = draw.choice(choices)
    lasts = "" if chosen.startswith("clock-step") else f"for: {length}s, "
    return f"- {{at: {at}m, {lasts}{chosen}}}"


def scenario(seed):
    draw = random.Random(seed)
    between = MINUTES // FAULTS_A_DAY
    busy = 10_000 // 60 + AFTER_FAULT
    events = [fault(draw, base + draw.randint(0, between - busy))
              for base in range(between, (DAYS - 1) * MINUTES, between)]
    autonomous = draw.choice(["{node.beta.openyurt.io/autonomy: 'true'}", "{}"])
    return f"""name: endurance
duration: {DAYS * 24}h
seed: {seed}
fleet:
  sites: [{{name: site, nodes: 3, annotations: {autonomous}}}]
workloads:
- {{deployment: shop, replicas: 4}}
- {{statefulset: db, replicas: 2}}
- {{daemonset: log}}
events:
""" + "\n".join(events) + "\n"


def start(program, seed):
    file = FOLDER / f"{seed}.yaml"
    file.write_text(scenario(seed))
    command = [program, "sim", str(file), "--skip-heartbeats"]
    out = open(FOLDER / f"{seed}.log", "wb")
    return subprocess.Popen(command, stdout=out, stderr=out), file, command


def main():
    program, hours = sys.argv[1], float(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(10**9)
    print(f"half years of three nodes for {hours:g} h from seed {seed}", flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    began, failed, runs, cpu = time.monotonic(), [], 0, 0.0
    running = {}
    while running or (time.monotonic() - began < hours * 3600 and not failed):
        while len(running) < os.cpu_count() and time.monotonic() - began < hours * 3600 and not failed:
            process, file, command = start(program, seed)
            running[process.pid] = process, file, command
            seed += 1
        pid, status, usage = os.wait4(-1, 0)
        process, file, command = running.pop(pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu += usage.ru_utime + usage.ru_stime
        runs += 1
        if process.returncode != 0:
            failed.append(command)
            print((FOLDER / f"{file.stem}.log").read_text(), end="")
            print("play it again:", " ".join(command), flush=True)
        else:
            file.unlink()
            (FOLDER / f"{file.stem}.log").unlink()
    took, years = time.monotonic() - began, runs * DAYS / 365
    simulated = runs * DAYS * 24 * 3600
    speed = simulated / max(cpu, 1e-9)
    print(f"{years:.1f} site-years in {took:.0f} s and {cpu:.0f} s of CPU time: {speed:,.0f} times real time on a core; "
          f"{years / max(took, 1e-9) * 8 * 3600:.0f} site-years in 8 hours")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
