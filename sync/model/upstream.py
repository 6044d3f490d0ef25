"""Reads a Kubernetes release's description of its kinds for refresh.py.

generated.proto has messages, numbers and, in comments, list and patch tags. The types.go next to
it shows which values are pointers or have omitempty, and which messages are embedded. An OpenAPI
document (v2 or v3, *.json) has this less exactly. Without either, "+optional" is used.
"""

import json
import os
import re
from dataclasses import dataclass, field as dataclass_field

SCALARS = {
    "string": "string", "bool": "bool", "int32": "int", "int64": "long", "bytes": "bytes",
    "k8s.io.apimachinery.pkg.api.resource.Quantity": "quantity",
    "k8s.io.apimachinery.pkg.apis.meta.v1.Time": "time",
    "k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime": "micro",
    "k8s.io.apimachinery.pkg.util.intstr.IntOrString": "intstr",
    "k8s.io.apimachinery.pkg.runtime.RawExtension": "any",
    "k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
}
# Go always writes these, even with omitempty, because they are values.
VALUES = ("time", "micro", "quantity", "intstr", "any")

PROTO_FIELD = re.compile(r"(?:(?P<label>optional|repeated) (?P<type>[\w.]+)|"
                         r"map<string, (?P<value>[\w.]+)>) (?P<name>\w+) = (?P<number>\d+);")
GO_FIELD = re.compile(r'\s+(?:\w+\s+)?(?P<type>[\w.*\[\]]+)\s+`json:"(?P<json>[^"]*)"'
                      r'(?:[^`]*protobuf:"[^"]*name=(?P<name>\w+))?')


@dataclass
class UpstreamField:
    name: str
    base: str  # a scalar of table.py, or a message's full name
    shape: str
    number: int
    inside: int = 0
    pointer: bool = False
    omit_empty: bool = False
    merge: str = None
    replace: bool = False
    retain_keys: bool = False
    keys: tuple = ()

    @property
    def is_value(self):
        return self.shape == "" and not self.pointer and (
            self.base in VALUES or self.base not in SCALARS.values())


@dataclass
class Message:
    name: str  # "k8s.io.api.core.v1.PodSpec"
    fields: list = dataclass_field(default_factory=list)
    tags: dict = dataclass_field(default_factory=dict)  # field name -> its comment tags


def read_tags(comments):
    """"+listMapKey=port" twice -> {"listMapKey": ["port", ...]}."""
    tags = {}
    for line in comments:
        match = re.match(r"//\s*\+([\w:]+)(?:=(.*))?$", line)
        if match:
            tags.setdefault(match[1], []).append((match[2] or "").strip().strip('"'))
    return tags


def apply_tags(found, tags):
    strategy = ",".join(tags.get("patchStrategy", [])).split(",")
    if "merge" in strategy:
        found.merge = "" if found.base in SCALARS.values() else tags.get("patchMergeKey", [""])[0]
    found.replace = "replace" in strategy
    found.retain_keys = "retainKeys" in strategy
    keys = tuple(key for each in tags.get("listMapKey", []) for key in each.split(","))
    if found.shape == "[]" and keys and keys != (found.merge,):
        found.keys = keys
    found.omit_empty = "optional" in tags


def read_proto(path, messages):
    package, message, comments = "", None, []
    with open(path, encoding="utf-8") as lines:
        for line in map(str.strip, lines):
            if line.startswith("package "):
                package = line[8:].rstrip(";")
            elif line.startswith("message "):
                message = Message(f"{package}.{line.split()[1]}")
                messages[message.name] = message
            elif line.startswith("//"):
                comments.append(line)
                continue
            elif message is not None:
                match = PROTO_FIELD.match(line)
                if match:
                    add_field(message, package, match, read_tags(comments))
            comments = []


def add_field(message, package, match, tags):
    text = match["type"] or match["value"]
    base = SCALARS.get(text.lstrip("."))
    if base is None:
        base = text.lstrip(".") if "." in text else f"{package}.{text}"
        base = SCALARS.get(base, base)
    shape = "{}" if match["value"] else "[]" if match["label"] == "repeated" else ""
    found = UpstreamField(match["name"], base, shape, int(match["number"]))
    apply_tags(found, tags)
    found.pointer = shape == "" and found.omit_empty and base not in ("bytes", "any")
    message.fields.append(found)
    message.tags[found.name] = tags


def read_go(path):
    """The fields of each struct: Go type, JSON name and options, by protobuf name, which seldom
    differs from the JSON name. Embedded fields are found by their type."""
    structs, fields = {}, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            opened = re.match(r"type (\w+) struct \{", line)
            if opened:
                fields = structs.setdefault(opened[1], {})
            elif line.startswith("}"):
                fields = None
            elif fields is not None:
                match = GO_FIELD.match(line)
                if match:
                    name, *options = match["json"].split(",")
                    key = (match["name"] or name) if name else ("", match["type"].split(".")[-1])
                    fields[key] = (match["type"], name, options)
    return structs


def refine_by_go(messages, package, structs):
    """Takes pointers, omitempty and embedded messages from the Go types."""
    for name, fields in structs.items():
        message = messages.get(f"{package}.{name}")
        for found in message.fields if message else []:
            embedded = ("", found.base.split(".")[-1])
            if found.name in fields:
                text, found.name, options = fields[found.name]
                found.pointer = text.startswith("*")
                found.omit_empty = "omitempty" in options or "omitzero" in options
                if found.is_value:
                    found.omit_empty = False
            elif embedded in fields and "inline" in fields[embedded][2]:
                found.inside = -1


def refine_by_openapi(messages, document, exact):
    """Takes pointers and omitempty from an OpenAPI document, for messages without Go types."""
    schemas = document.get("definitions") or document.get("components", {}).get("schemas", {})
    for name, schema in schemas.items():
        full = re.sub(r"^io\.k8s\.", "k8s.io.", name)
        message = messages.get(full)
        if message is None or full in exact or "properties" not in schema:
            continue
        for found in message.fields:
            described = schema["properties"].get(found.name)
            if described is None and found.shape == "" and "." in found.base:
                found.inside = -1
            elif described is not None and found.name in schema.get("required", []):
                found.pointer = found.omit_empty = False
            elif described is not None and described.get("default") == {}:
                found.pointer = found.omit_empty = False


def flatten(messages, message):
    """The fields as in JSON: embedded messages are replaced by their fields."""
    fields = []
    for found in message.fields:
        if found.inside != -1:
            fields.append(found)
            continue
        for inner in messages[found.base].fields:
            if inner.inside == -1:
                raise ValueError(f"{message.name}: embedded messages inside each other")
            fields.append(UpstreamField(**{**vars(inner), "inside": found.number}))
    return fields


class Release:
    """All messages of a release by full name."""

    def __init__(self, folder):
        self.messages = {}
        documents, sources = [], []
        for place, folders, files in os.walk(folder):
            folders.sort()
            for file in sorted(files):
                path = os.path.join(place, file)
                if file == "generated.proto":
                    read_proto(path, self.messages)
                elif file == "types.go":
                    sources.append(path)
                elif file.endswith(".json"):
                    documents.append(path)
        exact = set()
        for path in sources:
            exact |= self._refine_by_go(path)
        for path in documents:
            with open(path, encoding="utf-8") as text:
                refine_by_openapi(self.messages, json.load(text), exact)
        self._replace_lists_of_strings()

    def fields(self, name):
        """The fields of a message as in JSON."""
        return flatten(self.messages, self.messages[name])

    def _refine_by_go(self, path):
        proto = os.path.join(os.path.dirname(path), "generated.proto")
        package = None
        if os.path.exists(proto):
            with open(proto, encoding="utf-8") as lines:
                package = next((line.split()[1].rstrip(";") for line in lines
                                if line.startswith("package ")), None)
        structs = read_go(path)
        refine_by_go(self.messages, package, structs)
        return {f"{package}.{name}" for name in structs}

    def _replace_lists_of_strings(self):
        """Go's `type ExtraValue []string` is a message around a list, which JSON does not show."""
        lists = {name for name, message in self.messages.items()
                 if name.endswith((".ExtraValue", ".Verbs"))}
        for message in self.messages.values():
            for found in message.fields:
                if found.base in lists:
                    found.base = "strings"

    def message_of_kind(self, api_version, kind):
        """"coordination.k8s.io/v1", "Lease" -> the message's full name, or None."""
        group, _, version = api_version.rpartition("/")
        label = group.split(".")[0] or "core"
        for name in (f"k8s.io.api.{label}.{version}.{kind}",
                     f"k8s.io.apimachinery.pkg.apis.{label}.{version}.{kind}"):
            if name in self.messages:
                return name
        return None
