#include "sync/wire/protobuf/list.h"

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::sync::wire {
namespace {

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
    if (in.number() == 1) {
      has_metadata = true;
      WireCursor metadata = in.message();
      read_list_metadata(metadata, out.head);
      in.take_error(metadata);
    } else if (in.number() == 2) {
      if (out.items.size() >= items_max) return fail(too_many_items(items_max));
      in.bytes(out.items.emplace_back());
    }
  }
  if (!in.ok()) return fail("list", in.error());
  if (!has_metadata) return fail(Errc::invalid, "list: no metadata");
  return out;
}

std::string join_protobuf_list(const ListHead& head, std::span<const std::string_view> items) {
  std::string metadata;
  append_wire(metadata, 1, "");  // selfLink, which Go always writes, although it is always empty
  append_wire(metadata, 2, head.resource_version);
  append_wire(metadata, 3, head.continue_token);
  if (head.remaining_item_count) append_wire(metadata, 4, *head.remaining_item_count);
  std::size_t size = metadata.size() + 16;
  for (const std::string_view item : items) size += item.size() + 8;
  std::string raw;
  raw.reserve(size);
  append_wire(raw, 1, metadata);
  for (const std::string_view item : items) append_wire(raw, 2, item);
  return enveloped(head.api_version, head.kind, raw);
}

}  // namespace holdfast::sync::wire
