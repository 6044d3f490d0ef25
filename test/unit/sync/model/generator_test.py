"""The generator and refresh.py: mistakes in a table are reported with file and line, and updates
from a release's API description keep what a person wrote. ctest runs it as unit_model."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../.."))
MODEL = os.path.join(ROOT, "sync/model")
sys.path.insert(0, MODEL)
sys.dont_write_bytecode = True
import table  # noqa: E402


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as text:
        return text.read()


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def generate(self, text, families="t", wire=""):
        write(self.folder, "t.txt", text)
        return subprocess.run(
            [sys.executable, "-B", os.path.join(MODEL, "generate.py"), "--out",
             os.path.join(self.folder, "out"), "--families", families, "--wire-families", wire,
             "t.txt"], cwd=self.folder, capture_output=True, text=True, check=False)


class Mistakes(Folder):
    """Each row has one wrong line: the build must stop and report the line and the reason."""

    ROWS = [
        ("A\n  x Missing =1\n", 2, 'field "x": unknown type "Missing"'),
        ("A\n  x strnig =1\n", 2, 'field "x": unknown type "strnig"'),
        ("A\n  x string =1\n  y string =1\n", 3, 'field "y": number 1 is that of "x", too'),
        ("A\n  x string =2.1\n  y int =2.1\n", 3, 'field "y": number 1 is that of "x", too'),
        ("A\n  x string =2\n  y int =2.1\n", 3, 'field "y": embedded message 2 is "x", too'),
        ("A\n  x string =1 marge:x\n", 2, 'field "x": unknown mark "marge:x"'),
        ("A beta\n  x string =1\n", 1, 'type "A": unknown mark "beta"'),
        ("A\n  x string =1\n  y string\n", 3, 'field "y" has no number'),
        ("A\n  x string =one\n", 2, 'field "x": "=one" is not a number'),
        ("A\n  x string =0\n", 2, 'field "x": "=0" is not a number'),
        ("A\n  x\n", 2, 'field "x" has no type'),
        ("A\n  x [string =1\n", 2, 'field "x" has no type'),
        ("A\n  x string =1\n  x string =2\n", 3, 'field "x" is there twice'),
        ("A\nB\nA\n", 3, 'type "A" is there twice, first at t.txt:1'),
        ("  x string =1\n", 1, "a field before the first type"),
        ("A\n  x []B =1 merge:name\nB\n  y string =1\n", 2, '"B" has no field "name" to merge by'),
        ("A\n  x []B =1 merge:b keys:a,b\nB\n  a int =1\n  b int =2\n", 2,
         'the merge key "b" is not the first of its keys'),
        ("A\n  x string =70000\n", 2, '"=70000" is not a number'),
        ("A\n  x string =1 merge\n", 2, "merge and keys are for lists"),
        ("A\n  x string =1 @\n", 2, 'type "A" is no struct'),
        ("A @\n  x B =1 @\nB\n", 2, 'its type "B" is no struct'),
        ("A @\n  namespace string =1 @\n", 2, '"namespace" cannot be the name of a C++ member'),
        ("A v1 @\n  kind string =1 @\n", 2, '"kind" cannot be the name of a C++ member'),
        ("A @\n  x any =1 @\n", 2, "no C++ member can have this type"),
        ("A @\n  x string =64 @\n", 2, "a C++ member needs a number up to 63"),
        ("A\n  x *string =1 boxed\n", 2, '"boxed" is for C++ members'),
        ("A @ wire\n  x string =1 @\n", 1, '"wire" is for kinds with a struct'),
        ("A @X\n  x string =1 @\nB @X\n  x int =1 @\n", 4, 'is not as in type "A"'),
    ]

    def test_name_their_line(self):
        for text, line, wanted in self.ROWS:
            with self.subTest(text):
                done = self.generate(text)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertTrue(any(each.startswith(f"t.txt:{line}: ") and wanted in each
                                    for each in done.stderr.splitlines()), done.stderr)
                self.assertFalse(os.path.exists(os.path.join(self.folder, "out")))

    def test_all_are_reported_at_once(self):
        done = self.generate("A\n  x Nothing =1\n  y string =1\n  z string =3 boo\n")
        self.assertEqual(len(done.stderr.splitlines()), 3, done.stderr)

    def test_a_struct_needs_its_family(self):
        done = self.generate("A @\n  x string =1 @\n", families="other")
        self.assertIn('t.txt:1: type "A" has a struct: add "t" to the families', done.stderr)
        done = self.generate("A v1 @ wire\n  x string =1 @\n")
        self.assertIn('add "t" to the wire families', done.stderr)

    def test_the_tables_have_none(self):
        folder = os.path.join(MODEL, "tables")
        names = sorted(os.listdir(folder))
        tables = table.read_tables([os.path.join(folder, each) for each in names], names)
        self.assertEqual(tables.problems, [])


class Output(Folder):
    def test_is_written_only_when_it_changes(self):
        text = "A v1 @\n  x string? =1 @ : What it is.\n"
        self.assertEqual(self.generate(text).returncode, 0)
        path = os.path.join(self.folder, "out/sync/model/t.h")
        os.utime(path, (1, 1))
        self.assertEqual(self.generate(text).returncode, 0)
        self.assertEqual(os.stat(path).st_mtime, 1)
        self.assertEqual(self.generate(text + "  y bool? =2 @\n").returncode, 0)
        self.assertNotEqual(os.stat(path).st_mtime, 1)

    def test_names_of_members(self):
        for name, member in (("podIPs", "pod_ips"), ("systemUUID", "system_uuid"),
                             ("osImage", "os_image"), ("hostIP", "host_ip"),
                             ("podCIDR", "pod_cidr"), ("kubeProxyVersion", "kube_proxy_version"),
                             ("IPs", "ips"), ("httpGet", "http_get"), ("x", "x")):
            self.assertEqual(table.snake(name), member)


class Texts(unittest.TestCase):
    def test_only_the_lab_uses_them(self):
        users = set()
        for folder in ("agent", "platform", "store", "sync"):
            for place, _, names in os.walk(os.path.join(ROOT, folder)):
                for name in names:
                    if not name.endswith((".h", ".cpp")):
                        continue
                    if '#include "sync/model/documentation.h"' in read(place, name):
                        users.add(os.path.relpath(os.path.join(place, name), ROOT))
        self.assertEqual(users, {"agent/lab/rules/descriptions.cpp", "sync/model/documentation.cpp"})


PROTO = """
syntax = "proto2";
package k8s.io.api.core.v1;

// Upstream's own sentence.
message Thing {
  // +optional
  optional .k8s.io.apimachinery.pkg.apis.meta.v1.Time when = 1;

  // Upstream's own sentence.
  // +optional
  // +patchMergeKey=name
  // +patchStrategy=merge,retainKeys
  // +listType=map
  // +listMapKey=name
  // +listMapKey=port
  repeated Part parts = 2;

  // +optional
  map<string, .k8s.io.apimachinery.pkg.api.resource.Quantity> amounts = 4;

  optional PartSource partSource = 5;

  // +optional
  optional string uID = 6;

  optional string required = 7;
}

message Part {
  optional string name = 1;
  optional int32 port = 2;
}

message PartSource {
  // +optional
  optional Part one = 3;
}
"""

GO = """
type Thing struct {
	When metav1.Time `json:"when,omitempty" protobuf:"bytes,1,opt,name=when"`
	Parts []Part `json:"parts,omitempty" patchStrategy:"merge" protobuf:"bytes,2,rep,name=parts"`
	Amounts ResourceList `json:"amounts,omitempty" protobuf:"bytes,4,rep,name=amounts"`
	PartSource `json:",inline" protobuf:"bytes,5,opt,name=partSource"`
	UID types.UID `json:"uid,omitempty" protobuf:"bytes,6,opt,name=uID"`
	Required string `json:"required" protobuf:"bytes,7,opt,name=required"`
}

type PartSource struct {
	One *Part `json:"one,omitempty" protobuf:"bytes,3,opt,name=one"`
}
"""

OPENAPI = """{"definitions": {"io.k8s.api.core.v1.Thing": {"required": ["required"], "properties":
  {"when": {}, "parts": {}, "amounts": {}, "one": {}, "uID": {}, "required": {}}}}}"""

BEFORE = """# What people wrote stays.

Thing v1 @ : Our sentence.
  # a comment
  when time =9 @ : When it was.
  gone string? =8 : It was there in older releases.

Other v1
  x string =1
"""

AFTER = """# What people wrote stays.

Thing v1 @ : Our sentence.
  # a comment
  when time =1 @ : When it was.
  parts []Part? =2 merge:name keys:name,port retainKeys
  amounts {}quantity? =4
  one *Part? =5.3
  uid string? =6
  required string =7
  gone string? =8 : It was there in older releases.

Part
  name string =1
  port int =2

Other v1
  x string =1
"""


class Refresh(Folder):
    def refresh(self, before=BEFORE, **files):
        write(self.folder, "tables/t.txt", before)
        for name, text in files.items():
            write(self.folder, "release/core/v1/" + name.replace("_", "."), text)
        return self.again()

    def again(self):
        return subprocess.run([sys.executable, "-B", os.path.join(MODEL, "refresh.py"),
                               os.path.join(self.folder, "release"),
                               os.path.join(self.folder, "tables")],
                              capture_output=True, text=True, check=False)

    def test_adds_corrects_and_keeps(self):
        done = self.refresh(generated_proto=PROTO, types_go=GO)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(read(self.folder, "tables/t.txt"), AFTER)
        self.assertIn("Thing.gone: not in this release, kept", done.stdout)
        self.assertIn("Other: not in this release, kept", done.stdout)
        self.assertIn("Thing.parts: added", done.stdout)
        self.assertIn("Part: added", done.stdout)
        self.assertNotIn("sentence", read(self.folder, "tables/t.txt").replace("Our sentence", ""))

    def test_changes_nothing_the_second_time(self):
        self.refresh(generated_proto=PROTO, types_go=GO)
        done = self.again()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(read(self.folder, "tables/t.txt"), AFTER)
        self.assertEqual(done.stdout.splitlines(), ["Thing.gone: not in this release, kept",
                                                    "Other: not in this release, kept"][::-1])

    def test_an_openapi_document_shows_what_is_embedded(self):
        done = self.refresh(generated_proto=PROTO, swagger_json=OPENAPI)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = read(self.folder, "tables/t.txt")
        self.assertIn("  one *Part? =5.3\n", text)
        self.assertIn("  required string =7\n", text)

    def test_refuses_a_type_that_stands_for_two(self):
        before = ("Thing v1\n  first *Part? =1\n  second *Part? =2\n\nPart\n  name string =1\n")
        proto = """package k8s.io.api.core.v1;
message Thing {
  optional Part first = 1;
  optional Piece second = 2;
}
message Part {
  optional string name = 1;
}
message Piece {
  optional string name = 2;
}
"""
        done = self.refresh(before, generated_proto=proto)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Part.name: differs in k8s.io.api.core.v1.Part and k8s.io.api.core.v1.Piece",
                      done.stderr)
        self.assertEqual(read(self.folder, "tables/t.txt"), before)


if __name__ == "__main__":
    unittest.main()
