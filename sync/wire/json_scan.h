// A cursor over JSON bytes that builds no values: for splitting lists, reading a few fields, and
// cutting objects out of a stream without changing their bytes.
//
// It checks the structure that it walks over (brackets, quotes, commas), but not the content of
// skipped scalars; the codec does that. After the first error every call does nothing and ok() is
// false.
//
//     JsonCursor in(bytes);
//     for (JsonFields field(in); field.next();) {
//       if (field.key() == "kind") in.text(kind); else in.skip();
//     }
//     if (!in.ok()) return fail(in.error());

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::sync::wire {

class JsonCursor {
 public:
  // Borrows `bytes`.
  explicit JsonCursor(std::string_view bytes, std::size_t depth_max = 128)
      : bytes_(bytes), depth_max_(depth_max) {}

  [[nodiscard]] bool ok() const { return problem_ == nullptr; }
  // The first error: invalid, "JSON at byte 17: expected ':'". Call it only if not ok().
  [[nodiscard]] Error error() const;
  [[nodiscard]] std::size_t offset() const { return at_; }

  // The first byte of the next value or punctuation, after white space; '\0' at the end.
  char peek();
  // Consumes `c` and returns true if it comes next.
  bool accept(char c);
  // Consumes `c`; it is an error if something else comes next.
  bool expect(char c, const char* problem);

  // Consumes a value and returns its bytes.
  std::string_view skip();
  // Consumes a string into `out`, decoded. A null leaves `out` unchanged; any other value is an
  // error.
  bool text(std::string& out);
  // Consumes a null and returns true if it comes next.
  bool null();
  // It is an error if anything but white space follows.
  bool end();
  void fail_here(const char* problem);

 private:
  void skip_string();
  void skip_nested();

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t depth_max_;
  const char* problem_ = nullptr;
};

// Decodes the bytes between the quotes of a JSON string. Broken escapes become U+FFFD.
[[nodiscard]] std::string unescape_json(std::string_view raw);

// Iterates over the fields of the object at the cursor. The caller must consume each value. A null
// counts as an object without fields.
class JsonFields {
 public:
  explicit JsonFields(JsonCursor& in);
  // Moves to the next field's value; returns false at the object's end and on an error.
  bool next();
  // The decoded key; valid until next().
  [[nodiscard]] std::string_view key() const { return key_; }
  // The offset of the key's opening quote.
  [[nodiscard]] std::size_t key_offset() const { return key_offset_; }

 private:
  JsonCursor& in_;
  bool open_;
  bool first_ = true;
  std::string_view key_;
  std::size_t key_offset_ = 0;
  std::string decoded_;
};

// Iterates over the items of the array at the cursor. The caller must consume each item. A null
// counts as an empty array.
class JsonItems {
 public:
  explicit JsonItems(JsonCursor& in);
  bool next();

 private:
  JsonCursor& in_;
  bool open_;
  bool first_ = true;
};

}  // namespace holdfast::sync::wire
