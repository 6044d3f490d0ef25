#!/usr/bin/env python3
"""Shows that the simulator finds bugs: builds holdfast-lab with one deliberate bug at a time and searches.

    mutate.py [NAME...]             test/sim/mutations: random scenarios for at most five minutes each
    mutate.py --upstream [NAME...]  test/sim/upstream: bugs of Kubernetes, OpenYurt and KubeEdge, 60 seconds each
    mutate.py --check               only says which patches of the two do not fit the tree; builds nothing

A bug is a patch for this tree. It is applied to a copy in build/mutations, never to the tree itself. Next to a patch
NAME.patch there may be a scenario NAME.yaml: then that is played instead of random ones. The first run, `control`, has
no bug: it must find nothing in the same time, and in none of the scenarios. Exit code 0: as many as promised were
found. A patch that does not apply or not compile is an error.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Another folder below build lets two runs go on side by side.
WORK = ROOT / "build" / os.environ.get("MUTATIONS", "mutations")
TREE = WORK / "tree"
LAB = TREE / "build" / "dev" / "bin" / "holdfast-lab"
FIRST_SEED = 1
CONTROL = "control"


class Failed(Exception):
    """What stops everything, with the name of the patch."""


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def copy_tree():
    """Makes the copy equal to the tree. Files that are equal keep their times, so that little is built again."""
    listed = run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True)
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    for name in names:
        source, target = ROOT / name, TREE / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    known = set(names)
    for path in TREE.rglob("*"):
        name = path.relative_to(TREE).as_posix()
        if path.is_file() and not name.startswith("build/") and name not in known:
            path.unlink()


def apply(patch):
    """The patch must fit exactly. Git must not look for the repository that contains the copy."""
    outside = dict(os.environ, GIT_CEILING_DIRECTORIES=str(WORK))
    done = run(["git", "apply", "--whitespace=nowarn", patch], cwd=TREE, env=outside)
    if done.returncode != 0:
        raise Failed(f"{patch.stem}: the patch does not apply\n{done.stdout}")


def build(name):
    if not (TREE / "build" / "dev" / "build.ninja").exists():
        run(["cmake", "--preset", "dev"], cwd=TREE, check=True)
    before = digest(LAB)
    done = run(["cmake", "--build", "--preset", "dev", "--target", "holdfast-lab"], cwd=TREE)
    if done.returncode != 0:
        raise Failed(f"{name}: it does not compile\n{done.stdout[-4000:]}")
    if name != CONTROL and digest(LAB) == before:
        raise Failed(f"{name}: the program is the same as without the patch")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def play(command, seconds):
    """Returns the output, the exit code (None: the time is over) and the seconds that it took."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=TREE)
    try:
        output, _ = process.communicate(timeout=seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        output, _ = process.communicate()
        code = None
    return output, code, time.monotonic() - began


def verdict(output, code, seconds):
    """What a run has found: the invariant or the expectation that is violated, or how it crashed."""
    row = {"found": False, "what": "", "seed": "", "seconds": round(seconds, 1)}
    violated = re.search(r"^ *\S+ VIOLATION ([^:\n]+)", output, re.MULTILINE)
    seed = re.search(r"^seed (\d+): violated", output, re.MULTILINE)
    unmet = re.search(r"^NOT MET +(.+)", output, re.MULTILINE)
    if violated:
        row |= {"found": True, "what": violated.group(1), "seed": seed.group(1) if seed else ""}
    elif unmet and code == 1:
        row |= {"found": True, "what": "expected: " + unmet.group(1)}
    elif code is not None and code < 0:
        lines = [line for line in output.splitlines() if line.strip()]
        row |= {"found": True, "what": f"crash: {lines[-1] if lines else signal.Signals(-code).name}"}
    elif code not in (0, None):
        raise Failed(f"holdfast-lab ended with {code}:\n{output[-2000:]}")
    return row


def options_of(scenario):
    """A scenario may need flags of `sim`, which a comment names: "# options: --converge-within=1m"."""
    found = re.search(r"^# options: (.+)$", scenario.read_text(), re.MULTILINE)
    return found.group(1).split() if found else []


def search(scenario, seconds):
    if scenario:
        return verdict(*play([LAB, "sim", scenario, *options_of(scenario)], seconds))
    # The program's own limit is in minutes; a longer one than ours, so that ours ends it.
    minutes = str(seconds // 60 + 1)
    return verdict(*play([LAB, "fuzz", f"--minutes={minutes}", f"--seed={FIRST_SEED}"], seconds))


def about(patch):
    """The text above the patch, on one line."""
    text = patch.read_text().split("\n--- ", 1)[0]
    return " ".join(text.split())


def control(scenarios, seconds):
    """Without a bug nothing may be found, neither by the search nor by the scenarios."""
    build(CONTROL)
    for scenario in scenarios:
        row = search(scenario, seconds)
        if row["found"]:
            raise Failed(f"{CONTROL}: {scenario.name} fails without a bug: {row['what']}")
    row = search(None, seconds)
    if row["found"]:
        raise Failed(f"{CONTROL}: seed {row['seed']} fails without a bug: {row['what']}")
    return row | {"name": CONTROL, "about": "no bug"}


def mutate(patch, scenario, seconds):
    apply(patch)
    try:
        build(patch.stem)
        return search(scenario, seconds) | {"name": patch.stem, "about": about(patch)}
    finally:
        copy_tree()


def line_of(row):
    found = "yes" if row["found"] else "no"
    return f"| {row['name']} | {row['about']} | {found} | {row['what']} | {row['seconds']} | {row['seed']} |"


def print_table(rows):
    print("| bug | what it breaks | found | by | seconds | seed |\n|---|---|---|---|---|---|")
    for row in rows:
        print(line_of(row))


def chosen(folder, names):
    patches = sorted(folder.glob("*.patch"))
    known = {patch.stem for patch in patches}
    for name in names:
        if name not in known:
            place = folder.relative_to(ROOT)
            raise Failed(f"there is no {name}.patch in {place}; there are: {' '.join(sorted(known))}")
    return [patch for patch in patches if not names or patch.stem in names]


def check_all():
    """Returns the number of patches that do not fit the tree, and names them."""
    misfits = 0
    for patch in sorted(ROOT.glob("test/sim/*/*.patch")):
        done = run(["git", "apply", "--check", patch], cwd=ROOT)
        if done.returncode == 0:
            continue
        misfits += 1
        print(f"{patch.relative_to(ROOT)} does not apply: change it as the code has changed\n{done.stdout}")
    return misfits


def run_all(arguments):
    folder = ROOT / "test" / "sim" / ("upstream" if arguments.upstream else "mutations")
    seconds = 60 if arguments.upstream else 300
    patches = chosen(folder, arguments.names)
    scenario_of = {patch: patch.with_suffix(".yaml") for patch in patches}
    scenarios = [path for path in scenario_of.values() if path.exists()]
    TREE.mkdir(parents=True, exist_ok=True)
    copy_tree()
    rows = []
    if not arguments.without_control:
        rows.append(control(scenarios, seconds))
        print(line_of(rows[-1]), flush=True)
    else:
        build(CONTROL)
    for patch in patches:
        scenario = scenario_of[patch]
        rows.append(mutate(patch, scenario if scenario.exists() else None, seconds))
        print(line_of(rows[-1]), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these bugs")
    parser.add_argument("--upstream", action="store_true", help="the bugs of other projects")
    parser.add_argument("--without-control", action="store_true", help="do not search without a bug first")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the table as JSON, too")
    parser.add_argument("--check", action="store_true", help="only say which patches do not fit the tree")
    arguments = parser.parse_args()
    if arguments.check:
        return 1 if check_all() else 0
    rows = run_all(arguments)
    print()
    print_table(rows)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    bugs = [row for row in rows if row["name"] != CONTROL]
    found = sum(row["found"] for row in bugs)
    needed = len(bugs) if arguments.upstream or arguments.names else -(-len(bugs) * 9 // 10)
    print(f"\n{found} of {len(bugs)} bugs found; {needed} are needed")
    return 0 if found >= needed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        print(f"mutate.py: {error}", file=sys.stderr)
        sys.exit(2)
