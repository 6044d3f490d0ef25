"""Tests of kubernetes.py, which need no Kubernetes. ctest runs them as real.kubernetes."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import kubernetes  # noqa: E402


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def program(self, name, text="#!/bin/sh\necho v1\n", mode=0o755):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def run_program(self, *arguments, **environment):
        """Runs kubernetes.py; returns its exit code and what it printed."""
        kept = {name: value for name, value in os.environ.items() if name != kubernetes.VARIABLE}
        done = subprocess.run([sys.executable, "-B", os.path.join(HERE, "kubernetes.py"), *arguments], text=True,
                              env={**kept, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


class SpecifiedFolder(Folder):
    def test_the_option_precedes_the_variable(self):
        environment = {kubernetes.VARIABLE: "/nonexistent"}
        self.assertEqual(kubernetes.specified_folder(self.folder, environment), self.folder)
        self.assertEqual(kubernetes.specified_folder(None, {kubernetes.VARIABLE: self.folder}), self.folder)

    def test_without_a_folder_it_is_skipped(self):
        code, printed = self.run_program("soak")
        self.assertEqual(code, kubernetes.SKIPPED)
        self.assertRegex(printed, "^SKIPPED: no Kubernetes: .* --kubernetes DIR or HOLDFAST_KUBERNETES\n$")

    def test_a_wrong_folder_is_an_error_that_names_it(self):
        file = self.program("file")
        cases = [
            (["main", "--kubernetes"], {}, "argument --kubernetes: expected one argument"),
            (["main", "--kubernetes", ""], {}, "--kubernetes is empty"),
            (["main", "--kubernetes", "/nonexistent"], {}, "--kubernetes: /nonexistent does not exist"),
            (["main", "--kubernetes", file], {}, f"--kubernetes: {file} is not a folder"),
            (["main"], {kubernetes.VARIABLE: ""}, "--kubernetes or HOLDFAST_KUBERNETES is empty"),
            (["main"], {kubernetes.VARIABLE: "/nonexistent"}, "--kubernetes or HOLDFAST_KUBERNETES: /nonexistent does not exist"),
            (["other"], {}, "invalid choice: 'other'")]
        for arguments, environment, message in cases:
            code, printed = self.run_program(*arguments, **environment)
            self.assertEqual(code, kubernetes.WRONG_INPUT, printed)
            self.assertIn(message, printed)


class Find(Folder):
    def find(self, *names):
        return kubernetes.find(self.folder, names, {"PATH": self.folder + "/path"}, [self.folder + "/cni"], [])

    def missing(self, *names):
        with self.assertRaises(kubernetes.Missing) as found:
            self.find(*names)
        return found.exception.lines

    def test_each_missing_program_is_named_with_where_it_was_searched(self):
        self.assertEqual(self.missing("kubelet", "etcd", "agnhost"), [
            f"{self.folder}/bin/kubelet is missing; Kubernetes releases contain it",
            f"etcd is missing in {self.folder}/path; the Debian package etcd-server contains it",
            f"{self.folder}/bin/agnhost is missing; Kubernetes' test image agnhost contains it"])

    def test_missing_plugins_are_named_once(self):
        self.program("cni/bridge")
        lines = self.missing("bridge", "loopback")
        self.assertEqual(len(lines), 1)
        self.assertIn(self.folder + "/cni", lines[0])

    def test_finds_what_is_there(self):
        for name in ("bin/kubelet", "path/etcd", *("cni/" + each for each in kubernetes.PLUGINS)):
            self.program(name)
        programs = self.find("kubelet", "etcd", *kubernetes.PLUGINS)
        self.assertEqual(programs.path("kubelet"), self.folder + "/bin/kubelet")
        self.assertEqual(programs.path("etcd"), self.folder + "/path/etcd")
        self.assertEqual(programs.plugins, self.folder + "/cni")
        self.assertNotIn("containerd", programs)
        self.assertEqual(programs.versions(), ["kubelet: v1", "etcd: v1"])

    def test_the_minor_version_decides_what_a_program_accepts(self):
        for printed, minor in (("Kubernetes v1.20.2", 20), ("Kubernetes v1.36.0-rc.1+dirty", 36), ("v1.9.11", 9)):
            self.program("bin/kubelet", f"#!/bin/sh\necho '{printed}'\n")
            self.assertEqual(self.find("kubelet").minor("kubelet"), minor)
        for printed in ("", "Kubernetes v2.0.0", "Kubernetes v1.x"):
            self.program("bin/kubelet", f"#!/bin/sh\necho '{printed}'\n")
            with self.assertRaisesRegex(kubernetes.WrongInput, "expected a version such as v1.36.2"):
                self.find("kubelet").minor("kubelet")

    def test_the_distributions_programs_are_not_taken_from_the_folder(self):
        self.program("bin/etcd")
        self.assertEqual(len(self.missing("etcd")), 1)

    def test_what_cannot_be_executed_is_an_error(self):
        path = self.program("bin/kubelet", mode=0o644)
        with self.assertRaisesRegex(kubernetes.WrongInput, f"{path} is not an executable file"):
            self.find("kubelet")
        os.remove(path)
        os.mkdir(path)
        with self.assertRaisesRegex(kubernetes.WrongInput, f"{path} is not an executable file"):
            self.find("kubelet")

    def test_a_program_that_does_not_run_is_an_error(self):
        for text, message in (("\x7fELF", "Exec format error"), ("#!/bin/sh\necho bad >&2\nexit 3\n", "code 3: bad")):
            self.program("bin/kubelet", text)
            with self.assertRaisesRegex(kubernetes.WrongInput, message):
                self.find("kubelet").versions()

    def test_every_program_is_known(self):
        for needed in kubernetes.NEEDS.values():
            for name in needed:
                self.assertTrue(name in kubernetes.OWN or name in kubernetes.SYSTEM or name in kubernetes.PLUGINS, name)


class PrintVersions(Folder):
    def test_prints_a_line_for_each_program(self):
        programs = kubernetes.Programs(self.folder, {"etcd": self.program("etcd"), "ctr": "/nonexistent"}, "")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            kubernetes.print_versions(programs)
        self.assertEqual(printed.getvalue(), "# etcd: v1\n")


if __name__ == "__main__":
    unittest.main()
