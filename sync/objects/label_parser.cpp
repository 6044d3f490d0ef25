#include "sync/objects/label_parser.h"

#include <algorithm>
#include <span>

#include "platform/text.h"
#include "sync/objects/name.h"
#include "sync/wire/field_error.h"
#include "sync/wire/quote.h"

namespace holdfast::sync::objects {
namespace {

using Operator = LabelRequirement::Operator;

constexpr std::string_view special = "=!(),><";
constexpr std::string_view blanks = " \t\r\n";

// The end of the text is an empty token. "in" and "notin" are identifiers, too, where a value may
// be.
struct Token {
  std::string_view text;

  [[nodiscard]] bool end() const { return text.empty(); }
  [[nodiscard]] bool is(std::string_view wanted) const { return text == wanted; }
  [[nodiscard]] bool identifier() const {
    return !end() && special.find(text.front()) == special.npos;
  }
};

std::vector<Token> scan(std::string_view text) {
  std::vector<Token> tokens;
  for (;;) {
    const std::size_t start = text.find_first_not_of(blanks);
    if (start == text.npos) break;
    text.remove_prefix(start);
    std::size_t length = 1;
    if (special.find(text.front()) == special.npos) {
      length = std::min(text.find_first_of("=!(),>< \t\r\n"), text.size());
    } else if (text.starts_with("==") || text.starts_with("!=")) {
      length = 2;
    }
    tokens.push_back({text.substr(0, length)});
    text.remove_prefix(length);
  }
  tokens.push_back({});
  return tokens;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(scan(text)) {}

  Result<std::vector<LabelRequirement>> parse();

 private:
  using Values = std::vector<std::string>;

  [[nodiscard]] const Token& peek() const { return tokens_[at_]; }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  // Upstream's usual error.
  static Error found(const Token& token, std::string_view wanted) {
    return {Errc::invalid,
            "found '" + std::string(token.text) + "', expected: " + std::string(wanted)};
  }

  Result<LabelRequirement> requirement();
  Result<Operator> infix();
  Result<Values> value_set();
  Result<Values> identifiers();
  Result<Values> exact_value();

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

Result<std::vector<LabelRequirement>> Parser::parse() {
  std::vector<LabelRequirement> requirements;
  while (!peek().end()) {
    if (!peek().identifier() && !peek().is("!")) {
      return fail(found(peek(), "!, identifier, or 'end of string'"));
    }
    auto one = requirement();
    if (!one) return fail("unable to parse requirement", one.error());
    requirements.push_back(*std::move(one));
    const Token after = take();
    if (after.end()) break;
    if (!after.is(",")) return fail(found(after, "',' or 'end of string'"));
    if (!peek().identifier() && !peek().is("!")) {
      return fail(found(peek(), "identifier after ','"));
    }
  }
  return requirements;
}

Result<LabelRequirement> Parser::requirement() {
  Token key = take();
  const bool negated = key.is("!");
  if (negated) key = take();
  if (!key.identifier()) return fail(found(key, "identifier"));
  const Reasons reasons = check_qualified_name(key.text);
  if (!reasons.empty()) {
    // Upstream prints "<nil>" for the missing path.
    return fail(Errc::invalid, wire::field::invalid("<nil>", key.text, join(reasons, "; ")).text());
  }
  if (negated) return make_requirement(key.text, Operator::not_exists, {});
  if (peek().end() || peek().is(",")) return make_requirement(key.text, Operator::exists, {});
  TRY(const Operator op, infix());
  const bool set = op == Operator::in || op == Operator::not_in;
  TRY(Values values, set ? value_set() : exact_value());
  return make_requirement(key.text, op, std::move(values));
}

Result<Operator> Parser::infix() {
  const Token token = take();
  if (token.is("in")) return Operator::in;
  if (token.is("=")) return Operator::equals;
  if (token.is("==")) return Operator::double_equals;
  if (token.is(">")) return Operator::greater;
  if (token.is("<")) return Operator::less;
  if (token.is("notin")) return Operator::not_in;
  if (token.is("!=")) return Operator::not_equals;
  return fail(found(token, "in, notin, =, ==, !=, gt, lt"));
}

Result<Parser::Values> Parser::value_set() {
  const Token open = take();
  if (!open.is("(")) {
    return fail(Errc::invalid, "found '" + std::string(open.text) + "' expected: '('");
  }
  const Token first = peek();
  if (first.is(")")) {
    take();
    return Values{""};
  }
  if (!first.identifier() && !first.is(",")) {
    return fail(found(first, "',', ')' or identifier"));
  }
  TRY(Values values, identifiers());
  if (!take().is(")")) return fail(found(first, "')'"));
  return values;
}

// A list of values, any of which may be empty: "(a,,b,)".
Result<Parser::Values> Parser::identifiers() {
  Values values;
  for (;;) {
    const Token token = take();
    if (token.identifier()) {
      values.emplace_back(token.text);
      if (peek().is(")")) return values;
      if (!peek().is(",")) return fail(found(peek(), "',' or ')'"));
    } else if (token.is(",")) {
      if (values.empty()) values.emplace_back();
      if (peek().is(")")) {
        values.emplace_back();
        return values;
      }
      if (peek().is(",")) {
        take();
        values.emplace_back();
      }
    } else {
      return fail(found(token, "',', or identifier"));
    }
  }
}

Result<Parser::Values> Parser::exact_value() {
  if (peek().end() || peek().is(",")) return Values{""};
  const Token token = take();
  if (!token.identifier()) return fail(found(token, "identifier"));
  return Values{std::string(token.text)};
}

// As Go prints a slice of strings in JSON; an empty one as a nil slice.
std::string printed(std::span<const std::string> values) {
  if (values.empty()) return "null";
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ',';
    out += wire::quoted(value);
  }
  return out += ']';
}

// The error about the number of values, or "".
std::string_view miscounted(Operator op, std::size_t count) {
  switch (op) {
    case Operator::in:
    case Operator::not_in:
      return count == 0 ? "for 'in', 'notin' operators, values set can't be empty" : "";
    case Operator::equals:
    case Operator::double_equals:
    case Operator::not_equals:
      return count != 1 ? "exact-match compatibility requires one single value" : "";
    case Operator::exists:
    case Operator::not_exists:
      return count != 0 ? "values set must be empty for exists and does not exist" : "";
    case Operator::greater:
    case Operator::less:
      return count != 1 ? "for 'Gt', 'Lt' operators, exactly one value is required" : "";
  }
  return "";
}

}  // namespace

Result<std::vector<LabelRequirement>> parse_label_requirements(std::string_view text) {
  return Parser(text).parse();
}

Result<LabelRequirement> make_requirement(std::string_view key, Operator op,
                                          std::vector<std::string> values) {
  wire::FieldErrors errors;
  const Reasons reasons = check_qualified_name(key);
  if (!reasons.empty()) errors.push_back(wire::field::invalid("key", key, join(reasons, "; ")));
  const std::string_view wrong = miscounted(op, values.size());
  if (!wrong.empty()) {
    errors.push_back(wire::field::invalid_raw("values", printed(values), std::string(wrong)));
  }
  const bool ordered = op == Operator::greater || op == Operator::less;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string path = wire::at("values", i);
    if (ordered && !parse_int<std::int64_t>(values[i])) {
      errors.push_back(wire::field::invalid(
          path, values[i], "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
    const Reasons against = check_label_value(values[i]);
    if (!against.empty()) {
      errors.push_back(wire::field::invalid(wire::at(path, key), values[i], join(against, "; ")));
    }
  }
  if (!errors.empty()) return fail(Errc::invalid, wire::aggregate(errors));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return LabelRequirement{std::string(key), op, std::move(values)};
}

}  // namespace holdfast::sync::objects
