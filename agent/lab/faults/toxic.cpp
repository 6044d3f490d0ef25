#include "agent/lab/faults/toxic.h"

#include <algorithm>
#include <charconv>

#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::agent::faults {
namespace {

constexpr std::size_t name_max = 128;
constexpr std::int64_t value_max = 1'000'000'000;  // of times, sizes and rates: over eleven days
constexpr std::int64_t bytes_max = 1'000'000'000'000'000;

struct TypeRow {
  ToxicType type;
  std::string_view name;
  std::size_t count;  // of attributes
  std::array<std::string_view, attributes_max> attributes;
};

constexpr std::array<TypeRow, 9> rows{{
    {ToxicType::latency, "latency", 2, {"latency", "jitter", ""}},
    {ToxicType::bandwidth, "bandwidth", 1, {"rate", "", ""}},
    {ToxicType::slow_close, "slow_close", 1, {"delay", "", ""}},
    {ToxicType::timeout, "timeout", 1, {"timeout", "", ""}},
    {ToxicType::reset_peer, "reset_peer", 1, {"timeout", "", ""}},
    {ToxicType::slicer, "slicer", 3, {"average_size", "size_variation", "delay"}},
    {ToxicType::limit_data, "limit_data", 1, {"bytes", "", ""}},
    {ToxicType::black_hole, "black_hole", 0, {"", "", ""}},
    {ToxicType::refuse, "refuse", 0, {"", "", ""}},
}};

const TypeRow& row_of(ToxicType type) {
  const TypeRow& row = rows.at(static_cast<std::size_t>(type));
  CHECK(row.type == type);
  return row;
}

bool is_own(ToxicType type) { return type == ToxicType::black_hole || type == ToxicType::refuse; }

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t shown_max = 100;
  return "\"" + std::string(text.substr(0, shown_max)) + "\"";
}

std::string with_underscores(std::string_view word) {
  std::string text(word);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

Status check_values(const Toxic& toxic) {
  const std::span<const std::string_view> names = attributes_of(toxic.type);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int64_t least = names[i] == "average_size" ? 1 : 0;
    const std::int64_t most = names[i] == "bytes" ? bytes_max : value_max;
    if (toxic.values.at(i) >= least && toxic.values.at(i) <= most) continue;
    return fail(Errc::invalid, "attribute " + std::string(names[i]) + " of " +
                                   std::string(to_string(toxic.type)) + ": " +
                                   std::to_string(toxic.values.at(i)) + " is not from " +
                                   std::to_string(least) + " to " + std::to_string(most));
  }
  const bool varies_too_much =
      toxic.type == ToxicType::slicer && toxic.get("size_variation") >= toxic.get("average_size");
  if (!varies_too_much) return {};
  return fail(Errc::invalid, "attribute size_variation of slicer: must be below average_size");
}

Status check_stream(const Toxic& toxic) {
  if (toxic.stream == Stream::both && !is_own(toxic.type)) {
    return fail(Errc::invalid, "stream was invalid, can be either upstream or downstream");
  }
  const bool divides = toxic.stream != Stream::both || toxic.toxicity < 1;
  if (toxic.type == ToxicType::refuse && divides) {
    return fail(Errc::invalid, "refuse acts on both streams of all connections");
  }
  return {};
}

Result<double> parse_toxicity(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, ec] = std::from_chars(text.data(), end, value);
  if (ec != std::errc{} || stop != end || text.empty()) {
    return fail(Errc::invalid, "toxicity: not a number: " + quoted(text));
  }
  return value;
}

// Sets what one word after the type says.
Status set_word(Toxic& toxic, std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    return fail(Errc::invalid, "not attribute=value: " + quoted(word));
  }
  const std::string key = with_underscores(word.substr(0, equals));
  const std::string_view value = word.substr(equals + 1);
  if (key == "name") {
    if (value.empty()) return fail(Errc::invalid, "name: empty");
    toxic.name = value;
  } else if (key == "stream") {
    TRY(toxic.stream, parse_stream(value));
  } else if (key == "toxicity") {
    TRY(toxic.toxicity, parse_toxicity(value));
  } else {
    const auto number = parse_int<std::int64_t>(value);
    // An unknown attribute is the worse mistake, so it is reported first.
    if (auto set = toxic.set(key, number.value_or(0)); !set) return set;
    if (!number) return fail(Errc::invalid, key + ": not a whole number: " + quoted(value));
  }
  return {};
}

}  // namespace

std::string_view to_string(ToxicType type) { return row_of(type).name; }

std::string_view to_string(Stream stream) {
  switch (stream) {
    case Stream::upstream:
      return "upstream";
    case Stream::downstream:
      return "downstream";
    case Stream::both:
      return "both";
  }
  UNREACHABLE();
}

Stream opposite(Stream stream) {
  CHECK(stream != Stream::both);
  return stream == Stream::upstream ? Stream::downstream : Stream::upstream;
}

Result<ToxicType> parse_toxic_type(std::string_view name) {
  std::vector<std::string_view> names;
  for (const TypeRow& row : rows) {
    if (row.name == name) return row.type;
    names.push_back(row.name);
  }
  return fail(Errc::invalid,
              "invalid toxic type: " + quoted(name) + " is none of " + joined(names));
}

Result<Stream> parse_stream(std::string_view name) {
  for (const Stream stream : {Stream::upstream, Stream::downstream, Stream::both}) {
    if (equals_ignoring_case(name, to_string(stream))) return stream;
  }
  return fail(Errc::invalid, "stream was invalid, can be either upstream or downstream");
}

std::span<const std::string_view> attributes_of(ToxicType type) {
  const TypeRow& row = row_of(type);
  return std::span(row.attributes).first(row.count);
}

Toxic Toxic::of(ToxicType type) {
  Toxic toxic;
  toxic.type = type;
  if (is_own(type)) toxic.stream = Stream::both;
  return toxic;
}

std::int64_t Toxic::get(std::string_view attribute) const {
  const auto names = attributes_of(type);
  const auto found = std::find(names.begin(), names.end(), attribute);
  CHECK(found != names.end());
  return values.at(static_cast<std::size_t>(found - names.begin()));
}

Status Toxic::set(std::string_view attribute, std::int64_t value) {
  const auto names = attributes_of(type);
  const auto found = std::find(names.begin(), names.end(), attribute);
  if (found == names.end()) {
    const std::string has = names.empty() ? "has no attributes" : "has only " + joined(names);
    return fail(Errc::invalid, "unknown attribute " + quoted(attribute) + ": " +
                                   std::string(to_string(type)) + " " + has);
  }
  values.at(static_cast<std::size_t>(found - names.begin())) = value;
  return {};
}

Toxic cut_cable() { return complete(Toxic::of(ToxicType::black_hole)).value(); }

Result<Toxic> complete(Toxic toxic) {
  if (!(toxic.toxicity >= 0 && toxic.toxicity <= 1)) {
    return fail(Errc::invalid, "toxicity must be from 0 to 1");
  }
  if (auto right = check_stream(toxic); !right) return fail(right.error());
  if (auto right = check_values(toxic); !right) return fail(right.error());
  if (toxic.name.empty()) {
    toxic.name = to_string(toxic.type);
    if (toxic.stream != Stream::both) toxic.name.append("_").append(to_string(toxic.stream));
  }
  if (auto right = check_name("toxic", toxic.name); !right) return fail(right.error());
  return toxic;
}

Status check_name(std::string_view what, std::string_view name) {
  const auto is_allowed = [](char c) {
    return is_alnum(c) || std::string_view("._-:").find(c) != std::string_view::npos;
  };
  const bool allowed = std::all_of(name.begin(), name.end(), is_allowed);
  // Clients remove "." and ".." from paths.
  const bool only_dots = name.find_first_not_of('.') == std::string_view::npos;
  if (allowed && !only_dots && name.size() <= name_max) return {};
  return fail(Errc::invalid, "bad name of a " + std::string(what) + ": " + quoted(name) +
                                 ": up to 128 letters, digits and . _ - : are allowed");
}

Result<Toxic> parse_toxic(const std::vector<std::string>& words) {
  if (words.empty()) return fail(Errc::invalid, "a toxic is missing");
  TRY(const ToxicType type, parse_toxic_type(with_underscores(words.front())));
  Toxic toxic = Toxic::of(type);
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (auto set = set_word(toxic, words[i]); !set) return fail(words.front(), set.error());
  }
  return complete(std::move(toxic));
}

Result<std::vector<Toxic>> parse_toxics(std::string_view text) {
  std::vector<Toxic> toxics;
  if (trim(text).empty()) return toxics;
  for (const std::string_view part : split(text, ',')) {
    std::vector<std::string> words;
    for (const std::string_view word : split(part, ' ')) {
      if (!word.empty()) words.emplace_back(word);
    }
    TRY(Toxic toxic, parse_toxic(words));
    toxics.push_back(std::move(toxic));
  }
  return toxics;
}

std::string to_text(const Toxic& toxic) {
  const Toxic plain = Toxic::of(toxic.type);
  std::string text(to_string(toxic.type));
  const auto names = attributes_of(toxic.type);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (toxic.values.at(i) == 0) continue;
    text.append(" ").append(names[i]).append("=").append(std::to_string(toxic.values.at(i)));
  }
  if (toxic.stream != plain.stream) text.append(" stream=").append(to_string(toxic.stream));
  if (toxic.toxicity < 1) {
    std::array<char, 32> digits{};
    const auto [end, ec] =
        std::to_chars(digits.data(), digits.data() + digits.size(), toxic.toxicity);
    CHECK(ec == std::errc{});
    text.append(" toxicity=").append(digits.data(), end);
  }
  Toxic unnamed = toxic;
  unnamed.name.clear();
  const auto named = complete(std::move(unnamed));
  if (!named || named->name != toxic.name) text.append(" name=").append(toxic.name);
  return text;
}

}  // namespace holdfast::agent::faults
