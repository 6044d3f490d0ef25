"""Reads the tables of kinds: the text files in tables/. README.md describes their language."""

import re
from dataclasses import dataclass, field as dataclass_field
from typing import Optional

SCALARS = ("string", "bool", "int", "long", "quantity", "intstr", "time", "micro", "bytes",
           "any", "strings")
# Names that a C++ member cannot have.
CPP_KEYWORDS = frozenset(
    "and auto bool break case catch char class concept const continue default delete do double "
    "else enum explicit export extern false float for friend goto if import inline int long module "
    "mutable namespace new not operator or private protected public register requires return short "
    "signed sizeof static struct switch template this throw true try typedef typename union "
    "unsigned using virtual void volatile while xor unknown_fields".split())
NUMBER_MAX = 0xFFFF  # schema.h stores numbers in 16 bits, those of embedded messages in 8
INSIDE_MAX = 0xFF
MEMBER_NUMBER_MAX = 63  # MessageReader stores known numbers as bits of a 64-bit word
MEMBERS_MAX = 22  # codec::Reader stores 24 names: these, kind and apiVersion

API_VERSION = re.compile(r"(?:(?P<group>[a-z][a-z0-9.]*)/)?(?P<version>v[0-9]\w*)"
                         r"(?:/(?P<kind>[A-Z]\w*))?")
TYPE_TEXT = re.compile(r"(?P<pointer>\*)?(?P<shape>\[\]|\{\})?(?P<base>\w+)(?P<empty>\?)?")


@dataclass
class Field:
    """One field of a type: one line of a table."""
    name: str
    base: str  # a scalar, or the name of a type
    shape: str = ""  # "", "[]" or "{}"
    pointer: bool = False
    omit_empty: bool = False
    number: Optional[int] = None  # in protobuf; 0: deliberately not in protobuf
    inside: int = 0  # the number of the embedded message that contains the field
    merge: Optional[str] = None  # the merge key; "" for a list of scalars
    replace: bool = False
    retain_keys: bool = False
    keys: tuple = ()  # the keys that identify an item of a list
    managed: bool = False
    member: Optional[str] = None  # the C++ member
    form: str = ""  # "boxed", "plain" or ""
    doc: str = ""
    line: int = 0

    @property
    def is_struct(self):
        return self.base not in SCALARS


@dataclass
class Type:
    """One type: a kind or a part of kinds."""
    name: str
    file: str = ""
    line: int = 0
    api_version: str = ""  # of a kind: "apps/v1"
    kind: str = ""
    struct: Optional[str] = None  # the C++ struct
    wire: bool = False  # a kind that is also decoded from protobuf into its struct
    doc: str = ""
    fields: list = dataclass_field(default_factory=list)

    def field(self, name):
        return next((each for each in self.fields if each.name == name), None)

    @property
    def members(self):
        return [each for each in self.fields if each.member]


class Tables:
    """All types in the order of the files, and the problems found in them."""

    def __init__(self):
        self.types = []
        self.by_name = {}
        self.problems = []  # "file:line: text"

    def problem(self, file, line, text):
        self.problems.append(f"{file}:{line}: {text}")


def snake(name):
    """podIPs -> pod_ips, systemUUID -> system_uuid, osImage -> os_image."""
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    text = re.sub(r"([A-Z]+)([A-Z](?!s(?:[A-Z_]|$))[a-z])", r"\1_\2", text)
    return text.lower()


def split_doc(line):
    words, _, doc = line.partition(" : ")
    return words.split(), doc.strip()


def read_number(tables, at, found, text):
    if text == "-":
        found.number = 0
        return
    match = re.fullmatch(r"(?:([0-9]+)\.)?([0-9]+)", text)
    if not match or not 0 < int(match[2]) <= NUMBER_MAX or int(match[1] or 0) > INSIDE_MAX:
        tables.problem(*at, f'field "{found.name}": "={text}" is not a number')
        return
    found.inside = int(match[1] or 0)
    found.number = int(match[2])


def read_field_mark(tables, at, found, mark):
    """Reads one word after a field's type. An unknown word is reported as a problem."""
    if mark.startswith("="):
        read_number(tables, at, found, mark[1:])
    elif mark == "merge" or mark.startswith("merge:"):
        found.merge = mark[6:]
    elif mark.startswith("keys:"):
        found.keys = tuple(mark[5:].split(","))
    elif mark == "replace":
        found.replace = True
    elif mark == "retainKeys":
        found.retain_keys = True
    elif mark == "managed":
        found.managed = True
    elif mark in ("boxed", "plain"):
        found.form = mark
    elif mark.startswith("@") and re.fullmatch(r"@[a-z]?[a-z0-9_]*", mark):
        found.member = mark[1:] or snake(found.name)
    else:
        tables.problem(*at, f'field "{found.name}": unknown mark "{mark}"')


def read_field(tables, owner, line, words, doc):
    at = (owner.file, line)
    match = TYPE_TEXT.fullmatch(words[1]) if len(words) > 1 else None
    if not match:
        tables.problem(*at, f'field "{words[0]}" has no type')
        return
    found = Field(name=words[0], base=match["base"], shape=match["shape"] or "",
                  pointer=bool(match["pointer"]), omit_empty=bool(match["empty"]), doc=doc,
                  line=line)
    for mark in words[2:]:
        read_field_mark(tables, at, found, mark)
    if owner.field(found.name):
        tables.problem(*at, f'field "{found.name}" is there twice')
    owner.fields.append(found)


def read_type(tables, file, line, words, doc):
    found = Type(name=words[0], file=file, line=line, doc=doc)
    for mark in words[1:]:
        version = API_VERSION.fullmatch(mark)
        if version:
            found.kind = version["kind"] or found.name
            found.api_version = mark.removesuffix("/" + found.kind) if version["kind"] else mark
        elif mark == "wire":
            found.wire = True
        elif mark.startswith("@") and re.fullmatch(r"@\w*", mark):
            found.struct = mark[1:] or found.name
        else:
            tables.problem(file, line, f'type "{found.name}": unknown mark "{mark}"')
    if found.name in tables.by_name:
        first = tables.by_name[found.name]
        tables.problem(file, line, f'type "{found.name}" is there twice, first at '
                                   f"{first.file}:{first.line}")
    tables.types.append(found)
    tables.by_name.setdefault(found.name, found)


def read_file(tables, path, name):
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            text = line.rstrip()
            if not text or text.lstrip().startswith("#"):
                continue
            words, doc = split_doc(text)
            if not line.startswith(" "):
                read_type(tables, name, number, words, doc)
            elif tables.types and tables.types[-1].file == name:
                read_field(tables, tables.types[-1], number, words, doc)
            else:
                tables.problem(name, number, "a field before the first type")


def check_lists(tables, at, found):
    name = f'field "{found.name}"'
    if found.shape != "[]" and (found.merge is not None or found.keys):
        tables.problem(*at, f"{name}: merge and keys are for lists")
        return
    if found.shape == "{}" and (found.retain_keys or found.replace):
        tables.problem(*at, f"{name}: retainKeys and replace are for structs and lists")
    if found.merge and found.keys and found.keys[0] != found.merge:
        tables.problem(*at, f'{name}: the merge key "{found.merge}" is not the first of its keys')
    target = tables.by_name.get(found.base)
    for key in found.keys or ((found.merge,) if found.merge else ()):
        if target is None or not target.field(key):
            tables.problem(*at, f'{name}: "{found.base}" has no field "{key}" to merge by')


def check_member(tables, at, owner, found):
    name = f'field "{found.name}"'
    if found.member in CPP_KEYWORDS or (owner.kind and found.member in ("kind", "api_version")):
        tables.problem(*at, f'{name}: "{found.member}" cannot be the name of a C++ member')
    if owner.struct is None:
        tables.problem(*at, f'{name} is a C++ member, but type "{owner.name}" is no struct ("@")')
    target = tables.by_name.get(found.base)
    if target is not None and target.struct is None:
        tables.problem(*at, f'{name} is a C++ member, but its type "{found.base}" is no struct')
    maps = ("string", "quantity", "bytes", "time")
    if found.base in ("any", "strings") or (found.base == "bytes" and found.shape != "{}") or (
            found.shape == "{}" and found.base not in maps):
        tables.problem(*at, f"{name}: no C++ member can have this type")
    if found.number is not None and (found.number > MEMBER_NUMBER_MAX or
                                     found.inside > MEMBER_NUMBER_MAX):
        tables.problem(*at, f"{name}: a C++ member needs a number up to {MEMBER_NUMBER_MAX}")


def check_field(tables, owner, found, numbers):
    at = (owner.file, found.line)
    if found.is_struct and found.base not in tables.by_name:
        tables.problem(*at, f'field "{found.name}": unknown type "{found.base}"')
        return
    if found.number is None and numbers:
        tables.problem(*at, f'field "{found.name}" has no number ("=-" when protobuf lacks it)')
    if found.number:
        place = (found.inside, found.number)
        if place in numbers and numbers[place] is not found:
            tables.problem(*at, f'field "{found.name}": number {found.number} is that of '
                                f'"{numbers[place].name}", too')
        numbers.setdefault(place, found)
        if (0, found.inside) in numbers and found.inside:
            other = numbers[(0, found.inside)].name
            tables.problem(*at, f'field "{found.name}": embedded message {found.inside} is '
                                f'"{other}", too')
    check_lists(tables, at, found)
    if found.member:
        check_member(tables, at, owner, found)
    elif found.form:
        tables.problem(*at, f'field "{found.name}": "{found.form}" is for C++ members ("@")')


def check_type(tables, found):
    numbers = {}
    for each in found.fields:  # the first field with a number is the one that others are compared with
        if each.number:
            numbers.setdefault((each.inside, each.number), each)
    for each in found.fields:
        check_field(tables, found, each, numbers)
    if len(found.members) > MEMBERS_MAX:
        tables.problem(found.file, found.line,
                       f'type "{found.name}" has more than {MEMBERS_MAX} C++ members')
    if found.wire and not (found.struct and found.kind):
        tables.problem(found.file, found.line,
                       f'type "{found.name}": "wire" is for kinds with a struct')


def read_tables(paths, shown=None):
    """Reads `paths` in order; problems name them as in `shown`. Check `.problems` of the result."""
    tables = Tables()
    for path, name in zip(paths, shown or paths):
        read_file(tables, path, name)
    for each in tables.types:
        check_type(tables, each)
    return tables
