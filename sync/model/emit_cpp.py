"""Generates C++ structs and their fields for the JSON codec (sync/wire/codec_fields.h)."""

import textwrap

SCALAR_TYPES = {"string": "std::string", "quantity": "std::string", "bool": "bool",
                "int": "std::int32_t", "long": "std::int64_t", "intstr": "IntOrString",
                "time": "WallTime", "micro": "WallTime"}
INITIAL = {"bool": " = false", "int": " = 0", "long": " = 0"}
GENERATED = "// Generated from sync/model/tables/{family}.txt by sync/model/generate.py.\n"


def member_type(model, field):
    """The C++ type of a member."""
    if field.shape == "{}":
        return "StringMap"
    value = SCALAR_TYPES.get(field.base) or model.target(field).struct
    if field.shape == "[]":
        return f"std::vector<{value}>"
    if field.base in ("time", "micro"):
        return f"std::optional<{value}>"  # even if not a pointer: Go's zero time means absent
    if not field.pointer or field.form == "plain":
        return value
    return f"Boxed<{value}>" if field.form == "boxed" else f"std::optional<{value}>"


def is_always_written(model, owner, field):
    """Whether an empty value is written to JSON. (The codec always writes structs anyway.)"""
    if field.omit_empty or (field.is_struct and field.shape == "" and not field.pointer):
        return False
    return all(any(each.member == field.member and not each.omit_empty for each in other.members)
               for other in model.sharers[owner.struct])


def comment(text, indent):
    return "".join(line + "\n" for line in textwrap.wrap(
        text, 100, initial_indent=indent + "// ", subsequent_indent=indent + "// ",
        break_long_words=False)) if text else ""


def struct(model, found):
    lines = [comment(found.doc, ""), f"struct {found.struct} {{\n"]
    if found.kind:
        lines.append(f'  static constexpr std::string_view kind = "{found.kind}";\n')
        lines.append(f'  static constexpr std::string_view api_version = "{found.api_version}";\n\n')
    for field in found.members:
        lines.append(comment(field.doc, "  "))
        plain = field.shape == "" and (not field.pointer or field.form == "plain")
        initial = INITIAL.get(field.base, "") if plain else ""
        lines.append(f"  {member_type(model, field)} {field.member}{initial};\n")
    lines.append("  UnknownFields unknown_fields;\n\n")
    lines.append(f"  bool operator==(const {found.struct}&) const = default;\n}};\n")
    return "".join(lines)


def structs(model, family):
    """The header with the structs of one table."""
    types = model.defining(family)
    lines = [GENERATED.format(family=family), "\n#pragma once\n\n#include <cstdint>\n"
             "#include <optional>\n#include <string>\n#include <string_view>\n#include <vector>\n\n"
             '#include "platform/time.h"\n#include "sync/model/boxed.h"\n'
             '#include "sync/model/find.h"\n#include "sync/model/int_or_string.h"\n']
    for other in model.used_families(types, family):
        lines.append(f'#include "sync/model/{other}.h"\n')
    lines.append('#include "sync/model/string_map.h"\n#include "sync/model/unknown_fields.h"\n')
    lines.append("\nnamespace holdfast::sync::inline model {\n\n")
    lines.append("\n".join(struct(model, each) for each in types))
    lines.append("\n}  // namespace holdfast::sync::inline model\n")
    return "".join(lines)


def json_line(model, owner, field):
    always = ", always" if is_always_written(model, owner, field) else ""
    where = f'"{field.name}", t.{field.member}'
    if field.base == "quantity" and field.shape == "{}":
        return f"  f.quantities({where});\n"
    if field.base == "bytes":
        return f"  f.base64({where});\n"
    if field.base == "micro":
        return f"  f.micros({where}{always});\n"
    return f"  f({where}{always});\n"


def json_fields(model, family):
    """The header with fields() of one table's structs, for the JSON codec."""
    types = model.defining(family)
    lines = [GENERATED.format(family=family),
             '\n#pragma once\n\n#include "sync/wire/codec_fields.h"\n']
    for other in model.used_families(types, family):
        lines.append(f'#include "sync/wire/{other}_json.h"\n')
    lines.append(f'#include "sync/model/{family}.h"\n\nnamespace holdfast::sync::wire::codec {{\n\n')
    for each in types:
        lines.append(f"template <class F, Is<{each.struct}> T>\nvoid fields(F& f, T& t) {{\n")
        for field in each.fields:
            if field.member:
                lines.append(json_line(model, each, field))
            elif field.managed:
                lines.append(f'  f.managed("{field.name}");\n')
        lines.append("  f.rest(t.unknown_fields);\n}\n\n")
    lines.append("}  // namespace holdfast::sync::wire::codec\n")
    return "".join(lines)


def json_codecs(model, family):
    """The .cpp with decode() and encode() of one table's kinds."""
    lines = [GENERATED.format(family=family),
             f'\n#include "sync/wire/{family}_json.h"\n\nnamespace holdfast::sync::wire {{\n\n']
    lines += [f"HOLDFAST_CODEC({each.struct})\n" for each in model.defining(family) if each.kind]
    lines.append("\n}  // namespace holdfast::sync::wire\n")
    return "".join(lines)
