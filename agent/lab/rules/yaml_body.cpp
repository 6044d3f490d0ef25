#include "agent/lab/rules/yaml_body.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <boost/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "platform/text.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

json::value plain_word(const std::string& word) {
  if (word.empty() || word == "~" || word == "null" || word == "Null" || word == "NULL") {
    return nullptr;
  }
  if (word == "true" || word == "True" || word == "TRUE") return true;
  if (word == "false" || word == "False" || word == "FALSE") return false;
  if (const auto number = parse_int<std::int64_t>(word)) return *number;
  const bool numeric = word.find_first_not_of("0123456789+-.eE") == std::string::npos &&
                       word.find_first_of("0123456789") != std::string::npos;
  if (numeric) {
    const auto number = sync::wire::parse_json(word);
    if (number && number->is_number()) return *number;
  }
  return json::string(word);
}

// Builds the JSON value of the first document. Reports problems as yaml-cpp does, by throwing
// its exception, which parse_yaml_body() catches.
class JsonBuilder final : public YAML::EventHandler {
 public:
  explicit JsonBuilder(const YamlBodyLimits& limits) : limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw YAML::ParserException(mark, "several documents");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { add(mark, nullptr); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw YAML::ParserException(mark, "aliases are not supported");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& text) override {
    const bool wants_key = !open_.empty() && open_.back().value.is_object() && !open_.back().key;
    if (wants_key) {
      open_.back().key = text;
      return;
    }
    // The tag of a quoted scalar is "!".
    add(mark, tag == "!" || tag == "tag:yaml.org,2002:str" ? json::value(json::string(text))
                                                           : plain_word(text));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    open(mark, json::array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, json::object());
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] json::value take() { return std::move(root_); }

 private:
  // A list or map that is not complete.
  struct Open {
    json::value value;
    std::optional<std::string> key = {};  // of a map: its key was read, its value was not
  };

  void count(const YAML::Mark& mark) {
    if (++values_ > limits_.values) throw YAML::ParserException(mark, "too many values");
  }
  void open(const YAML::Mark& mark, json::value value) {
    count(mark);
    if (open_.size() >= limits_.depth) throw YAML::ParserException(mark, "nested too deeply");
    if (!open_.empty() && open_.back().value.is_object() && !open_.back().key) {
      throw YAML::ParserException(mark, "a key must be a word");
    }
    open_.push_back({std::move(value)});
  }
  void close() {
    json::value value = std::move(open_.back().value);
    open_.pop_back();
    attach(std::move(value));
  }
  void add(const YAML::Mark& mark, json::value value) {
    count(mark);
    if (!open_.empty() && open_.back().value.is_object() && !open_.back().key) {
      throw YAML::ParserException(mark, "a key must be a word");
    }
    attach(std::move(value));
  }
  void attach(json::value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    if (parent.value.is_array()) {
      parent.value.get_array().push_back(std::move(value));
      return;
    }
    parent.value.get_object()[*parent.key] = std::move(value);  // of duplicates the last one
    parent.key.reset();
  }

  YamlBodyLimits limits_;
  std::size_t values_ = 0;
  std::size_t documents_ = 0;
  std::vector<Open> open_;
  json::value root_;
};

}  // namespace

Result<json::value> parse_yaml_body(std::string_view body, const YamlBodyLimits& limits) {
  if (trim(body).starts_with('{')) {
    auto parsed = sync::wire::parse_json(body);
    if (parsed) return parsed;
  }
  JsonBuilder builder(limits);
  std::istringstream stream{std::string(body)};
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& problem) {
    return fail(Errc::invalid,
                "yaml: line " + std::to_string(problem.mark.line + 1) + ": " + problem.msg);
  }
  return builder.take();
}

}  // namespace holdfast::agent::lab
