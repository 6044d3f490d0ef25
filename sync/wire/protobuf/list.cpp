#include "sync/wire/protobuf/list.h"

#include "sync/wire/protobuf/cursor.h"

namespace holdfast::sync::wire {
namespace {

// The fields of every List message.
constexpr int metadata_field = 1;
constexpr int item_field = 2;

void read_list_metadata(WireCursor& in, ListHead& head) {
  while (in.next()) {
    if (in.number() == 2) {
      in.text(head.resource_version);
    } else if (in.number() == 3) {
      in.text(head.continue_token);
    } else if (in.number() == 4) {
      in.integer(head.remaining_item_count.emplace());
    }
  }
}

}  // namespace

Result<ListBytes> split_protobuf_list(std::string_view list, std::size_t items_max) {
  auto envelope = open_envelope(list);
  if (!envelope) return fail("list", envelope.error());
  ListBytes out;
  out.head.kind = envelope->kind;
  out.head.api_version = envelope->api_version;
  if (!envelope->kind.ends_with("List")) {
    return fail(Errc::invalid, "list: not a list: kind \"" + out.head.kind + "\"");
  }
  bool has_metadata = false;
  WireCursor in(envelope->raw, envelope->raw_offset);
  while (in.next()) {
    if (in.number() == metadata_field) {
      has_metadata = true;
      WireCursor metadata = in.message();
      read_list_metadata(metadata, out.head);
      in.take_error(metadata);
    } else if (in.number() == item_field) {
      if (out.items.size() >= items_max) return fail(too_many_items(items_max));
      in.bytes(out.items.emplace_back());
    }
  }
  if (!in.ok()) return fail("list", in.error());
  if (!has_metadata) return fail(Errc::invalid, "list: no metadata");
  return out;
}

std::string join_protobuf_list(const ListHead& head, std::span<const std::string_view> items) {
  std::size_t size = 0;
  for (const std::string_view item : items) {
    size += protobuf_item_prefix(item.size()).size() + item.size();
  }
  const std::string prefix = protobuf_list_prefix(head, size);
  std::string out;
  out.reserve(prefix.size() + size + protobuf_list_suffix.size());
  out += prefix;
  for (const std::string_view item : items) append_wire(out, item_field, item);
  return out += protobuf_list_suffix;
}

std::string protobuf_list_prefix(const ListHead& head, std::size_t items_size) {
  std::string metadata;
  append_wire(metadata, 1, "");  // selfLink, which Go always writes, although it is always empty
  append_wire(metadata, 2, head.resource_version);
  append_wire(metadata, 3, head.continue_token);
  if (head.remaining_item_count) append_wire(metadata, 4, *head.remaining_item_count);
  std::string first;
  append_wire(first, metadata_field, metadata);
  return envelope_prefix(head.api_version, head.kind, first.size() + items_size) + first;
}

std::string protobuf_item_prefix(std::size_t item_size) {
  std::string prefix;
  append_wire_size(prefix, item_field, item_size);
  return prefix;
}

}  // namespace holdfast::sync::wire
