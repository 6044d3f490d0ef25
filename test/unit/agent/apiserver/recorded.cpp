#include "test/unit/agent/apiserver/recorded.h"

#include <algorithm>
#include <fstream>

#include "platform/text.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;

std::string text_of(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  if (value == nullptr || value->is_null()) return {};
  return value->is_string() ? std::string(value->get_string()) : json::serialize(*value);
}

std::vector<std::string> keys_of(const json::object& object) {
  std::vector<std::string> keys;
  for (const auto& pair : object) keys.emplace_back(pair.key());
  return keys;
}

// Whether the server chose this value: it is learnt when it is first seen.
bool is_chosen(std::string_view key, const std::string& recorded) {
  if (key == "uid" || key == "continue" || key == "clusterIP" || key == "clusterIPs") return true;
  return recorded.starts_with("g-") && (key == "name" || key == "cells");
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::vector<Exchange> load_exchanges(const std::string& file) {
  std::vector<Exchange> all;
  std::ifstream in(HOLDFAST_SOURCE_ROOT "/test/data/apiserver/" + file);
  for (std::string line; std::getline(in, line);) {
    const json::object from = json::parse(line).as_object();
    Exchange exchange;
    exchange.number = all.size();
    exchange.note = text_of(from, "note");
    exchange.method = text_of(from, "method");
    exchange.target = text_of(from, "target");
    exchange.accept = text_of(from, "accept");
    exchange.content_type = text_of(from, "contentType");
    exchange.body = text_of(from, "body");
    exchange.status = static_cast<int>(from.at("status").as_int64());
    for (const auto& header : from.at("responseHeaders").as_object()) {
      exchange.headers[header.key()] = std::string(header.value().as_string());
    }
    exchange.response = from.at("response");
    all.push_back(std::move(exchange));
  }
  return all;
}

std::string Translation::to_ours(std::string text) const {
  for (const auto& [recorded, ours] : names_) replace_all(text, recorded, ours);
  for (const std::string_view before :
       {"resourceVersion=", "\"resourceVersion\":\"", "current: "}) {
    const std::size_t found = text.find(before);
    if (found == std::string::npos) continue;
    const std::size_t begin = found + before.size();
    std::size_t end = begin;
    while (end < text.size() && is_digit(text[end])) ++end;
    const auto known = versions_.find(text.substr(begin, end - begin));
    if (known != versions_.end()) text.replace(begin, end - begin, known->second);
  }
  return text;
}

std::vector<Difference> Translation::compare(const json::value& recorded, const json::value& ours) {
  found_.clear();
  values("", "", recorded, ours);
  return found_;
}

void Translation::values(const std::string& path, std::string_view key, const json::value& recorded,
                         const json::value& ours) {
  if (recorded.is_object() && ours.is_object()) {
    objects(path, recorded.get_object(), ours.get_object());
  } else if (recorded.is_array() && ours.is_array()) {
    const json::array& left = recorded.get_array();
    const json::array& right = ours.get_array();
    for (std::size_t at = 0; at < std::min(left.size(), right.size()); ++at) {
      values(path + "/" + std::to_string(at), key, left[at], right[at]);
    }
    if (left.size() != right.size()) {
      found_.push_back({path, std::to_string(left.size()) + " elements",
                        std::to_string(right.size()) + " elements"});
    }
  } else if (recorded.is_string() && ours.is_string()) {
    texts(path, key, std::string(recorded.get_string()), std::string(ours.get_string()));
  } else if (recorded != ours) {
    found_.push_back({path, json::serialize(recorded), json::serialize(ours)});
  }
}

void Translation::objects(const std::string& path, const json::object& recorded,
                          const json::object& ours) {
  if (keys_of(recorded) != keys_of(ours)) {
    found_.push_back(
        {path, "fields " + join(keys_of(recorded), " "), "fields " + join(keys_of(ours), " ")});
  }
  for (const auto& pair : recorded) {
    const json::value* mine = ours.if_contains(pair.key());
    if (mine == nullptr) continue;  // already reported above
    values(path + "/" + std::string(pair.key()), pair.key(), pair.value(), *mine);
  }
}

void Translation::texts(const std::string& path, std::string_view key, const std::string& recorded,
                        const std::string& ours) {
  if (key == "resourceVersion") {
    // Version 1 is older than everything that either server has created, so it means the same in
    // both.
    const auto known = versions_.try_emplace(recorded, recorded == "1" ? recorded : ours).first;
    if (known->second != ours) found_.push_back({path, known->second, ours});
    return;
  }
  if (is_chosen(key, recorded)) names_.try_emplace(recorded, ours);
  const std::string expected = to_ours(recorded);
  if (expected != ours) found_.push_back({path, expected, ours});
}

}  // namespace holdfast::test
