#include "sync/wire/protobuf/message_reader.h"

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/wire_time.h"
#include "sync/wire/utf8.h"

namespace holdfast::sync::wire::proto {
namespace {

// The field numbers 1 and 2: of times and of map entries.
constexpr std::uint64_t one_and_two = 0b110;

}  // namespace

void MessageReader::failed(const Path& path, std::string_view what) {
  if (error_.empty()) error_ = path.text().append(": ").append(what);
}

void MessageReader::check(const std::string& unknown, std::uint64_t known, const Path* at) {
  if (unknown.empty() || !error_.empty()) return;
  WireCursor in(unknown);
  while (in.next()) {
    if (in.number() > 63 || (known >> static_cast<unsigned>(in.number()) & 1U) == 0) continue;
    in.fail_here("wrong wire type");
  }
  if (in.ok()) return;
  error_ = at != nullptr ? at->text() + ": " : std::string();
  error_ += "field " + std::to_string(in.number()) + ": " + in.problem();
}

void MessageReader::read(const std::string& in, std::string& out, const Path& path) {
  if (!is_utf8(in)) return failed(path, "invalid UTF-8");
  out = in;
}

void MessageReader::read(const messages::Time& in, std::optional<WallTime>& out, const Path& path) {
  check(in.unknown_fields(), one_and_two, &path);
  // Go writes its zero time as an empty message. Nanoseconds are ignored.
  if (!in.has_seconds() || in.seconds() == wire_year_one) return;
  out = wall_time(in.seconds(), 0);
  if (!out) failed(path, "time out of range");
}

void MessageReader::read(const messages::MicroTime& in, std::optional<WallTime>& out,
                         const Path& path) {
  check(in.unknown_fields(), one_and_two, &path);
  if (!in.has_seconds() || in.seconds() == wire_year_one) return;
  out = wall_time(in.seconds(), in.nanos() - in.nanos() % 1000);
  if (!out) failed(path, "time out of range");
}

void MessageReader::read(const messages::IntOrString& in, std::optional<IntOrString>& out,
                         const Path& path) {
  check(in.unknown_fields(), one_and_two | 0b1000, &path);
  out.emplace();
  if (in.type() == 0) {
    out->number = in.int_val();
  } else {
    read(in.str_val(), out->text.emplace(), path);
  }
}

void MessageReader::read(const RepeatedPtrField<std::string>& in, std::vector<std::string>& out,
                         const Path& path) {
  out.reserve(static_cast<std::size_t>(in.size()));
  for (const std::string& item : in) {
    std::string& added = out.emplace_back();
    read(item, added, Path{&path, {}, {}, out.size() - 1});
  }
}

void MessageReader::read(const RepeatedPtrField<messages::StringEntry>& in, StringMap& out,
                         const Path& path) {
  out.reserve(static_cast<std::size_t>(in.size()));
  for (const messages::StringEntry& entry : in) {
    const Path here{&path, {}, entry.key()};
    check(entry.unknown_fields(), one_and_two, &here);
    if (!is_utf8(entry.key()) || !is_utf8(entry.value())) return failed(here, "invalid UTF-8");
    out.set(entry.key(), entry.value());
  }
}

void MessageReader::read(const RepeatedPtrField<messages::QuantityEntry>& in, StringMap& out,
                         const Path& path) {
  out.reserve(static_cast<std::size_t>(in.size()));
  for (const messages::QuantityEntry& entry : in) {
    const Path here{&path, {}, entry.key()};
    check(entry.unknown_fields(), one_and_two, &here);
    check(entry.value().unknown_fields(), one_and_two, &here);
    const std::string& amount = entry.value().text();
    if (!is_utf8(entry.key()) || !is_utf8(amount)) return failed(here, "invalid UTF-8");
    out.set(entry.key(), amount);
  }
}

}  // namespace holdfast::sync::wire::proto
