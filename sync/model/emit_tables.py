"""The tables that the program reads at run time (sync/schema/schema.cpp), and their texts."""

PIECE = 8000  # characters of a raw string literal; the compiler joins the pieces


def literal(name, text):
    pieces = [text[at:at + PIECE] for at in range(0, len(text), PIECE)] or [""]
    body = "".join(f'\n    R"~({piece})~"' for piece in pieces)
    return f"inline constexpr std::string_view {name} ={body};\n"


def header(name, text):
    return ("// Generated from sync/model/tables by sync/model/generate.py.\n\n#pragma once\n\n"
            "#include <string_view>\n\nnamespace holdfast::model {\n\n" + literal(name, text) +
            "\n}  // namespace holdfast::model\n")


def field_line(field):
    words = [field.name, ("*" if field.pointer else "") + field.shape + field.base +
             ("?" if field.omit_empty else "")]
    if field.number:
        words.append(f"={field.inside}.{field.number}" if field.inside else f"={field.number}")
    if field.merge is not None:
        words.append(f"merge:{field.merge}" if field.merge else "merge")
    if field.keys:
        words.append("keys:" + ",".join(field.keys))
    words += [word for word, is_there in (("replace", field.replace),
                                          ("retainKeys", field.retain_keys)) if is_there]
    return " " + " ".join(words) + "\n"


def tables(model):
    """A line for each type, and one that begins with a space for each of its fields."""
    lines = []
    for each in model.tables.types:
        lines.append(each.name + (f" {each.api_version}\n" if each.kind else "\n"))
        lines += [field_line(field) for field in each.fields if not field.managed]
    return header("tables", "".join(lines))


def docs(model):
    """A line for each type and field that has a text: "Type text" or "Type.field text"."""
    lines = []
    for each in model.tables.types:
        if each.doc:
            lines.append(f"{each.name} {each.doc}\n")
        lines += [f"{each.name}.{field.name} {field.doc}\n" for field in each.fields if field.doc]
    return header("docs", "".join(lines))
