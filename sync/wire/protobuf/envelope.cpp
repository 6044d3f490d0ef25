#include "sync/wire/protobuf/envelope.h"

#include "sync/wire/protobuf/cursor.h"

namespace holdfast::sync::wire {

Result<Envelope> open_envelope(std::string_view bytes) {
  if (!is_protobuf(bytes))
    return fail(Errc::invalid, "not Kubernetes protobuf: no \"k8s\" in front");
  Envelope out;
  bool has_raw = false;
  WireCursor in(bytes.substr(protobuf_magic.size()), protobuf_magic.size());
  while (in.next()) {
    if (in.number() == 1) {
      WireCursor type = in.message();
      while (type.next()) {
        if (type.number() == 1) type.text(out.api_version);
        if (type.number() == 2) type.text(out.kind);
      }
      in.take_error(type);
    } else if (in.number() == 2) {
      has_raw = in.bytes(out.raw);
      out.raw_offset = in.end_offset() - out.raw.size();
    }
  }
  if (!in.ok()) return fail(in.error());
  if (!has_raw) return fail(Errc::invalid, "protobuf envelope: nothing in it");
  return out;
}

std::string enveloped(std::string_view api_version, std::string_view kind, std::string_view raw) {
  const std::string prefix = envelope_prefix(api_version, kind, raw.size());
  std::string out;
  out.reserve(prefix.size() + raw.size() + envelope_suffix.size());
  return out.append(prefix).append(raw).append(envelope_suffix);
}

std::string envelope_prefix(std::string_view api_version, std::string_view kind,
                            std::size_t raw_size) {
  std::string type;
  append_wire(type, 1, api_version);
  append_wire(type, 2, kind);
  std::string out(protobuf_magic);
  append_wire(out, 1, type);
  append_wire_size(out, 2, raw_size);
  return out;
}

}  // namespace holdfast::sync::wire
