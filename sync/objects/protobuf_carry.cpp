#include "sync/objects/protobuf_carry.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/text.h"
#include "sync/objects/protobuf_write.h"
#include "sync/wire/json.h"
#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/read.h"

namespace holdfast::sync::objects {
namespace {

namespace json = boost::json;

// One occurrence of a field on the wire.
struct Occurrence {
  std::string_view whole;  // including its tag
  std::string_view inner;  // the content of bytes, text or a message
};

using Occurrences = std::map<int, std::vector<Occurrence>>;  // by number, in their order

Result<Occurrences> split_fields(std::string_view bytes) {
  Occurrences found;
  wire::WireCursor in(bytes);
  while (in.next()) {
    std::string_view inner;
    if (in.type() == wire::WireCursor::Type::bytes) in.bytes(inner);
    const std::size_t from = in.offset();
    found[in.number()].push_back({bytes.substr(from, in.end_offset() - from), inner});
  }
  if (!in.ok()) return fail(in.error());
  return found;
}

void append_whole(std::string& out, const std::vector<Occurrence>& occurrences) {
  for (const Occurrence& each : occurrences) out += each.whole;
}

// Protobuf merges repeated occurrences of a message.
std::string joined(const std::vector<Occurrence>& occurrences) {
  std::string inner;
  for (const Occurrence& each : occurrences) inner += each.inner;
  return inner;
}

const json::value& value_of(const json::object& object, const Field& field) {
  static const json::value null;
  const json::value* found = object.if_contains(field.name);
  return found == nullptr ? null : *found;
}

// Finds what the items of a changed list were before. A list with keys may be long, and hostile, so
// its items are not compared with one another.
class Origins {
 public:
  Origins(const Field& field, const json::array& before) : keys_(field.keys), before_(before) {
    if (keys_.empty()) return;
    for (std::size_t at = 0; at < before.size(); ++at) {
      if (const auto key = key_of(before[at])) by_key_.emplace(*key, at);
    }
  }

  // The index of the item that `wanted` was: the one with its keys or, without keys, an equal one.
  // Among several, the one after the last that was found comes first.
  std::optional<std::size_t> find(const json::value& wanted) {
    const auto found = keys_.empty() ? find_equal(wanted) : find_by_key(wanted);
    if (found) next_ = *found + 1;
    return found;
  }

 private:
  // The values of the item's keys ("port,protocol"); nothing if one is missing.
  [[nodiscard]] std::optional<std::string> key_of(const json::value& item) const {
    std::string key;
    for (const std::string_view name : split(keys_, ',')) {
      const json::value* found = wire::as_object(item).if_contains(name);
      if (found == nullptr) return std::nullopt;
      key += wire::serialize(*found) + '\n';
    }
    return key;
  }

  [[nodiscard]] std::optional<std::size_t> find_by_key(const json::value& wanted) const {
    const auto key = key_of(wanted);
    if (!key) return find_equal(wanted);
    if (next_ < before_.size() && key_of(before_[next_]) == key) return next_;
    const auto found = by_key_.find(*key);
    return found == by_key_.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] std::optional<std::size_t> find_equal(const json::value& wanted) const {
    if (next_ < before_.size() && before_[next_] == wanted) return next_;
    for (std::size_t at = 0; at < before_.size(); ++at) {
      if (before_[at] == wanted) return at;
    }
    return std::nullopt;
  }

  std::string_view keys_;
  const json::array& before_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::size_t next_ = 0;
};

// Encodes one field from its JSON value.
Status write_field_again(std::string& out, const Field& field, const json::value& value) {
  StructType alone{.fields = {field}};
  alone.fields.front().inside = 0;
  json::object object;
  object[field.name] = value;
  TRY(const std::string bytes, write_protobuf(alone, object));
  out += bytes;
  return {};
}

class Carrier {
 public:
  Carrier(const StructType& type, const json::object& before, const json::object& after,
          std::span<const std::string_view> in_place)
      : type_(type), before_(before), after_(after), in_place_(in_place) {}

  // Returns the message `base` with the changes. If `inside` is not 0, `base` is the embedded
  // message with this number, and only its fields are handled.
  Result<std::string> message(std::string_view base, int inside) const {
    TRY(const Occurrences occurrences, split_fields(base));
    std::map<int, std::string> fields;
    for (const auto& [number, each] : occurrences) append_whole(fields[number], each);
    for (const Field& field : type_.fields) {
      if (inside == 0 && field.inside != 0) {
        if (auto done = embedded(fields, occurrences, field.inside); !done) {
          return fail(done.error());
        }
      } else if (field.inside == inside && field.number != 0) {
        if (auto done = changed(fields, occurrences, field); !done) return fail(done.error());
      }
    }
    std::string out;
    for (const auto& [number, bytes] : fields) out += bytes;
    return out;
  }

 private:
  using Fields = std::map<int, std::string>;

  [[nodiscard]] bool differs(const Field& field) const {
    return value_of(before_, field) != value_of(after_, field);
  }

  [[nodiscard]] static std::vector<Occurrence> at(const Occurrences& occurrences, int number) {
    const auto found = occurrences.find(number);
    return found == occurrences.end() ? std::vector<Occurrence>() : found->second;
  }

  Status embedded(Fields& fields, const Occurrences& occurrences, int number) const {
    bool any = false;
    for (const Field& field : type_.fields) {
      any = any || (field.inside == number && differs(field));
    }
    if (!any) return {};
    TRY(const std::string bytes, message(joined(at(occurrences, number)), number));
    fields[number].clear();
    wire::append_wire(fields[number], number, bytes);
    return {};
  }

  Status changed(Fields& fields, const Occurrences& occurrences, const Field& field) const {
    if (!differs(field)) return {};
    const json::value& before = value_of(before_, field);
    const json::value& after = value_of(after_, field);
    const std::vector<Occurrence> base = at(occurrences, field.number);
    std::string& out = fields[field.number];
    out.clear();
    if (after.is_null()) return {};
    const bool messages = field.scalar == Scalar::object;
    if (messages && field.shape == Shape::list && after.is_array()) {
      return items(out, field, base, before.is_array() ? before.get_array() : json::array());
    }
    if (messages && field.shape == Shape::single && !base.empty() && after.is_object()) {
      TRY(const std::string bytes, carry_changes(*field.type, joined(base), wire::as_object(before),
                                                 after.get_object(), in_place_));
      wire::append_wire(out, field.number, bytes);
      return {};
    }
    return write_field_again(out, field, after);
  }

  Status items(std::string& out, const Field& field, const std::vector<Occurrence>& base,
               const json::array& before) const {
    const bool known = base.size() == before.size();
    const json::array& after = value_of(after_, field).get_array();
    const bool placed = known && before.size() == after.size() && is_in_place(field);
    Origins origins(field, before);
    for (std::size_t place = 0; place < after.size(); ++place) {
      const json::value& item = after[place];
      auto origin = known ? origins.find(item) : std::nullopt;
      if (placed) origin = place;
      if (!origin) {
        const json::value alone = json::array{item};
        if (auto written = write_field_again(out, field, alone); !written) return written;
      } else if (before[*origin] == item) {
        out += base[*origin].whole;
      } else {
        TRY(const std::string bytes,
            carry_changes(*field.type, base[*origin].inner, wire::as_object(before[*origin]),
                          wire::as_object(item), in_place_));
        wire::append_wire(out, field.number, bytes);
      }
    }
    return {};
  }

  [[nodiscard]] bool is_in_place(const Field& field) const {
    return std::find(in_place_.begin(), in_place_.end(), field.name) != in_place_.end();
  }

  const StructType& type_;
  const json::object& before_;
  const json::object& after_;
  std::span<const std::string_view> in_place_;
};

}  // namespace

Result<std::string> carry_changes(const StructType& type, std::string_view base,
                                  const json::object& before, const json::object& after,
                                  std::span<const std::string_view> in_place) {
  return Carrier(type, before, after, in_place).message(base, 0);
}

}  // namespace holdfast::sync::objects
