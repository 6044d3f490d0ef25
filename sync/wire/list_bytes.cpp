#include "sync/wire/list_bytes.h"

#include "platform/text.h"
#include "sync/wire/json_scan.h"

namespace holdfast::sync::wire {
namespace {

void read_list_metadata(JsonCursor& in, ListHead& head) {
  for (JsonFields field(in); field.next();) {
    if (field.key() == "resourceVersion") {
      in.text(head.resource_version);
    } else if (field.key() == "continue") {
      in.text(head.continue_token);
    } else if (field.key() == "remainingItemCount") {
      head.remaining_item_count = parse_int<std::int64_t>(in.skip());
    } else {
      in.skip();
    }
  }
}

// Kinds, versions, tokens and resource versions need no escapes, except that quotes and backslashes
// could break out of the string.
void append_field(std::string& out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  if (out.back() != '{') out += ',';
  out.append("\"").append(name).append("\":\"");
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

bool has_type(std::string_view item) {
  JsonCursor in(item);
  for (JsonFields field(in); field.next(); in.skip()) {
    if (field.key() == "kind" || field.key() == "apiVersion") return true;
  }
  return false;
}

}  // namespace

Error too_many_items(std::size_t items_max) {
  return {Errc::exhausted, "list: more than " + std::to_string(items_max) + " items"};
}

Result<ListBytes> split_list(std::string_view list, std::size_t items_max) {
  ListBytes out;
  bool has_items = false;
  JsonCursor in(list);
  for (JsonFields field(in); field.next();) {
    if (field.key() == "kind") {
      in.text(out.head.kind);
    } else if (field.key() == "apiVersion") {
      in.text(out.head.api_version);
    } else if (field.key() == "metadata") {
      read_list_metadata(in, out.head);
    } else if (field.key() == "items") {
      has_items = true;
      for (JsonItems item(in); item.next();) {
        if (in.peek() != '{') in.fail_here("expected an object");
        if (out.items.size() >= items_max) return fail(too_many_items(items_max));
        out.items.push_back(in.skip());
      }
    } else {
      in.skip();
    }
  }
  in.end();
  if (!in.ok()) return fail("list", in.error());
  if (!has_items) return fail(Errc::invalid, "list: no items field");
  return out;
}

std::string list_prefix(const ListHead& head) {
  std::string out = "{";
  append_field(out, "kind", head.kind);
  append_field(out, "apiVersion", head.api_version);
  out += out.back() == '{' ? "\"metadata\":{" : ",\"metadata\":{";
  append_field(out, "resourceVersion", head.resource_version);
  append_field(out, "continue", head.continue_token);
  if (head.remaining_item_count) {
    if (out.back() != '{') out += ',';
    out += "\"remainingItemCount\":" + std::to_string(*head.remaining_item_count);
  }
  return out += "},\"items\":[";
}

std::string join_list(const ListHead& head, std::span<const std::string_view> items) {
  std::string out = list_prefix(head);
  std::size_t size = out.size() + items.size() + list_suffix.size();
  for (const std::string_view item : items) size += item.size();
  out.reserve(size);
  bool first = true;
  for (const std::string_view item : items) {
    if (!first) out += ',';
    first = false;
    out += item;
  }
  return out += list_suffix;
}

std::string standalone(std::string_view item, std::string_view kind, std::string_view api_version) {
  const std::size_t open = item.find('{');
  if (open == item.npos || has_type(item)) return std::string(item);
  std::string out;
  out.reserve(item.size() + kind.size() + api_version.size() + 32);
  out = "{";
  append_field(out, "kind", kind);
  append_field(out, "apiVersion", api_version);
  const bool empty = JsonCursor(item.substr(open + 1)).peek() == '}';
  if (out.size() > 1 && !empty) out += ',';
  return out.append(item.substr(open + 1));
}

Result<std::string> as_item(std::string_view object) {
  std::string out = "{";
  out.reserve(object.size());
  JsonCursor in(object);
  for (JsonFields field(in); field.next();) {
    in.skip();
    if (field.key() == "kind" || field.key() == "apiVersion") continue;
    if (out.size() > 1) out += ',';
    out += object.substr(field.key_offset(), in.offset() - field.key_offset());
  }
  in.end();
  if (!in.ok()) return fail(in.error());
  return out += '}';
}

std::string_view item_kind(std::string_view list_kind) {
  if (list_kind.ends_with("List")) list_kind.remove_suffix(4);
  return list_kind;
}

}  // namespace holdfast::sync::wire
