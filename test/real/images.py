#!/usr/bin/env python3
"""Makes the images of the tests from this machine's busybox: images.py FILE [--agnhost PROGRAM]

FILE becomes an OCI archive for `ctr -n k8s.io images import`; no registry is needed. The same programs give the same
bytes. It contains the image of pod sandboxes, busybox under several names, a web server in place of nginx and, with
--agnhost, agnhost. PROGRAM must be linked statically, as busybox of Debian's package busybox-static is.
"""

import argparse
import hashlib
import io
import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import tarfile

PAUSE = "registry.k8s.io/pause:3.10.2"
AGNHOST = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
BUSYBOXES = ("docker.io/local/busybox:1", "registry.k8s.io/e2e-test-images/busybox:1.36.1-1",
             "registry.k8s.io/e2e-test-images/busybox:1.37.0-1")
NGINXES = ("registry.k8s.io/e2e-test-images/nginx:1.15-4", "registry.k8s.io/e2e-test-images/nginx:1.27-0")

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}  # as images name them
INTERPRETER = 3  # PT_INTERP
INDEX, MANIFEST, CONFIG, LAYER = (f"application/vnd.oci.image.{kind}" for kind in (
    "index.v1+json", "manifest.v1+json", "config.v1+json", "layer.v1.tar"))
SHELL_LOOP = ["/bin/sh", "-c", "while true; do sleep 5; done"]
WEB_SERVER = ["/bin/sh", "-c", "mkdir -p /www && echo ok >/www/index.html && exec httpd -f -p 80 -h /www"]
# busybox starts the applet that its first argument names if its own name begins with "busybox". The name of the
# process, which the tests look for, contains "busybox-pause".
PAUSE_SCRIPT = b"#!/bin/sh\nexec /bin/busybox-pause sleep infinity\n"
ACCOUNTS = {"etc/passwd": b"root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
            "etc/group": b"root:x:0:\nnobody:x:65534:\n"}


class Layer:
    """A tar of files whose owners and times are always the same."""

    def __init__(self):
        self._bytes = io.BytesIO()
        self._tar = tarfile.open(fileobj=self._bytes, mode="w", format=tarfile.USTAR_FORMAT)

    def folder(self, name, mode=0o755):
        self._add(name, tarfile.DIRTYPE, mode)

    def file(self, name, content, mode=0o644):
        self._add(name, tarfile.REGTYPE, mode, content=content)

    def link(self, name, target):
        self._add(name, tarfile.SYMTYPE, 0o777, target=target)

    def _add(self, name, kind, mode, content=b"", target=""):
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode, entry.size, entry.linkname = kind, mode, len(content), target
        self._tar.addfile(entry, io.BytesIO(content))

    def content(self):
        self._tar.close()
        return self._bytes.getvalue()


class Archive:
    """An OCI archive. Equal layers of its images are stored once."""

    def __init__(self, architecture):
        self._architecture = architecture
        self._blobs = {}  # digest -> bytes
        self._manifests = []

    def add(self, name, layers, command, entrypoint=()):
        process = {"Env": ["PATH=/bin:/"], "Cmd": list(command)}
        if entrypoint:
            process["Entrypoint"] = list(entrypoint)
        config = {"architecture": self._architecture, "os": "linux", "config": process, "rootfs": {
            "type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(each).hexdigest() for each in layers]}}
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": self._store(CONFIG, _json(config)),
                    "layers": [self._store(LAYER, each) for each in layers]}
        self._manifests.append({**self._store(MANIFEST, _json(manifest)), "annotations": {
            "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}})

    def _store(self, kind, content):
        digest = hashlib.sha256(content).hexdigest()
        self._blobs[digest] = content
        return {"mediaType": kind, "digest": "sha256:" + digest, "size": len(content)}

    def write(self, file):
        archive = Layer()
        archive.file("oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        archive.file("index.json", _json({"schemaVersion": 2, "mediaType": INDEX, "manifests": self._manifests}))
        for digest, content in sorted(self._blobs.items()):
            archive.file("blobs/sha256/" + digest, content)
        with open(file, "wb") as out:
            out.write(archive.content())


def _json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def is_static(program):
    """Whether an ELF program is linked statically: it then names no interpreter (PT_INTERP)."""
    if program[:4] != b"\x7fELF":
        return False
    order = "<" if program[5] == 1 else ">"
    offset, counts = ("Q", 54) if program[4] == 2 else ("I", 42)  # of 64 or 32 bits
    table = struct.unpack_from(order + offset, program, 32 if offset == "Q" else 28)[0]
    size, count = struct.unpack_from(order + "HH", program, counts)
    kinds = [struct.unpack_from(order + "I", program, table + number * size)[0] for number in range(count)]
    return INTERPRETER not in kinds


def busybox_layer(busybox, applets):
    """busybox with its applets as links in /bin, and what programs expect of a machine."""
    layer = Layer()
    layer.folder("bin")
    layer.folder("etc")
    layer.folder("tmp", 0o1777)
    for name, content in ACCOUNTS.items():
        layer.file(name, content)
    layer.file("bin/busybox", busybox, 0o755)
    for applet in sorted(set(applets) - {"busybox"}):
        layer.link("bin/" + applet, "busybox")
    return layer.content()


def pause_layer():
    layer = Layer()
    layer.link("bin/busybox-pause", "busybox")
    layer.file("pause", PAUSE_SCRIPT, 0o755)
    return layer.content()


def agnhost_layer(agnhost):
    layer = Layer()
    layer.file("agnhost", agnhost, 0o755)
    layer.link("agnhost-2", "agnhost")
    return layer.content()


def write_images(file, busybox, applets, agnhost=b"", machine=platform.machine()):
    """Writes the archive. `busybox` and `agnhost` are the bytes of programs; without agnhost it has no such image."""
    archive = Archive(ARCHITECTURES.get(machine, machine))
    base = busybox_layer(busybox, applets)
    archive.add(PAUSE, [base, pause_layer()], [], ["/pause"])
    for name in BUSYBOXES:
        archive.add(name, [base], SHELL_LOOP)
    for name in NGINXES:
        archive.add(name, [base], WEB_SERVER)
    if agnhost:
        archive.add(AGNHOST, [base, agnhost_layer(agnhost)], ["pause"], ["/agnhost"])
    archive.write(file)


def write_images_of(file, busybox, agnhost=""):
    """Writes the archive with the programs of these paths. Raises ValueError if one is not linked statically."""
    contents = []
    for path in (busybox, agnhost):
        content = b""
        if path:
            with open(path, "rb") as program:
                content = program.read()
            if not is_static(content):
                raise ValueError(f"{path} is not linked statically and cannot run in an image")
        contents.append(content)
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    write_images(file, contents[0], applets, contents[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--busybox", default=shutil.which("busybox", path=os.environ.get("PATH", "") + ":/bin"))
    parser.add_argument("--agnhost", default="")
    chosen = parser.parse_args()
    if not chosen.busybox:
        parser.error("this machine has no busybox; install the Debian package busybox-static, or specify --busybox")
    try:
        write_images_of(chosen.file, chosen.busybox, chosen.agnhost)
    except (OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
