#include "sync/wire/codec_fields.h"

namespace holdfast::sync::wire {

namespace codec {

const json::value* Reader::take(std::string_view name) {
  const auto found = in_.find(name);
  if (found == in_.end()) return nullptr;
  CHECK(known_count_ < known_.size());
  known_[known_count_++] = name;
  const bool skip = found->value().is_null() || !context_.error.empty();
  return skip ? nullptr : &found->value();
}

void Reader::expected(const Path& path, std::string_view what) {
  if (context_.error.empty()) context_.error = path.text().append(": expected ").append(what);
}

void Reader::read(const json::value& value, std::string& out, const Path& path) {
  const json::string* text = value.if_string();
  if (text == nullptr) return expected(path, "a string");
  out.assign(text->data(), text->size());
}

void Reader::read(const json::value& value, bool& out, const Path& path) {
  if (!value.is_bool()) return expected(path, "a boolean");
  out = value.get_bool();
}

void Reader::read(const json::value& value, std::int64_t& out, const Path& path) {
  if (!value.is_int64()) return expected(path, "an integer");
  out = value.get_int64();
}

void Reader::read(const json::value& value, std::int32_t& out, const Path& path) {
  std::int64_t wide = 0;
  read(value, wide, path);
  if (!std::in_range<std::int32_t>(wide)) return expected(path, "an integer of 32 bits");
  out = static_cast<std::int32_t>(wide);
}

void Reader::read(const json::value& value, WallTime& out, const Path& path) {
  const json::string* text = value.if_string();
  const auto time = text != nullptr ? parse_rfc3339({text->data(), text->size()})
                                    : Result<WallTime>(fail(Errc::invalid, ""));
  if (!time) return expected(path, "a time (RFC 3339)");
  out = *time;
}

void Reader::read(const json::value& value, IntOrString& out, const Path& path) {
  if (value.is_string()) {
    read(value, out.text.emplace(), path);
  } else if (value.is_int64()) {
    read(value, out.number, path);
  } else {
    expected(path, "an integer or a string");
  }
}

void Reader::read(const json::value& value, StringMap& out, const Path& path) {
  const json::object* object = value.if_object();
  if (object == nullptr) return expected(path, "an object");
  out.reserve(object->size());
  std::string text;
  for (const auto& entry : *object) {
    text.clear();
    const Path here{&path, {}, entry.key()};
    if (!entry.value().is_null()) read(entry.value(), text, here);
    out.set(entry.key(), text);
  }
}

void Reader::quantities(std::string_view name, StringMap& member) {
  const json::value* value = take(name);
  if (value == nullptr) return;
  const Path path{at_, name, {}};
  const json::object* object = value->if_object();
  if (object == nullptr) return expected(path, "an object");
  member.reserve(object->size());
  for (const auto& entry : *object) {
    std::string text;
    if (entry.value().is_number()) {
      text = serialize(entry.value());
    } else {
      read(entry.value(), text, Path{&path, {}, entry.key()});
    }
    member.set(entry.key(), text);
  }
}

void Reader::base64(std::string_view name, StringMap& member) {
  StringMap encoded;
  (*this)(name, encoded);
  member.reserve(encoded.size());
  for (const auto& [key, text] : encoded) {
    const auto bytes = base64_decode(text);
    const Path path{at_, name, {}};
    if (!bytes) return expected(Path{&path, {}, key}, "base64");
    member.set(key, *bytes);
  }
}

void Reader::kind(std::string_view wanted) {
  std::string found;
  std::string api_version;
  (*this)("kind", found);
  (*this)("apiVersion", api_version);
  if (!found.empty() && found != wanted) {
    expected(Path{at_, "kind", {}}, std::string(wanted).append(", found ").append(found));
  }
}

void Reader::rest(UnknownFields& unknown_fields) {
  if (known_count_ == in_.size() || !context_.options.keep_untouched) return;
  auto kept = std::make_shared<json::object>();
  kept->reserve(in_.size() - known_count_);
  const auto known_end = known_.begin() + static_cast<std::ptrdiff_t>(known_count_);
  for (const auto& field : in_) {
    const std::string_view name = field.key();
    if (std::find(known_.begin(), known_end, name) == known_end) {
      kept->emplace(name, field.value());
    }
  }
  unknown_fields = UnknownFields(std::move(kept));
}

void Writer::micros(std::string_view name, const std::optional<WallTime>& member,
                    Presence presence) {
  if (member) {
    out_.emplace(name, format_rfc3339(*member, TimeDigits::micros));
  } else if (presence == always) {
    out_.emplace(name, nullptr);
  }
}

void Writer::base64(std::string_view name, const StringMap& member) {
  if (member.empty()) return;
  json::object encoded;
  encoded.reserve(member.size());
  for (const auto& [key, bytes] : member) encoded.emplace(key, base64_encode(bytes));
  out_.emplace(name, std::move(encoded));
}

void Writer::rest(const UnknownFields& unknown_fields) {
  if (unknown_fields.empty()) return;
  out_.reserve(out_.size() + unknown_fields.get()->size());
  for (const auto& field : *unknown_fields.get()) out_.emplace(field.key(), field.value());
}

json::value Writer::write(const IntOrString& value) {
  return value.text ? write(*value.text) : write(value.number);
}

json::value Writer::write(const StringMap& map) {
  json::object object;
  object.reserve(map.size());
  for (const auto& [key, value] : map) object.emplace(key, value);
  return object;
}

}  // namespace codec
}  // namespace holdfast::sync::wire
