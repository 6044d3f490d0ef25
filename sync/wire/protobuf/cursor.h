// A cursor over protobuf's wire format that builds no objects: for envelopes, lists, watch events
// and headers, whose bytes are forwarded unchanged.
//
// After the first error every call does nothing and ok() is false. Groups, which Kubernetes does
// not use, are an error.
//
//     WireCursor in(bytes);
//     while (in.next()) {
//       if (in.number() == 1) in.text(name);
//     }
//     if (!in.ok()) return fail(in.error());

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::sync::wire {

class WireCursor {
 public:
  enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  // Borrows `bytes`. `offset` is added to positions in errors, for bytes that are part of a larger
  // text.
  explicit WireCursor(std::string_view bytes, std::size_t offset = 0)
      : rest_(bytes), start_(offset), size_(bytes.size()) {}

  // Moves to the next field; returns false at the end and on an error.
  bool next();
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] Type type() const { return type_; }

  // The current field's value; it is an error if the field has another type. Text must be UTF-8.
  bool text(std::string& out);
  bool text(std::string_view& out);
  bool bytes(std::string_view& out);
  bool integer(std::int64_t& out);
  // A cursor over an embedded message. Pass it to take_error() after use.
  [[nodiscard]] WireCursor message();
  void take_error(const WireCursor& inner);

  // The offset of the current field.
  [[nodiscard]] std::size_t offset() const { return field_; }
  // The offset of the next field.
  [[nodiscard]] std::size_t end_offset() const { return start_ + size_ - rest_.size(); }

  [[nodiscard]] bool ok() const { return problem_ == nullptr; }
  // The first error: invalid, "protobuf at byte 17: cut off". Call it only if not ok().
  [[nodiscard]] Error error() const;
  [[nodiscard]] const char* problem() const { return problem_; }  // error() without the offset
  void fail_here(const char* problem);

 private:
  bool varint(std::uint64_t& out);
  bool take(std::uint64_t length);

  std::string_view rest_;  // after the current field
  std::size_t start_;
  std::size_t size_;
  std::size_t field_ = 0;
  int number_ = 0;
  Type type_ = Type::varint;
  std::uint64_t value_ = 0;  // of a varint
  std::string_view bytes_;   // of the others
  const char* problem_ = nullptr;
  std::size_t problem_at_ = 0;
};

// Appends a field with a number or boolean.
void append_wire(std::string& out, int number, std::int64_t value);
// Appends a field with bytes, text or an embedded message.
void append_wire(std::string& out, int number, std::string_view bytes);
// The part of such a field that comes before its content of `size` bytes.
void append_wire_size(std::string& out, int number, std::size_t size);

}  // namespace holdfast::sync::wire
