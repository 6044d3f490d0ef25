#include "sync/wire/protobuf/cursor.h"

#include "platform/integers.h"
#include "sync/wire/utf8.h"

namespace holdfast::sync::wire {
namespace {

constexpr std::uint64_t number_max = (1U << 29U) - 1;

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7fU) | 0x80U);
  out += static_cast<char>(value);
}

}  // namespace

Error WireCursor::error() const {
  return {Errc::invalid,
          "protobuf at byte " + std::to_string(problem_at_) + ": " + std::string(problem_)};
}

void WireCursor::fail_here(const char* problem) {
  if (!ok()) return;
  problem_ = problem;
  problem_at_ = field_;
  rest_ = {};
}

bool WireCursor::varint(std::uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) {
      fail_here("cut off");
      return false;
    }
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    out |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) return true;
  }
  fail_here("a number of more than 64 bits");
  return false;
}

bool WireCursor::take(std::uint64_t length) {
  if (length > rest_.size()) {
    fail_here("cut off");
    return false;
  }
  bytes_ = rest_.substr(0, to_size(length));
  rest_.remove_prefix(bytes_.size());
  return true;
}

bool WireCursor::next() {
  if (rest_.empty()) return false;
  field_ = end_offset();
  std::uint64_t tag = 0;
  if (!varint(tag)) return false;
  if (tag >> 3U == 0 || tag >> 3U > number_max) {
    fail_here("no field number");
    return false;
  }
  number_ = static_cast<int>(tag >> 3U);
  type_ = static_cast<Type>(tag & 7U);
  switch (type_) {
    case Type::varint:
      return varint(value_);
    case Type::fixed64:
      return take(8);
    case Type::fixed32:
      return take(4);
    case Type::bytes: {
      std::uint64_t length = 0;
      return varint(length) && take(length);
    }
  }
  fail_here("unknown wire type");
  return false;
}

bool WireCursor::bytes(std::string_view& out) {
  if (ok() && type_ != Type::bytes) fail_here("wrong wire type");
  if (!ok()) return false;
  out = bytes_;
  return true;
}

bool WireCursor::text(std::string_view& out) {
  std::string_view found;
  if (!bytes(found)) return false;
  if (!is_utf8(found)) {
    fail_here("invalid UTF-8");
    return false;
  }
  out = found;
  return true;
}

bool WireCursor::text(std::string& out) {
  std::string_view found;
  if (!text(found)) return false;
  out = found;
  return true;
}

bool WireCursor::integer(std::int64_t& out) {
  if (ok() && type_ != Type::varint) fail_here("wrong wire type");
  if (!ok()) return false;
  out = static_cast<std::int64_t>(value_);
  return true;
}

WireCursor WireCursor::message() {
  std::string_view found;
  (void)bytes(found);
  return WireCursor(found, end_offset() - found.size());
}

void WireCursor::take_error(const WireCursor& inner) {
  if (inner.ok() || !ok()) return;
  fail_here(inner.problem_);
  problem_at_ = inner.problem_at_;
}

void append_wire(std::string& out, int number, std::int64_t value) {
  append_varint(out, static_cast<std::uint64_t>(number) << 3U);
  append_varint(out, static_cast<std::uint64_t>(value));
}

void append_wire(std::string& out, int number, std::string_view bytes) {
  append_wire_size(out, number, bytes.size());
  out += bytes;
}

void append_wire_size(std::string& out, int number, std::size_t size) {
  append_varint(out, (static_cast<std::uint64_t>(number) << 3U) |
                         static_cast<std::uint64_t>(WireCursor::Type::bytes));
  append_varint(out, size);
}

}  // namespace holdfast::sync::wire
