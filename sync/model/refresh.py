#!/usr/bin/env python3
"""Updates the tables from a Kubernetes release. README.md describes how to use it.

usage: refresh.py FOLDER [TABLES]

FOLDER contains the release's generated.proto files at any depth, as k8s.io/api and
k8s.io/apimachinery publish them, and optionally the types.go files beside them or its OpenAPI
documents (*.json). TABLES is the folder with the tables; the default is the one next to this file.

New fields and types are added; numbers, types and merge rules are corrected. Documentation, C++
marks and everything else that a person wrote is kept. Fields that the release no longer has are
reported and kept. To add a kind, write a line "Kind group/version" into a table: its fields are
added. A second run changes nothing. If the release contradicts itself, the exit code is 1 and
nothing is written.
"""

import os
import sys

from table import read_tables
from upstream import SCALARS, Release

META = "k8s.io.apimachinery.pkg.apis.meta.v1."


def is_message(base):
    return base not in SCALARS.values() and base != "strings"


class Refresh:
    def __init__(self, tables, release):
        self.tables = tables
        self.release = release
        self.notes = []  # changes and findings to print
        self.problems = []
        self.messages = {}  # type name -> full names of the messages that it describes
        self.added = {}  # type name -> (file, the type that it is inserted after)
        self.changed = set()  # ids of fields whose line changed

    def run(self):
        kinds = []
        for each in self.tables.types:
            if each.kind:
                message = self.release.message_of_kind(each.api_version, each.kind)
                if message is None:
                    self.notes.append(f"{each.name}: not in this release, kept")
                else:
                    kinds.append((each, message))
        self._walk(kinds, self._find_messages)
        # Types that are not part of a kind: those of lists and options.
        others = [(each, META + each.name) for each in self.tables.types
                  if each.name not in self.messages and META + each.name in self.release.messages]
        self._walk(others, self._find_messages)
        self._walk(kinds + others, self._update)
        for each in self.tables.types:
            self._report_removed(each)

    @staticmethod
    def _walk(queue, visit):
        """Visits pairs of a type and its message, and the pairs of their fields, each once."""
        queue, seen = list(queue), set()
        while queue:
            found, message = queue.pop(0)
            if (found.name, message) not in seen:
                seen.add((found.name, message))
                queue += visit(found, message)

    def _find_messages(self, found, message):
        """Records which message a type describes. Returns the pairs of its fields."""
        self.messages.setdefault(found.name, []).append(message)
        pairs = [(self.tables.by_name[field.base], upstream.base)
                 for upstream in self.release.fields(message) if is_message(upstream.base)
                 for field in [found.field(upstream.name)]
                 if field is not None and field.is_struct and not field.managed]
        return pairs

    def _update(self, found, message):
        """Adds and corrects the fields of a type. Returns the pairs of its fields."""
        pairs, before = [], None
        for upstream in self.release.fields(message):
            field = found.field(upstream.name)
            if field is None:
                field = self._add_field(found, upstream, before)
            elif not field.managed:
                self._correct(found, field, upstream, message)
            before = field
            if is_message(upstream.base) and not field.managed:
                pairs.append((self.tables.by_name[field.base], upstream.base))
        return pairs

    def _type_for(self, owner, message):
        """The name of the type that describes the message; it is created if there is none."""
        for name, known in self.messages.items():
            if message in known:
                return name
        short = message.split(".")[-1]
        name = short
        if name in self.tables.by_name:
            label = message.split(".")[-3]
            name = label[:1].upper() + label[1:] + short
        if name in self.tables.by_name:
            version = message.split(".")[-2]
            name = label[:1].upper() + label[1:] + version.upper() + short
        self.messages[name] = [message]
        added = type(owner)(name=name, file=owner.file)
        self.tables.by_name[name] = added
        last = owner
        while any(place[1] is last for place in self.added.values()):
            last = next(self.tables.by_name[new] for new, place in self.added.items()
                        if place[1] is last)
        self.added[name] = (owner.file, last)
        self.tables.types.insert(self.tables.types.index(last) + 1, added)
        self.notes.append(f"{name}: added")
        return name

    def _base(self, owner, upstream):
        return (self._type_for(owner, upstream.base) if is_message(upstream.base)
                else upstream.base)

    def _add_field(self, owner, upstream, before):
        field_type = type(self.tables.types[0].fields[0])
        field = field_type(name=upstream.name, base=self._base(owner, upstream))
        self._take(field, upstream)
        at = owner.fields.index(before) + 1 if before in owner.fields else 0
        owner.fields.insert(at, field)
        self.changed.add(id(field))
        if owner.name not in self.added:
            self.notes.append(f"{owner.name}.{field.name}: added")
        return field

    @staticmethod
    def _take(field, upstream):
        field.shape, field.number, field.inside = upstream.shape, upstream.number, upstream.inside
        field.pointer, field.omit_empty = upstream.pointer, upstream.omit_empty
        field.merge, field.replace = upstream.merge, upstream.replace
        field.retain_keys, field.keys = upstream.retain_keys, upstream.keys

    def _correct(self, owner, field, upstream, message):
        """Updates an existing field from the release."""
        first = self.messages[owner.name][0]
        if message != first:
            if (field.number, field.inside, field.shape) != (
                    upstream.number, upstream.inside, upstream.shape):
                self.problems.append(f"{owner.name}.{field.name}: differs in {first} and "
                                     f"{message}: split the type")
            return
        before = field_line(field)
        if is_message(upstream.base) != field.is_struct or (
                not field.is_struct and field.base != upstream.base):
            field.base = self._base(owner, upstream)
        omit_empty = field.omit_empty
        self._take(field, upstream)
        if upstream.is_value:
            field.omit_empty = omit_empty  # the release's value has no meaning for these types
        if field_line(field) != before:
            self.changed.add(id(field))
            self.notes.append(f"{owner.name}.{field.name}: now{field_line(field)}, was{before}")

    def _report_removed(self, found):
        known = {field.name for message in self.messages.get(found.name, [])
                 for field in self.release.fields(message)}
        if not known:
            return
        for field in found.fields:
            if field.name not in known and field.number != 0:
                self.notes.append(f"{found.name}.{field.name}: not in this release, kept")


def field_line(field):
    words = [field.name, ("*" if field.pointer else "") + field.shape + field.base +
             ("?" if field.omit_empty else "")]
    if field.number is not None:
        words.append("=-" if field.number == 0 else f"={field.inside}.{field.number}"
                     if field.inside else f"={field.number}")
    if field.merge is not None:
        words.append(f"merge:{field.merge}" if field.merge else "merge")
    if field.keys:
        words.append("keys:" + ",".join(field.keys))
    words += [word for word, is_there in (
        ("replace", field.replace), ("retainKeys", field.retain_keys),
        ("managed", field.managed)) if is_there]
    return "  " + " ".join(words)


def human_marks(line):
    """The C++ marks and the text of a field's line, as they were written."""
    words, _, doc = line.partition(" : ")
    marks = [word for word in words.split()[2:] if word.startswith("@") or
             word in ("boxed", "plain")]
    return "".join(" " + mark for mark in marks) + (" : " + doc if doc else "")


def new_lines(refresh, types):
    """The new lines, by the number of the line that they are inserted after."""
    behind = {}
    for found in (each for each in types if each.name not in refresh.added):
        last = found.line
        for field in found.fields:
            if field.line:
                last = field.line
            else:
                behind.setdefault(last, []).append(field_line(field))
        added_types(refresh, types, found, behind.setdefault(last, []))
    return behind


def added_types(refresh, types, after, out):
    for each in types:
        if refresh.added.get(each.name, (None, None))[1] is after:
            out.extend(["", each.name, *map(field_line, each.fields)])
            added_types(refresh, types, each, out)


def new_text(refresh, name, old):
    """The text of a table with all changes. Comments and empty lines stay where they are."""
    types = [each for each in refresh.tables.types if each.file == name]
    changed = {field.line: field for each in types for field in each.fields
               if id(field) in refresh.changed and field.line}
    behind = new_lines(refresh, types)
    out = []
    for number, line in enumerate(old, 1):
        if number in changed:
            line = field_line(changed[number]) + human_marks(line)
        out += [line, *behind.get(number, [])]
    return "\n".join(out) + "\n"


def main(folder, table_folder):
    names = sorted(each for each in os.listdir(table_folder) if each.endswith(".txt"))
    paths = [os.path.join(table_folder, each) for each in names]
    tables = read_tables(paths, names)
    refresh = Refresh(tables, Release(folder))
    if not tables.problems:
        refresh.run()
    if tables.problems or refresh.problems:
        print("\n".join(tables.problems + refresh.problems), file=sys.stderr)
        return 1
    for path, name in zip(paths, names):
        with open(path, encoding="utf-8") as text:
            old = text.read()
        new = new_text(refresh, name, old.splitlines())
        if new != old:
            with open(path, "w", encoding="utf-8") as text:
                text.write(new)
    print("\n".join(refresh.notes))
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    HERE = os.path.dirname(os.path.abspath(__file__))
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else os.path.join(HERE, "tables")))
