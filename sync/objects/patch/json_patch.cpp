#include "sync/objects/patch/json_patch.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>

#include "platform/text.h"
#include "sync/wire/quote.h"

namespace holdfast::sync::objects {
namespace {

tl::unexpected<Error> refused(std::string what) { return fail(Errc::invalid, std::move(what)); }

std::string quoted_path(const std::string& path) { return "\"" + path + "\""; }

// Decodes a segment of a JSON pointer: "~1" is '/', "~0" is '~'.
std::string decode_key(std::string_view part) {
  std::string key;
  for (std::size_t at = 0; at < part.size(); ++at) {
    const bool escape = part[at] == '~' && at + 1 < part.size();
    if (escape && (part[at + 1] == '0' || part[at + 1] == '1')) {
      key += part[++at] == '0' ? '~' : '/';
    } else {
      key += part[at];
    }
  }
  return key;
}

// A string member of an operation, or nothing.
std::optional<std::string> member(const json::object& operation, std::string_view name) {
  const json::value* value = operation.if_contains(name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

Result<std::size_t> array_index(const json::array& array, const std::string& key,
                                std::size_t size) {
  const auto number = parse_int<std::int64_t>(key);
  if (!number) {
    return refused("strconv.Atoi: parsing " + wire::quoted(key) + ": invalid syntax");
  }
  const auto signed_size = static_cast<std::int64_t>(size);
  const auto array_size = static_cast<std::int64_t>(array.size());
  const bool outside = *number >= signed_size || *number < -array_size;
  if (outside) {
    return refused("Unable to access invalid index: " + std::to_string(*number) +
                   ": invalid index referenced");
  }
  return static_cast<std::size_t>(*number < 0 ? *number + signed_size : *number);
}

// The place that an operation changes: a key in an object or array.
struct Place {
  json::value* container;
  std::string key;
};

class Patcher {
 public:
  Patcher(json::value document, const JsonPatchLimits& limits)
      : document_(std::move(document)), limits_(limits) {}

  Status apply(const json::object& operation);
  json::value take() { return std::move(document_); }

 private:
  std::optional<Place> find(const std::string& path);
  // nullptr if an object does not have the field.
  static Result<json::value*> get(const Place& place);
  static Status add_at(const Place& place, json::value value);
  static Status remove_at(const Place& place);

  Status add(const std::string& path, const json::object& operation);
  Status remove(const std::string& path);
  Status replace(const std::string& path, const json::object& operation);
  Status move(const std::string& path, const json::object& operation);
  Status copy(const std::string& path, const json::object& operation);
  Status test(const std::string& path, const json::object& operation);

  json::value document_;
  JsonPatchLimits limits_;
  std::size_t copied_bytes_ = 0;
};

json::value operand(const json::object& operation) {
  const json::value* value = operation.if_contains("value");
  return value != nullptr ? *value : json::value();
}

Status Patcher::apply(const json::object& operation) {
  const std::string kind = member(operation, "op").value_or("unknown");
  const auto path = member(operation, "path");
  if (!path) return refused(kind + " operation failed to decode path: missing value");
  if (kind == "add") return add(*path, operation);
  if (kind == "remove") return remove(*path);
  if (kind == "replace") return replace(*path, operation);
  if (kind == "move") return move(*path, operation);
  if (kind == "copy") return copy(*path, operation);
  if (kind == "test") return test(*path, operation);
  return refused("Unexpected kind: " + kind);
}

std::optional<Place> Patcher::find(const std::string& path) {
  const auto parts = split(path, '/');
  if (parts.size() < 2) return std::nullopt;
  json::value* at = &document_;
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    const auto next = get({at, decode_key(parts[i])});
    if (!next || *next == nullptr) return std::nullopt;
    at = *next;
  }
  if (!at->is_object() && !at->is_array()) return std::nullopt;
  return Place{at, decode_key(parts.back())};
}

Result<json::value*> Patcher::get(const Place& place) {
  if (json::object* object = place.container->if_object()) return object->if_contains(place.key);
  json::array* array = place.container->if_array();
  if (array == nullptr) return refused("not a container");
  TRY(const std::size_t index, array_index(*array, place.key, array->size()));
  return &(*array)[index];
}

Status Patcher::add_at(const Place& place, json::value value) {
  if (json::object* object = place.container->if_object()) {
    (*object)[place.key] = std::move(value);
    return {};
  }
  json::array& array = place.container->get_array();
  if (place.key == "-") {
    array.push_back(std::move(value));
    return {};
  }
  if (!parse_int<std::int64_t>(place.key)) {
    return refused("value was not a proper array index: '" + place.key +
                   "': strconv.Atoi: parsing " + wire::quoted(place.key) + ": invalid syntax");
  }
  TRY(const std::size_t index, array_index(array, place.key, array.size() + 1));
  array.insert(array.begin() + index, std::move(value));
  return {};
}

Status Patcher::remove_at(const Place& place) {
  if (json::object* object = place.container->if_object()) {
    if (!object->contains(place.key)) {
      return refused("Unable to remove nonexistent key: " + place.key + ": missing value");
    }
    object->stable_erase(place.key);
    return {};
  }
  json::array& array = place.container->get_array();
  TRY(const std::size_t index, array_index(array, place.key, array.size()));
  array.erase(array.begin() + index);
  return {};
}

Status Patcher::add(const std::string& path, const json::object& operation) {
  const auto place = find(path);
  if (!place) {
    return refused("add operation does not apply: doc is missing path: " + quoted_path(path) +
                   ": missing value");
  }
  auto added = add_at(*place, operand(operation));
  if (!added) return fail("error in add for path: '" + path + "'", added.error());
  return {};
}

Status Patcher::remove(const std::string& path) {
  const auto place = find(path);
  if (!place) {
    return refused("remove operation does not apply: doc is missing path: " + quoted_path(path) +
                   ": missing value");
  }
  auto removed = remove_at(*place);
  if (!removed) return fail("error in remove for path: '" + path + "'", removed.error());
  return {};
}

Status Patcher::replace(const std::string& path, const json::object& operation) {
  json::value value = operand(operation);
  if (path.empty()) {
    if (!value.is_object() && !value.is_array()) {
      return refused("replace operation value must be object or array");
    }
    document_ = std::move(value);
    return {};
  }
  const auto place = find(path);
  if (!place) {
    return refused("replace operation does not apply: doc is missing path: " + path +
                   ": missing value");
  }
  const auto old = get(*place);
  if (!old) {
    return refused("replace operation does not apply: doc is missing key: " + path +
                   ": missing value");
  }
  if (*old != nullptr) {
    **old = std::move(value);
    return {};
  }
  return add_at(*place, std::move(value));
}

Status Patcher::move(const std::string& path, const json::object& operation) {
  const auto from = member(operation, "from");
  if (!from) return refused("move operation failed to decode from: missing value");
  const auto source = find(*from);
  if (!source) {
    return refused("move operation does not apply: doc is missing from path: " + *from +
                   ": missing value");
  }
  const auto found = get(*source);
  if (!found) return fail("error in move for path: '" + source->key + "'", found.error());
  json::value value = *found != nullptr ? **found : json::value();
  auto removed = remove_at(*source);
  if (!removed) return fail("error in move for path: '" + source->key + "'", removed.error());
  const auto place = find(path);
  if (!place) {
    return refused("move operation does not apply: doc is missing destination path: " + path +
                   ": missing value");
  }
  auto added = add_at(*place, std::move(value));
  if (!added) return fail("error in move for path: '" + path + "'", added.error());
  return {};
}

Status Patcher::copy(const std::string& path, const json::object& operation) {
  const auto from = member(operation, "from");
  if (!from) return refused("copy operation failed to decode from: missing value");
  const auto source = find(*from);
  if (!source) {
    return refused("copy operation does not apply: doc is missing from path: " + *from +
                   ": missing value");
  }
  const auto found = get(*source);
  if (!found) return fail("error in copy for from: '" + *from + "'", found.error());
  json::value value = *found != nullptr ? **found : json::value();
  copied_bytes_ += wire::serialize(value).size();
  if (copied_bytes_ > limits_.copied_bytes) {
    return fail(Errc::exhausted,
                "Unable to complete the copy, the accumulated size increase of "
                "copy is " +
                    std::to_string(copied_bytes_) + ", exceeding the limit " +
                    std::to_string(limits_.copied_bytes));
  }
  const auto place = find(path);
  if (!place) {
    return refused("copy operation does not apply: doc is missing destination path: " + path +
                   ": missing value");
  }
  auto added = add_at(*place, std::move(value));
  if (!added) return fail("error while adding value during copy", added.error());
  return {};
}

Status Patcher::test(const std::string& path, const json::object& operation) {
  const json::value wanted = operand(operation);
  const auto differs = [&path] {
    return refused("testing value " + path + " failed: test failed");
  };
  if (path.empty()) {
    if (document_ == wanted) return {};
    return differs();
  }
  const auto place = find(path);
  if (!place) {
    return refused("test operation does not apply: is missing path: " + path + ": missing value");
  }
  const auto found = get(*place);
  if (!found) return fail("error in test for path: '" + path + "'", found.error());
  const bool same = *found != nullptr ? **found == wanted : wanted.is_null();
  if (!same) return differs();
  return {};
}

}  // namespace

Result<json::value> json_patch(json::value document, const json::array& operations,
                               const JsonPatchLimits& limits) {
  if (operations.size() > limits.operations) {
    return fail(Errc::exhausted, "The allowed maximum operations in a JSON patch is " +
                                     std::to_string(limits.operations) + ", got " +
                                     std::to_string(operations.size()));
  }
  Patcher patcher(std::move(document), limits);
  for (const json::value& operation : operations) {
    const json::object* object = operation.if_object();
    if (object == nullptr) return refused("Unexpected kind: unknown");
    if (auto done = patcher.apply(*object); !done) return fail(done.error());
  }
  return patcher.take();
}

}  // namespace holdfast::sync::objects
