#include "sync/wire/protobuf/status.h"

#include <limits>

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::sync::wire {
namespace {

void read_int(WireCursor& in, std::int32_t& out) {
  std::int64_t wide = 0;
  if (in.integer(wide)) out = static_cast<std::int32_t>(wide);
}

StatusCause read_cause(WireCursor& in) {
  StatusCause cause;
  while (in.next()) {
    if (in.number() == 1) in.text(cause.reason);
    if (in.number() == 2) in.text(cause.message);
    if (in.number() == 3) in.text(cause.field);
  }
  return cause;
}

StatusDetails read_details(WireCursor& in) {
  StatusDetails details;
  while (in.next()) {
    if (in.number() == 1) in.text(details.name);
    if (in.number() == 2) in.text(details.group);
    if (in.number() == 3) in.text(details.kind);
    if (in.number() == 4) {
      WireCursor cause = in.message();
      details.causes.push_back(read_cause(cause));
      in.take_error(cause);
    }
    if (in.number() == 5) read_int(in, details.retry_after_seconds);
    if (in.number() == 6) in.text(details.uid);
  }
  return details;
}

std::string encode(const StatusDetails& details) {
  std::string out;
  append_wire(out, 1, details.name);
  append_wire(out, 2, details.group);
  append_wire(out, 3, details.kind);
  for (const StatusCause& cause : details.causes) {
    std::string inner;
    append_wire(inner, 1, cause.reason);
    append_wire(inner, 2, cause.message);
    append_wire(inner, 3, cause.field);
    append_wire(out, 4, inner);
  }
  append_wire(out, 5, details.retry_after_seconds);
  append_wire(out, 6, details.uid);
  return out;
}

}  // namespace

std::string encode_protobuf_status(const ApiStatus& status) {
  std::string out;
  append_wire(out, 2, status.status);
  append_wire(out, 3, status.message);
  append_wire(out, 4, status.reason);
  if (status.details) append_wire(out, 5, encode(*status.details));
  append_wire(out, 6, status.code);
  return enveloped("v1", "Status", out);
}

Result<ApiStatus> parse_status(std::string_view body) {
  return is_protobuf(body) ? parse_protobuf_status(body) : parse_json_status(body);
}

Error to_error(int http_status, std::string_view body) {
  auto parsed = parse_status(body);
  if (!parsed || !parsed->failed()) return to_error(status::generic(http_status));
  if (parsed->code == 0) parsed->code = http_status;
  return to_error(*parsed);
}

Result<ApiStatus> parse_protobuf_status(std::string_view body) {
  TRY(const Envelope envelope, open_envelope(body));
  if (envelope.kind != "Status") {
    return fail(Errc::invalid, "not a Status: kind \"" + std::string(envelope.kind) + "\"");
  }
  ApiStatus out{.status = {}, .message = {}, .reason = {}, .details = {}, .code = 0};
  WireCursor in(envelope.raw, envelope.raw_offset);
  while (in.next()) {
    if (in.number() == 2) in.text(out.status);
    if (in.number() == 3) in.text(out.message);
    if (in.number() == 4) in.text(out.reason);
    if (in.number() == 5) {
      WireCursor details = in.message();
      out.details = read_details(details);
      in.take_error(details);
    }
    if (in.number() == 6) read_int(in, out.code);
  }
  if (!in.ok()) return fail(in.error());
  return out;
}

}  // namespace holdfast::sync::wire
