#include "sync/wire/accept.h"

#include <algorithm>

#include "platform/text.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::sync::wire {
namespace {

// Parses a quality value such as "0.5", leniently: other characters than digits are ignored.
double parse_quality(std::string_view text) {
  double quality = text.starts_with('1') ? 1 : 0;
  double unit = 0.1;
  const std::size_t dot = text.find('.');
  for (std::size_t at = dot; dot != std::string_view::npos && ++at < text.size(); unit /= 10) {
    if (is_digit(text[at])) quality += unit * (text[at] - '0');
  }
  return quality;
}

bool is_json(std::string_view type) {
  return type == "application/json" || type == "*/*" || type == "application/*";
}

std::optional<Form> form_of(std::string_view as, std::string_view group, std::string_view version) {
  if (as.empty()) return Form::object;
  if (group != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) return std::nullopt;
  if (as == "Table") return Form::table;
  const bool metadata = as == "PartialObjectMetadata" || as == "PartialObjectMetadataList";
  return metadata ? std::optional(Form::metadata) : std::nullopt;
}

}  // namespace

Accept::MediaType Accept::parse_media_type(std::string_view text) {
  MediaType result{.text = std::string(trim(text)), .encoding = {}, .form = {}, .protobuf = {}};
  std::string_view as;
  std::string_view group;
  std::string_view version;
  const std::vector<std::string_view> parts = split(result.text, ';');
  for (const std::string_view part : parts) {
    const std::string_view parameter = trim(part);
    const std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = parameter.substr(0, equals);
    const std::string_view value = parameter.substr(equals + 1);
    if (name == "as") as = value;
    if (name == "g") group = value;
    if (name == "v") version = value;
    if (name == "q") result.quality = parse_quality(value);
  }
  result.transformed = !as.empty();
  const std::string_view type = trim(parts.front());
  if (is_json(type)) result.form = form_of(as, group, version);
  if (type == protobuf_type) result.protobuf = form_of(as, group, version);
  if (result.transformed) return result;
  if (is_json(type)) result.encoding = Encoding::json;
  if (type == protobuf_type) result.encoding = Encoding::protobuf;
  return result;
}

Accept Accept::parse(std::string_view header) {
  Accept accept;
  if (trim(header).empty()) return accept;
  accept.text_ = header;
  for (const std::string_view part : split(header, ',')) {
    accept.types_.push_back(parse_media_type(part));
  }
  std::stable_sort(
      accept.types_.begin(), accept.types_.end(),
      [](const MediaType& left, const MediaType& right) { return left.quality > right.quality; });
  return accept;
}

std::optional<Encoding> Accept::encoding() const {
  if (types_.empty()) return Encoding::json;
  for (const MediaType& type : types_) {
    if (type.encoding) return type.encoding;
  }
  return std::nullopt;
}

bool Accept::accepts(Encoding encoding) const {
  return types_.empty() ||
         std::any_of(types_.begin(), types_.end(),
                     [encoding](const MediaType& type) { return type.encoding == encoding; });
}

std::optional<Form> Accept::json_form() const {
  if (types_.empty()) return Form::object;
  for (const MediaType& type : types_) {
    if (type.form) return type.form;
  }
  return std::nullopt;
}

bool Accept::prefers_transformed() const { return !types_.empty() && types_.front().transformed; }

bool Accept::prefers_protobuf(Form form) const {
  return !types_.empty() && types_.front().protobuf == form;
}

std::optional<Accept> Accept::whole_objects() const {
  if (types_.empty()) return *this;
  Accept whole;
  for (const MediaType& type : types_) {
    if (type.transformed) continue;
    whole.types_.push_back(type);
    if (!whole.text_.empty()) whole.text_ += ",";
    whole.text_ += type.text;
  }
  return whole.encoding() && !whole.types_.empty() ? std::optional(std::move(whole)) : std::nullopt;
}

}  // namespace holdfast::sync::wire
