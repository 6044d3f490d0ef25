// A cursor over JSON bytes that builds no values: for splitting lists, reading a few fields, and
// cutting objects out of a stream without touching their bytes.
//
// It checks what it walks over (brackets, quotes, commas), not what it skips inside scalars; the
// codec does that. After the first error every call does nothing and ok() is false.
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

namespace holdfast::sync {

class JsonCursor {
 public:
  // Borrows `bytes`.
  explicit JsonCursor(std::string_view bytes, std::size_t depth_max = 128)
      : bytes_(bytes), depth_max_(depth_max) {}

  [[nodiscard]] bool ok() const { return problem_ == nullptr; }
  // The first error: invalid, "JSON at byte 17: expected ':'". Only when not ok().
  [[nodiscard]] Error error() const;
  [[nodiscard]] std::size_t offset() const { return at_; }

  // The first byte of the next value or punctuation, after white space; '\0' at the end.
  char peek();
  // Whether it was there; then it is consumed.
  bool accept(char c);
  // An error unless it is there.
  bool expect(char c, const char* problem);

  // Consumes a value and returns its bytes.
  std::string_view skip();
  // Consumes a string into `out`, decoded; null leaves it alone. Else an error.
  bool text(std::string& out);
  // Consumes a null, if it is one.
  bool null();
  // Nothing but white space may follow.
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

// The text of a JSON string, given its bytes between the quotes. Broken escapes become U+FFFD.
[[nodiscard]] std::string unescape_json(std::string_view raw);

// Walks the fields of the object at the cursor. The caller consumes each value. A null is an
// object without fields.
class JsonFields {
 public:
  explicit JsonFields(JsonCursor& in);
  // Moves on to the next field's value; false at the object's end and on an error.
  bool next();
  // Decoded; valid until next().
  [[nodiscard]] std::string_view key() const { return key_; }
  // Where the key's opening quote stands.
  [[nodiscard]] std::size_t key_offset() const { return key_offset_; }

 private:
  JsonCursor& in_;
  bool open_;
  bool first_ = true;
  std::string_view key_;
  std::size_t key_offset_ = 0;
  std::string decoded_;
};

// Walks the items of the array at the cursor. The caller consumes each. A null is an empty array.
class JsonItems {
 public:
  explicit JsonItems(JsonCursor& in);
  bool next();

 private:
  JsonCursor& in_;
  bool open_;
  bool first_ = true;
};

}  // namespace holdfast::sync
