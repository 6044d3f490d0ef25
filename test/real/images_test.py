"""Tests of images.py with made-up programs. ctest runs them as real.images."""

import hashlib
import io
import json
import os
import shutil
import struct
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import images  # noqa: E402


class Images(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def archive(self, **more):
        """Makes an archive of made-up programs; returns it as {name in the archive: bytes}."""
        file = os.path.join(self.folder, "images.tar")
        images.write_images(file, b"a busybox", ["sh", "busybox", "ls"], machine="aarch64", **more)
        with tarfile.open(file) as tar:
            return {entry.name: tar.extractfile(entry).read() for entry in tar.getmembers()}

    @staticmethod
    def blob(archive, descriptor):
        return archive["blobs/" + descriptor["digest"].replace(":", "/")]

    def manifests(self, archive):
        return {each["annotations"]["io.containerd.image.name"]: json.loads(self.blob(archive, each))
                for each in json.loads(archive["index.json"])["manifests"]}

    def test_the_same_programs_give_the_same_bytes(self):
        self.assertEqual(list(self.archive().items()), list(self.archive().items()))

    def test_digests_and_sizes_are_those_of_the_blobs(self):
        archive = self.archive(agnhost=b"an agnhost")
        for name, content in archive.items():
            if name.startswith("blobs/"):
                self.assertEqual(name, "blobs/sha256/" + hashlib.sha256(content).hexdigest())
        for manifest in self.manifests(archive).values():
            config = json.loads(self.blob(archive, manifest["config"]))
            self.assertEqual(config["architecture"], "arm64")
            self.assertEqual(config["rootfs"]["diff_ids"], [each["digest"] for each in manifest["layers"]])
            for each in (manifest["config"], *manifest["layers"]):
                self.assertEqual(each["size"], len(self.blob(archive, each)))

    def test_has_the_images_that_pods_use(self):
        found = self.manifests(self.archive())
        self.assertEqual(sorted(found), sorted([images.PAUSE, *images.BUSYBOXES, *images.NGINXES]))
        self.assertIn(images.AGNHOST, self.manifests(self.archive(agnhost=b"an agnhost")))

    def test_the_layer_of_busybox_has_its_applets(self):
        archive = self.archive()
        layer = self.blob(archive, self.manifests(archive)[images.BUSYBOXES[0]]["layers"][0])
        with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
            self.assertEqual(tar.extractfile("bin/sh").read(), b"a busybox")
            self.assertEqual(tar.getmember("bin/busybox").mode, 0o755)
            self.assertEqual(tar.getmember("tmp").mode, 0o1777)
            self.assertEqual({(entry.mtime, entry.uid, entry.gid, entry.uname) for entry in tar}, {(0, 0, 0, "")})

    def test_knows_programs_that_are_linked_statically(self):
        def program(kind):
            head = b"\x7fELF" + bytes([2, 1]) + bytes(26) + struct.pack("<Q", 64) + bytes(14)
            return (head + struct.pack("<HH", 56, 1)).ljust(64, b"\0") + struct.pack("<I", kind) + bytes(52)

        self.assertTrue(images.is_static(program(1)))
        self.assertFalse(images.is_static(program(images.INTERPRETER)))
        self.assertFalse(images.is_static(b"#!/bin/sh\n"))

    def test_refuses_a_program_that_cannot_run_in_an_image(self):
        path = os.path.join(self.folder, "busybox")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        with self.assertRaisesRegex(ValueError, f"{path} is not linked statically"):
            images.write_images_of(os.path.join(self.folder, "images.tar"), path)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "images.tar")))


if __name__ == "__main__":
    unittest.main()
