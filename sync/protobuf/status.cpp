#include "sync/protobuf/status.h"

#include <limits>

#include "sync/protobuf/cursor.h"
#include "sync/protobuf/envelope.h"

namespace holdfast::sync {
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

}  // namespace

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

}  // namespace holdfast::sync
