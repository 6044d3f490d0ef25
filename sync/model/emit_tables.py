"""Generates the tables that programs read at run time (sync/model/schema.cpp), and their texts.

The format is compact, because the tables are part of every program. A line without leading space
is a type; "!" after its name marks a kind. A field is " name TYPE NUMBER MARK...". TYPE is "*",
"[" or "{" (all optional), then a scalar's letter or a type's index in the list, then "?". A mark
is "m" (merge), "r" (replace), "R" (retainKeys), or ":" and the keys that identify an item, the
merge key first.
"""

PIECE = 8000  # characters per raw string literal; the compiler joins adjacent literals
LETTERS = {"string": "s", "bool": "b", "int": "i", "long": "l", "quantity": "q", "intstr": "n",
           "time": "t", "micro": "u", "bytes": "y", "any": "a", "strings": "x"}


def literal(name, text):
    pieces = [text[at:at + PIECE] for at in range(0, len(text), PIECE)] or [""]
    body = "".join(f'\n    R"~({piece})~"' for piece in pieces)
    return f"inline constexpr std::string_view {name} ={body};\n"


def header(name, text):
    return ("// Generated from sync/model/tables by sync/model/generate.py.\n\n#pragma once\n\n"
            "#include <string_view>\n\nnamespace holdfast::sync::inline model::generated {\n\n" + literal(name, text) +
            "\n}  // namespace holdfast::sync::inline model::generated\n")


def field_line(field, places):
    base = LETTERS.get(field.base) or str(places[field.base])
    words = [field.name, ("*" if field.pointer else "") + field.shape[:1] + base +
             ("?" if field.omit_empty else ""),
             f"{field.inside}.{field.number}" if field.inside else str(field.number or 0)]
    words += [letter for letter, is_there in (("m", field.merge is not None), ("r", field.replace),
                                              ("R", field.retain_keys)) if is_there]
    keys = field.keys or ((field.merge,) if field.merge else ())
    if keys:
        words.append(":" + ",".join(keys))
    return " " + " ".join(words) + "\n"


def tables(model):
    """One line per type, and one line with a leading space per field."""
    lines = []
    places = {each.name: place for place, each in enumerate(model.tables.types)}
    for each in model.tables.types:
        lines.append(each.name + ("!\n" if each.kind else "\n"))
        lines += [field_line(field, places) for field in each.fields if not field.managed]
    return header("tables", "".join(lines))


def docs(model):
    """One line per type and field with a text: "Type text" or "Type.field text"."""
    lines = []
    for each in model.tables.types:
        if each.doc:
            lines.append(f"{each.name} {each.doc}\n")
        lines += [f"{each.name}.{field.name} {field.doc}\n" for field in each.fields if field.doc]
    return header("docs", "".join(lines))
