#include "agent/lab/result/json.h"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <concepts>
#include <limits>
#include <utility>

#include "agent/lab/result/fields.h"
#include "platform/fs/file.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// About 60 bytes of text are a span with four values.
constexpr sync::wire::JsonLimits result_limits = {.bytes = result_bytes_max, .values = 24'000'000};

constexpr std::int64_t result_version = 1;

class FieldWriter {
 public:
  explicit FieldWriter(std::string& out) : out_(out) {}

  template <class T>
  void operator()(const char* name, const T& value) {
    key(name);
    write(value);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) (*this)(name, *value);
  }

 private:
  void key(std::string_view name) {
    if (!std::exchange(is_first_, false)) out_ += ',';
    sync::wire::serialize_text_to(out_, name);
    out_ += ':';
  }
  void write(const std::string& text) { sync::wire::serialize_text_to(out_, text); }
  void write(Duration duration) { write(format_duration(duration)); }
  void write(bool value) { out_ += value ? "true" : "false"; }
  void write(std::integral auto number) { out_ += std::to_string(number); }
  void write(double number) {
    sync::wire::serialize_to(out_, json::value(std::isfinite(number) ? number : 0));
  }
  void write(const std::map<std::string, std::string>& entries) {
    out_ += '{';
    FieldWriter members(out_);
    for (const auto& [name, value] : entries) {
      members.key(name);
      members.write(value);
    }
    out_ += '}';
  }
  template <class T>
  void write(const std::vector<T>& values) {
    out_ += '[';
    bool is_first = true;
    for (const T& value : values) {
      if (!std::exchange(is_first, false)) out_ += ',';
      write(value);
    }
    out_ += ']';
  }
  template <class T>
    requires(!std::integral<T>)
  void write(const T& value) {
    out_ += '{';
    FieldWriter members(out_);
    Fields<T>::visit(members, value);
    out_ += '}';
  }

  std::string& out_;
  bool is_first_ = true;
};

// Reads the fields of one object. After the first error the rest is skipped.
class FieldReader {
 public:
  FieldReader(const json::object& from, std::string path, std::optional<Error>& error)
      : from_(from), path_(std::move(path)), error_(error) {}

  template <class T>
  void operator()(const char* name, T& value) {
    if (error_) return;
    const json::value* found = from_.if_contains(name);
    if (found == nullptr || found->is_null()) return;
    read(*found, path_.empty() ? name : path_ + "." + name, value);
  }

 private:
  void refuse(const std::string& path, const std::string& wanted) {
    if (!error_) error_ = Error{Errc::invalid, path + ": " + wanted + " expected", {}};
  }
  void read(const json::value& from, const std::string& path, std::string& text) {
    if (!from.is_string()) return refuse(path, "a string");
    text = from.get_string();
  }
  void read(const json::value& from, const std::string& path, Duration& duration) {
    const auto parsed = from.is_string() ? parse_duration(from.get_string())
                                         : Result<Duration>(fail(Errc::invalid, "no string"));
    if (!parsed || *parsed < Duration::zero()) return refuse(path, "a duration such as \"1m30s\"");
    duration = *parsed;
  }
  void read(const json::value& from, const std::string& path, bool& value) {
    if (!from.is_bool()) return refuse(path, "true or false");
    value = from.get_bool();
  }
  template <std::integral T>
  void read(const json::value& from, const std::string& path, T& number) {
    boost::system::error_code ec;
    number = from.to_number<T>(ec);
    if (ec || !from.is_number() || number < T{}) refuse(path, "a whole number from 0");
  }
  void read(const json::value& from, const std::string& path, double& number) {
    boost::system::error_code ec;
    number = from.to_number<double>(ec);
    if (ec || !std::isfinite(number)) refuse(path, "a number");
  }
  void read(const json::value& from, const std::string& path,
            std::map<std::string, std::string>& entries) {
    if (!from.is_object()) return refuse(path, "an object");
    for (const auto& [name, value] : from.get_object()) {
      read(value, path + "." + std::string(name), entries[name]);
    }
  }
  template <class T>
  void read(const json::value& from, const std::string& path, std::optional<T>& value) {
    read(from, path, value.emplace());
  }
  template <class T>
  void read(const json::value& from, const std::string& path, std::vector<T>& values) {
    if (!from.is_array()) return refuse(path, "an array");
    values.reserve(from.get_array().size());
    for (const json::value& each : from.get_array()) {
      if (error_) return;
      const std::string place = path + "[" + std::to_string(values.size()) + "]";
      read(each, place, values.emplace_back());
    }
  }
  template <class T>
    requires(!std::integral<T>)
  void read(const json::value& from, const std::string& path, T& value) {
    if (!from.is_object()) return refuse(path, "an object");
    FieldReader members(from.get_object(), path, error_);
    Fields<T>::visit(members, value);
  }

  const json::object& from_;
  std::string path_;
  std::optional<Error>& error_;
};

Status check_kind(const json::value& document) {
  const json::object* object = document.if_object();
  const json::value* kind = object == nullptr ? nullptr : object->if_contains("kind");
  if (kind == nullptr || *kind != "RunResult") {
    return fail(Errc::invalid, "not a result: kind: \"RunResult\" expected");
  }
  const json::value* version = object->if_contains("version");
  if (version == nullptr || !version->is_int64() || version->get_int64() != result_version) {
    return fail(Errc::invalid, "version: " + std::to_string(result_version) + " expected");
  }
  return {};
}

Status check_series(const RunResult& result) {
  for (std::size_t at = 0; at < result.series.size(); ++at) {
    const Series& series = result.series[at];
    if (series.interval > Duration::zero() || series.values.empty()) continue;
    return fail(Errc::invalid,
                "series[" + std::to_string(at) + "].interval: a duration above 0 expected");
  }
  return {};
}

}  // namespace

std::string result_to_json(const RunResult& result) {
  std::string out = "{";
  FieldWriter writer(out);
  writer("kind", std::string("RunResult"));
  writer("version", result_version);
  Fields<RunResult>::visit(writer, result);
  return out + "}\n";
}

Result<RunResult> result_from_json(std::string_view text) {
  json::monotonic_resource memory;
  TRY(const json::value document, sync::wire::parse_json(text, result_limits, &memory));
  if (const Status checked = check_kind(document); !checked) return fail(checked.error());
  std::optional<Error> error;
  RunResult result;
  FieldReader reader(document.get_object(), "", error);
  Fields<RunResult>::visit(reader, result);
  if (error) return fail(*std::move(error));
  if (const Status checked = check_series(result); !checked) return fail(checked.error());
  return result;
}

Result<RunResult> read_result(const std::filesystem::path& file) {
  TRY(const std::string text, fs::read_all(file, result_bytes_max));
  auto result = result_from_json(text);
  if (!result) return fail(file.string(), result.error());
  return result;
}

}  // namespace holdfast::agent::lab
