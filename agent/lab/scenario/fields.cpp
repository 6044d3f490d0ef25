#include "agent/lab/scenario/fields.h"

#include "agent/lab/scenario/units.h"
#include "platform/text.h"
#include "sync/objects/quantity.h"

namespace holdfast::agent::lab {
namespace {

std::string found_instead(std::string_view expected, const YamlNode& node) {
  return "expected " + std::string(expected) + ", not " + std::string(kind_text(node));
}

std::string range_text(std::int64_t least, std::int64_t most) {
  return "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most);
}

}  // namespace

std::string path_of(const std::string& parent, std::string_view key) {
  // Keys with dots, such as labels, are quoted as in --set.
  const bool is_plain = key.find_first_of(".[]\"\n") == std::string_view::npos;
  std::string name = is_plain ? std::string(key.substr(0, 80)) : quoted_text(key);
  return parent.empty() ? name : parent + "." + name;
}

void FieldReader::entries(const YamlItem& item,
                          const std::function<void(const YamlEntry&, YamlItem)>& read) {
  if (item.node.kind != YamlNode::Kind::map) {
    return wrong(item, found_instead("a map", item.node));
  }
  std::map<std::string_view, const YamlEntry*> seen;
  for (const YamlEntry& entry : item.node.entries) {
    const auto [first, is_new] = seen.emplace(entry.key, &entry);
    if (!is_new) {
      problems_.add(entry.place, path_of(item.path, entry.key),
                    "stands twice; first in line " + std::to_string(first->second->place.line));
      continue;
    }
    read(entry, {entry.value, path_of(item.path, entry.key)});
  }
}

void FieldReader::map(const YamlItem& item, const FieldTable& fields) {
  entries(item, [this, &fields](const YamlEntry& entry, const YamlItem& value) {
    for (const auto& [name, read] : fields) {
      if (name == entry.key) return read(value);
    }
    std::vector<std::string_view> names;
    for (const auto& [name, read] : fields) names.push_back(name);
    const std::string hint = problems_.hint(entry.key, names);
    const std::string known = hint.empty() ? "; known are " + alternatives(names, "and") : hint;
    problems_.add(entry.place, value.path, "unknown key" + known);
  });
}

void FieldReader::list(const YamlItem& item, std::size_t most, const ReadItem& read) {
  if (item.node.kind != YamlNode::Kind::list) {
    return wrong(item, found_instead("a list", item.node));
  }
  if (item.node.items.size() > most) {
    return wrong(item, std::to_string(item.node.items.size()) + " entries; at most " +
                           std::to_string(most) + " are allowed");
  }
  for (std::size_t i = 0; i < item.node.items.size(); ++i) {
    read({item.node.items[i], item.path + "[" + std::to_string(i) + "]"});
  }
}

void FieldReader::require(const YamlItem& map, std::string_view key) {
  if (map.node.kind != YamlNode::Kind::map || map.node.find(key) != nullptr) return;
  wrong(map, quoted_text(key) + " is missing");
}

const std::string* FieldReader::word(const YamlItem& item, std::string_view expected) {
  if (item.node.kind == YamlNode::Kind::scalar && !item.node.text.empty()) return &item.node.text;
  const bool is_empty = item.node.kind == YamlNode::Kind::scalar;
  wrong(item, is_empty ? "must not be empty" : found_instead(expected, item.node));
  return nullptr;
}

std::size_t FieldReader::index_of(const YamlItem& item, std::string_view what,
                                  const std::vector<std::string_view>& names) {
  const std::string* given = word(item, "a word");
  if (given == nullptr) return names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == *given) return i;
  }
  const std::string hint = problems_.hint(*given, names);
  wrong(item, "unknown " + std::string(what) + " " + quoted_text(*given) +
                  (hint.empty() ? "; expected " + alternatives(names) : hint));
  return names.size();
}

ReadItem FieldReader::text(std::string& out, CheckText check) {
  return [this, &out, check = std::move(check)](const YamlItem& item) {
    const std::string* given = word(item, "a word");
    if (given == nullptr) return;
    const std::string complaint = check ? check(*given) : std::string();
    if (!complaint.empty()) return wrong(item, complaint);
    out = *given;
  };
}

ReadItem FieldReader::integer(std::int64_t& out, std::int64_t least, std::int64_t most) {
  return [this, &out, least, most](const YamlItem& item) {
    const std::string* given = word(item, "a whole number");
    if (given == nullptr) return;
    const auto value = parse_int<std::int64_t>(*given);
    if (!value || *value < least || *value > most) {
      return wrong(item, range_text(least, most) + ", not " + quoted_text(*given));
    }
    out = *value;
  };
}

ReadItem FieldReader::integer(int& out, std::int64_t least, std::int64_t most) {
  return [this, &out, least, most](const YamlItem& item) {
    std::int64_t value = out;
    integer(value, least, most)(item);
    out = static_cast<int>(value);
  };
}

ReadItem FieldReader::seed(std::uint64_t& out) {
  return [this, &out](const YamlItem& item) {
    const std::string* given = word(item, "a whole number");
    if (given == nullptr) return;
    const auto value = parse_int<std::uint64_t>(*given);
    if (!value) {
      return wrong(item, "expected a whole number from 0 to 2^64-1, not " + quoted_text(*given));
    }
    out = *value;
  };
}

ReadItem FieldReader::flag(bool& out) {
  return choice<bool>(out, "value", {{"true", true}, {"false", false}});
}

ReadItem FieldReader::duration(Duration& out, Duration least, Duration most) {
  return [this, &out, least, most](const YamlItem& item) {
    const std::string* given = word(item, "a duration like 47m or 1h30m");
    if (given == nullptr) return;
    const auto value = parse_duration(*given);
    if (!value) {
      return wrong(item, "not a duration like 47m or 1h30m: " + quoted_text(*given));
    }
    if (*value < least || *value > most) {
      return wrong(item, quoted_text(*given) + " is not within " + format_duration(least) + " to " +
                             format_duration(most));
    }
    out = *value;
  };
}

ReadItem FieldReader::rate(std::int64_t& out) {
  return [this, &out](const YamlItem& item) {
    const std::string* given = word(item, "a rate like 2Mbit/s");
    if (given == nullptr) return;
    const auto value = parse_link_rate(*given);
    if (!value) return wrong(item, value.error().what);
    out = *value;
  };
}

ReadItem FieldReader::fraction(double& out) {
  return [this, &out](const YamlItem& item) {
    const std::string* given = word(item, "a fraction like 0.02 or 2%");
    if (given == nullptr) return;
    const auto value = parse_fraction(*given);
    if (!value) return wrong(item, value.error().what);
    if (*value >= 1) return wrong(item, "must be below 1: " + quoted_text(*given));
    out = *value;
  };
}

ReadItem FieldReader::quantity(std::string& out) {
  return text(out, [](const std::string& given) -> std::string {
    const auto parsed = sync::objects::Quantity::parse(given);
    if (parsed && !parsed->negative()) return {};
    return "not a quantity like 500m or 4Gi: " + quoted_text(given);
  });
}

ReadItem FieldReader::texts(std::map<std::string, std::string>& out, CheckText check_key,
                            CheckText check_value) {
  return [this, &out, check_key = std::move(check_key),
          check_value = std::move(check_value)](const YamlItem& item) {
    entries(item,
            [this, &out, &check_key, &check_value](const YamlEntry& entry, const YamlItem& value) {
              const std::string complaint = check_key ? check_key(entry.key) : std::string();
              if (!complaint.empty()) return problems_.add(entry.place, value.path, complaint);
              // A label's value may be empty.
              std::string read;
              if (value.node.kind == YamlNode::Kind::scalar && value.node.text.empty()) {
                out[entry.key] = read;
                return;
              }
              text(read, check_value)(value);
              out[entry.key] = read;
            });
  };
}

}  // namespace holdfast::agent::lab
