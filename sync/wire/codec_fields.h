// The implementation of the codec: a Reader and a Writer that walk one description of a type's
// fields.
//
// sync/model generates this description once per type, as `fields(f, object)`: each member with its
// JSON name, in upstream's order, and last `f.rest(unknown_fields)`. Only the generated *_json
// files and codec.cpp include this header.

#pragma once

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/model/boxed.h"
#include "sync/wire/codec.h"
#include "sync/wire/codec_path.h"

namespace holdfast::sync::wire::codec {

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

// Whether an empty field is left out or written (as "", 0, false, [] or null).
enum class Presence : std::uint8_t { if_set, always };
using enum Presence;

// The maximum number of items in all arrays of one object. An item may take hundreds of bytes of
// memory for three bytes of JSON.
inline constexpr std::size_t read_items_max = 20'000;

struct ReadContext {
  DecodeOptions options;
  std::string error;      // the first error, or ""
  std::size_t items = 0;  // array items so far
};

class Reader {
 public:
  Reader(const json::object& in, const Path* at, ReadContext& context)
      : in_(in), at_(at), context_(context) {}

  template <class T>
  void operator()(std::string_view name, T& member, Presence = if_set) {
    if (const json::value* value = take(name)) read(*value, member, Path{at_, name, {}});
  }
  // The number of digits matters only to the Writer.
  void micros(std::string_view name, std::optional<WallTime>& member, Presence = if_set) {
    (*this)(name, member);
  }
  // JSON numbers are accepted as quantities, too.
  void quantities(std::string_view name, StringMap& member);
  void base64(std::string_view name, StringMap& member);
  void kind(std::string_view wanted);
  // A field that DecodeOptions may drop.
  void managed(std::string_view name) {
    if (!context_.options.keep_managed_fields) (void)take(name);
  }
  // Stores all fields that were not read.
  void rest(UnknownFields& unknown_fields);

 private:
  // The value of a field, which is then recorded as known; nullptr if it is missing or null, or
  // after an error.
  const json::value* take(std::string_view name);
  void expected(const Path& path, std::string_view what);

  void read(const json::value& value, std::string& out, const Path& path);
  void read(const json::value& value, bool& out, const Path& path);
  void read(const json::value& value, std::int64_t& out, const Path& path);
  void read(const json::value& value, std::int32_t& out, const Path& path);
  void read(const json::value& value, WallTime& out, const Path& path);
  void read(const json::value& value, IntOrString& out, const Path& path);
  void read(const json::value& value, StringMap& out, const Path& path);

  template <class T>
  void read(const json::value& value, std::optional<T>& out, const Path& path) {
    read(value, out.emplace(), path);
  }
  template <class T>
  void read(const json::value& value, Boxed<T>& out, const Path& path) {
    out = Boxed<T>(T{});
    read(value, *out, path);
  }
  template <class T>
  void read(const json::value& value, std::vector<T>& out, const Path& path) {
    const json::array* array = value.if_array();
    if (array == nullptr) return expected(path, "an array");
    context_.items += array->size();
    if (context_.items > read_items_max) return expected(path, "fewer items");
    out.reserve(array->size());
    for (std::size_t i = 0; i < array->size(); ++i) {
      T& item = out.emplace_back();
      if (!(*array)[i].is_null()) read((*array)[i], item, Path{&path, {}, {}, i});
    }
  }
  template <class T>
  requires std::is_class_v<T>
  void read(const json::value& value, T& out, const Path& path) {
    const json::object* object = value.if_object();
    if (object == nullptr) return expected(path, "an object");
    Reader inner(*object, &path, context_);
    fields(inner, out);
  }

  const json::object& in_;
  const Path* at_;
  ReadContext& context_;
  std::array<std::string_view, 24> known_{};  // names read so far; table.py checks the limit
  std::size_t known_count_ = 0;
};

class Writer {
 public:
  explicit Writer(json::object& out) : out_(out) {}

  template <class T>
  void operator()(std::string_view name, const T& member, Presence presence = if_set) {
    if (presence == always || !is_empty(member)) out_.emplace(name, write(member));
  }
  void micros(std::string_view name, const std::optional<WallTime>& member,
              Presence presence = if_set);
  void quantities(std::string_view name, const StringMap& member) { (*this)(name, member); }
  void base64(std::string_view name, const StringMap& member);
  void kind(std::string_view) {}
  void managed(std::string_view) {}
  void rest(const UnknownFields& unknown_fields);

  [[nodiscard]] static json::value write(const std::string& text) { return json::value(text); }
  [[nodiscard]] static json::value write(bool value) { return value; }
  [[nodiscard]] static json::value write(std::int64_t value) { return value; }
  [[nodiscard]] static json::value write(std::int32_t value) { return value; }
  [[nodiscard]] static json::value write(WallTime time) {
    return json::value(format_rfc3339(time));
  }
  [[nodiscard]] static json::value write(const IntOrString& value);
  [[nodiscard]] static json::value write(const StringMap& map);

  template <class T>
  [[nodiscard]] static json::value write(const std::optional<T>& value) {
    return value ? write(*value) : json::value();
  }
  template <class T>
  [[nodiscard]] static json::value write(const Boxed<T>& value) {
    return value ? write(*value) : json::value();
  }
  template <class T>
  [[nodiscard]] static json::value write(const std::vector<T>& items) {
    json::array array;
    array.reserve(items.size());
    for (const T& item : items) array.push_back(write(item));
    return array;
  }
  template <class T>
  requires std::is_class_v<T>
  [[nodiscard]] static json::value write(const T& object) {
    json::object out;
    Writer inner(out);
    fields(inner, object);
    return out;
  }

 private:
  static bool is_empty(const std::string& text) { return text.empty(); }
  static bool is_empty(const StringMap& map) { return map.empty(); }
  static bool is_empty(std::integral auto value) { return value == 0; }
  template <class T>
  static bool is_empty(const std::optional<T>& value) {
    return !value.has_value();
  }
  template <class T>
  static bool is_empty(const Boxed<T>& value) {
    return !value;
  }
  template <class T>
  static bool is_empty(const std::vector<T>& items) {
    return items.empty();
  }
  // Go's omitempty never leaves out a struct.
  template <class T>
  requires std::is_class_v<T>
  static bool is_empty(const T&) { return false; }

  json::object& out_;
};

// The implementations of decode<T> and encode<T>, to be instantiated next to T's fields().
template <class T>
Result<T> read_object(const json::value& value, const DecodeOptions& options) {
  const json::object* object = value.if_object();
  if (object == nullptr) return fail(Errc::invalid, std::string(T::kind) + ": expected an object");
  ReadContext context{options, {}};
  Reader reader(*object, nullptr, context);
  T out;
  reader.kind(T::kind);
  fields(reader, out);
  if (!context.error.empty()) {
    return fail(Errc::invalid, std::string(T::kind) + ": " + context.error);
  }
  return out;
}

template <class T>
json::object write_object(const T& object) {
  json::object out;
  out.emplace("kind", T::kind);
  out.emplace("apiVersion", T::api_version);
  Writer writer(out);
  fields(writer, object);
  return out;
}

}  // namespace holdfast::sync::wire::codec

namespace holdfast::sync::wire {

template <class T>
Result<T> decode(const json::value& value, const DecodeOptions& options) {
  return codec::read_object<T>(value, options);
}

template <class T>
Result<T> decode_bytes(std::string_view bytes, const DecodeOptions& options) {
  TRY(const json::value value, parse_json(bytes));
  return codec::read_object<T>(value, options);
}

template <class T>
json::object encode(const T& object) {
  return codec::write_object<T>(object);
}

}  // namespace holdfast::sync::wire

// Instantiates decode and encode of one kind. Use it next to its fields(), inside holdfast::sync.
#define HOLDFAST_CODEC(T)                                                     \
  template Result<T> decode<T>(const json::value&, const DecodeOptions&);     \
  template Result<T> decode_bytes<T>(std::string_view, const DecodeOptions&); \
  template json::object encode<T>(const T&);
