#!/usr/bin/env python3
"""Generates the C++ and .proto files from the tables. README.md describes them.

usage: generate.py --out DIR --families F,F --wire-families F,F TABLE...
A file is written only if its content changes. If the tables have problems, they are printed to
stderr as "file:line: text", nothing is written, and the exit code is 1.
"""

import argparse
import os
import sys

import emit_cpp
import emit_proto
import emit_tables
from table import read_tables


class Model:
    """The tables as the emitters need them: structs and wire messages by family."""

    def __init__(self, tables, families, wire_families):
        self.tables = tables
        self.families = families
        self.wire_families = wire_families
        self.sharers = {}  # struct -> the types that share it; the first one has all its members
        for each in tables.types:
            if each.struct:
                self.sharers.setdefault(each.struct, []).append(each)
        for types in self.sharers.values():
            types.sort(key=lambda each: -len(each.members))
        self.wire_types = self._wire_types()

    @staticmethod
    def family(found):
        return os.path.splitext(os.path.basename(found.file))[0]

    def defining(self, family):
        """Types that define a struct in this family, each after those it contains."""
        wanted = [each for each in self.tables.types if each.struct and
                  self.family(each) == family and self.sharers[each.struct][0] is each]
        return self._in_order(wanted)

    def messages(self, family):
        return self._in_order([each for each in self.wire_types if self.family(each) == family])

    def target(self, field):
        return self.tables.by_name.get(field.base)

    def used_families(self, types, family):
        """The other families that these types' members come from, sorted."""
        used = {self.family(self.target(field)) for each in types for field in each.members
                if field.is_struct}
        return sorted(used - {family})

    def _in_order(self, types):
        ordered = []

        def visit(found):
            if found in ordered or found not in types:
                return
            for field in found.members:
                if field.is_struct:
                    first = self.sharers[self.target(field).struct][0]
                    visit(first if first in types else self.target(field))
                    visit(self.target(field))
            ordered.append(found)

        for each in types:
            visit(each)
        return ordered

    def _wire_types(self):
        found = []

        def visit(each):
            if each in found:
                return
            found.append(each)
            for field in each.members:
                if field.is_struct:
                    visit(self.target(field))

        for each in self.tables.types:
            if each.wire:
                visit(each)
        return found


def check_model(model):
    problem = model.tables.problem
    for types in model.sharers.values():
        first = types[0]
        for other in types[1:]:
            for field in other.members:
                same = next((each for each in first.members if each.member == field.member), None)
                if not same or same.name != field.name or (
                        emit_cpp.member_type(model, same) != emit_cpp.member_type(model, field)):
                    problem(other.file, field.line, f'field "{field.name}" is not as in type '
                            f'"{first.name}", whose struct this is')
    for each in model.tables.types:
        if each.struct and model.family(each) not in model.families:
            problem(each.file, each.line, f'type "{each.name}" has a struct: add '
                    f'"{model.family(each)}" to the families in sync/model/CMakeLists.txt')
    for each in model.wire_types:
        if model.family(each) not in model.wire_families:
            problem(each.file, each.line, f'type "{each.name}" is read from protobuf: add '
                    f'"{model.family(each)}" to the wire families in sync/model/CMakeLists.txt')
        for field in each.members:
            if not field.number or (field.base == "bytes" or
                                    (field.shape == "{}" and field.base == "time")):
                problem(each.file, field.line, f'field "{field.name}" cannot be read from protobuf '
                        "into a C++ member")


def write_if_changed(path, text):
    try:
        with open(path, encoding="utf-8") as old:
            if old.read() == text:
                return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as new:
        new.write(text)


def outputs(model):
    """Yields every generated file: its path below the output folder, and its content."""
    for family in model.families:
        yield f"sync/model/{family}.h", emit_cpp.structs(model, family)
        yield f"sync/wire/{family}_json.h", emit_cpp.json_fields(model, family)
        yield f"sync/wire/{family}_json.cpp", emit_cpp.json_codecs(model, family)
    for family in model.wire_families:
        yield f"sync/wire/protobuf/{family}.proto", emit_proto.proto(model, family)
        yield f"sync/wire/protobuf/{family}_message.h", emit_proto.message_fields(model, family)
        yield f"sync/wire/protobuf/{family}_message.cpp", emit_proto.decoders(model, family)
    yield "sync/model/tables.h", emit_tables.tables(model)
    yield "sync/model/docs.h", emit_tables.docs(model)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--families", required=True)
    parser.add_argument("--wire-families", required=True)
    parser.add_argument("tables", nargs="+")
    given = parser.parse_args()
    tables = read_tables(given.tables)
    problems = tables.problems
    if not problems:
        model = Model(tables, given.families.split(","), given.wire_families.split(","))
        check_model(model)
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    for path, text in outputs(model):
        write_if_changed(os.path.join(given.out, path), text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
