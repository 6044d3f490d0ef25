#include "agent/lab/scenario/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <sstream>

#include "platform/check.h"

namespace holdfast::agent::lab {
namespace {

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(int source, const YamlLimits& limits) : source_(source), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > limits_.nodes) throw YAML::ParserException(mark, "too many documents");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    add(mark, node_at(mark, YamlNode::Kind::null));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw YAML::ParserException(mark, "aliases (*name) are not supported");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    YamlNode node = node_at(mark, YamlNode::Kind::scalar);
    node.text = value;
    node.is_quoted = tag == "!";  // the parser's tag for scalars in quotes
    add(mark, std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    open(mark, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] std::vector<YamlNode> take() { return std::move(roots_); }

 private:
  // A list or map that is not complete.
  struct Open {
    YamlNode node;
    std::optional<YamlEntry> entry = {};  // of a map: its key was read, its value was not
  };

  [[nodiscard]] YamlPlace place_of(const YAML::Mark& mark) const {
    return {source_, mark.line + 1, mark.column + 1};
  }

  [[nodiscard]] YamlNode node_at(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (++nodes_ > limits_.nodes) throw YAML::ParserException(mark, "too many values");
    YamlNode node;
    node.kind = kind;
    node.place = place_of(mark);
    return node;
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (open_.size() >= limits_.depth) throw YAML::ParserException(mark, "nested too deeply");
    if (expects_key()) throw YAML::ParserException(mark, "a key must be a word");
    open_.push_back({node_at(mark, kind)});
  }

  void close() {
    CHECK(!open_.empty());
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    attach(std::move(node));
  }

  [[nodiscard]] bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::map && !open_.back().entry;
  }

  void add(const YAML::Mark& mark, YamlNode node) {
    if (!expects_key()) return attach(std::move(node));
    if (node.kind != YamlNode::Kind::scalar) {
      throw YAML::ParserException(mark, "a key must be a word");
    }
    open_.back().entry = YamlEntry{std::move(node.text), node.place, {}};
  }

  void attach(YamlNode node) {
    if (open_.empty()) {
      roots_.push_back(std::move(node));
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::list) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    // The parser reports a missing value where the next token stands.
    if (node.kind == YamlNode::Kind::null) node.place = parent.entry->place;
    parent.entry->value = std::move(node);
    parent.node.entries.push_back(*std::move(parent.entry));
    parent.entry.reset();
  }

  int source_;
  YamlLimits limits_;
  std::size_t nodes_ = 0;
  std::size_t documents_ = 0;
  std::vector<Open> open_;
  std::vector<YamlNode> roots_;
};

}  // namespace

YamlNode* YamlNode::find(std::string_view key) {
  for (YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::vector<YamlNode> parse_yaml(const std::string& text, int source, ScenarioProblems& problems,
                                 const YamlLimits& limits) {
  TreeBuilder builder(source, limits);
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    const YAML::Mark& mark = error.mark;
    const YamlPlace place{source, mark.line + 1, mark.column + 1};
    problems.add(mark.is_null() ? YamlPlace{source} : place, "", error.msg);
  }
  return builder.take();
}

std::string_view kind_text(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::scalar:
      return "a word";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
  }
  UNREACHABLE();
}

}  // namespace holdfast::agent::lab
