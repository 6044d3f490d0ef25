"""Generates the .proto files and the fields of their messages for sync/wire/protobuf/message_reader.h.

A message has only the fields with a C++ member; all others stay among its unknown fields.
"""

from emit_cpp import GENERATED, member_type

SCALAR_TYPES = {"string": "string", "bool": "bool", "int": "int32", "long": "int64",
                "quantity": "Quantity", "intstr": "IntOrString", "time": "Time",
                "micro": "MicroTime"}
MAP_TYPES = {"string": "StringEntry", "quantity": "QuantityEntry"}


def inside_numbers(found):
    """The numbers of the messages that Go embeds and JSON does not show."""
    return sorted({field.inside for field in found.members if field.inside})


def proto_line(found, field, indent):
    if field.shape == "{}":
        return f"{indent}repeated {MAP_TYPES[field.base]} {field.member} = {field.number};\n"
    label = "repeated" if field.shape else "optional"
    value = SCALAR_TYPES.get(field.base, field.base)
    return f"{indent}{label} {value} {field.member} = {field.number};\n"


def message(found):
    lines = [f"message {found.name} {{\n"]
    for number in inside_numbers(found):
        lines.append(f"  message Inside{number} {{\n")
        lines += [proto_line(found, field, "    ") for field in found.members
                  if field.inside == number]
        lines.append(f"  }}\n  optional Inside{number} inside{number} = {number};\n")
    lines += [proto_line(found, field, "  ") for field in found.members if not field.inside]
    lines.append("}\n")
    if found.wire:
        lines.append(f"message {found.name}List {{\n  optional ListMeta metadata = 1;\n"
                     f"  repeated {found.name} items = 2;\n}}\n")
    return "".join(lines)


def proto(model, family):
    """The messages of one table."""
    types = model.messages(family)
    lines = [GENERATED.format(family=family),
             '\nsyntax = "proto2";\npackage holdfast.sync.wire.messages;\n'
             'import "sync/wire/protobuf/base.proto";\n']
    for other in model.used_families(types, family):
        lines.append(f'import "sync/wire/protobuf/{other}.proto";\n')
    lines.append("option optimize_for = LITE_RUNTIME;\n\n")
    lines.append("\n".join(message(each) for each in types))
    return "".join(lines)


def has_presence(model, field):
    kind = member_type(model, field)
    return kind.startswith(("std::optional<", "Boxed<")) and field.base not in ("time", "micro")


def fields_line(model, field):
    there = f"m.has_{field.member}(), " if has_presence(model, field) else ""
    return (f'  f({field.number}, "{field.name}", {there}m.{field.member}(), '
            f"t.{field.member});\n")


def fields_of(model, found):
    lines = []
    for number in inside_numbers(found):
        lines.append(f"template <class F>\nvoid fields(F& f, const messages::{found.name}_Inside"
                     f"{number}& m, {found.struct}& t) {{\n")
        lines += [fields_line(model, field) for field in found.members if field.inside == number]
        lines.append("}\n\n")
    if not found.members:
        return f"template <class F>\nvoid fields(F&, const messages::{found.name}&, {found.struct}&) {{}}\n\n"
    lines.append(f"template <class F>\nvoid fields(F& f, const messages::{found.name}& m, "
                 f"{found.struct}& t) {{\n")
    lines += [f"  f.embedded({number}, m.inside{number}(), t);\n"
              for number in inside_numbers(found)]
    lines += [fields_line(model, field) for field in found.members if not field.inside]
    lines.append("}\n\n")
    return "".join(lines)


def message_fields(model, family):
    """The header with fields() of one table's messages."""
    types = model.messages(family)
    lines = [GENERATED.format(family=family),
             '\n#pragma once\n\n#include "sync/wire/protobuf/message_reader.h"\n']
    for other in model.used_families(types, family):
        lines.append(f'#include "sync/wire/protobuf/{other}_message.h"\n')
    lines.append(f'#include "sync/model/{family}.h"\n'
                 f'#include "sync/wire/protobuf/{family}.pb.h"\n\n'
                 "namespace holdfast::sync::wire::proto {\n\n")
    lines += [fields_of(model, each) for each in types]
    lines.append("}  // namespace holdfast::sync::wire::proto\n")
    return "".join(lines)


def decoders(model, family):
    """The .cpp with decode_protobuf() of one table's kinds."""
    lines = [GENERATED.format(family=family),
             f'\n#include "sync/wire/protobuf/{family}_message.h"\n\nnamespace holdfast::sync::wire {{\n\n']
    for each in model.messages(family):
        if each.wire:
            lines.append(f"template <>\nResult<{each.struct}> decode_protobuf<{each.struct}>"
                         "(std::string_view bytes) {\n  return proto::read_message<messages::"
                         f"{each.name}, {each.struct}>(bytes);\n}}\n\n")
    lines.append("}  // namespace holdfast::sync::wire\n")
    return "".join(lines)
