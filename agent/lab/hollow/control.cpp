#include "agent/lab/hollow/control.h"

#include <algorithm>

#include "sync/objects/selector.h"
#include "sync/wire/json.h"

namespace holdfast::agent::hollow {
namespace {

namespace json = sync::json;
using lab::json_answer;
using lab::json_problem;

constexpr std::size_t command_bytes_max = 4UL << 20;  // the names of a hundred thousand nodes
constexpr Duration command_limit = std::chrono::seconds(10);

Result<Choice> parse_choice(std::string_view body) {
  TRY(const json::value parsed, sync::wire::parse_json(body));
  const json::object* object = parsed.if_object();
  if (object == nullptr) return fail(Errc::invalid, "expected an object");
  Choice choice;
  for (const auto& [key, value] : *object) {
    if (key == "selector" && value.is_string()) {
      choice.selector = value.get_string();
    } else if (key == "names" && value.is_array()) {
      for (const json::value& name : value.get_array()) {
        if (!name.is_string()) return fail(Errc::invalid, "names: expected strings");
        choice.names.emplace_back(name.get_string());
      }
    } else {
      return fail(Errc::invalid, "unexpected field \"" + std::string(key) + "\"");
    }
  }
  return choice;
}

std::string_view state_text(const NodeRecord& node) {
  switch (node.state) {
    case NodeState::registering:
      return "registering";
    case NodeState::registered:
      return node.silent_since ? "silent" : "alive";
    case NodeState::deleted:
      return "deleted";
    case NodeState::refused:
      return "refused";
  }
  return "";
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 2, width), ' ');
  return text;
}

std::string text_of(const json::object& node, std::string_view key) {
  const json::value* value = node.if_contains(key);
  if (value == nullptr) return "-";
  if (!value->is_string()) return sync::wire::serialize(*value);
  return value->get_string().empty() ? "-" : std::string(value->get_string());
}

// The table of `holdfast-lab nodes list`.
Result<std::string> table_of(std::string_view body) {
  TRY(const json::value parsed, sync::wire::parse_json(body, sync::wire::trusted_json));
  const json::object* object = parsed.if_object();
  const json::value* all = object == nullptr ? nullptr : object->if_contains("nodes");
  if (all == nullptr || !all->is_array()) return fail(Errc::corrupt, "not a list of nodes");
  std::size_t name_width = 6;
  std::size_t zone_width = 6;
  for (const json::value& each : all->get_array()) {
    if (!each.is_object()) return fail(Errc::corrupt, "not a list of nodes");
    name_width = std::max(name_width, text_of(each.get_object(), "name").size() + 2);
    zone_width = std::max(zone_width, text_of(each.get_object(), "zone").size() + 2);
  }
  const auto line = [name_width, zone_width](const std::string& name, const std::string& zone,
                                             const std::string& state, const std::string& silent,
                                             const std::string& pods) {
    return padded(name, name_width) + padded(zone, zone_width) + padded(state, 13) +
           padded(silent, 8) + pods + "\n";
  };
  std::string table = line("NAME", "ZONE", "STATE", "SILENT", "PODS");
  for (const json::value& each : all->get_array()) {
    const json::object& node = each.get_object();
    const json::value* silent = node.if_contains("silent");
    const Duration since = std::chrono::seconds(
        silent != nullptr && silent->is_number() ? silent->to_number<std::int64_t>() : 0);
    table += line(text_of(node, "name"), text_of(node, "zone"), text_of(node, "state"),
                  silent == nullptr ? "-" : format_duration(since), text_of(node, "pods"));
  }
  return table;
}

Result<std::string> change_text(const std::string& action, std::string_view body) {
  TRY(const json::value parsed, sync::wire::parse_json(body));
  const json::object* object = parsed.if_object();
  if (object == nullptr) return fail(Errc::corrupt, "not an answer of holdfast-lab nodes");
  const std::string done = action == "silence" ? " silenced" : " resumed";
  return text_of(*object, "matched") + " matched, " + text_of(*object, "changed") + done + "\n";
}

std::string body_of(const Choice& choice) {
  json::array names;
  for (const std::string& name : choice.names) names.emplace_back(name);
  return sync::wire::serialize(json::object{{"names", names}, {"selector", choice.selector}});
}

}  // namespace

ControlServer::ControlServer(const asio::any_io_executor& executor, HollowNodes& nodes,
                             const Clock& clock)
    : nodes_(nodes),
      clock_(clock),
      service_(
          executor, [this](const http::Request& request) { return handle(request); },
          command_bytes_max) {}

asio::awaitable<http::Response> ControlServer::handle(const http::Request& request) {
  co_return answer(request);
}

http::Response ControlServer::answer(const http::Request& request) {
  const std::string_view path = request.path();
  const bool reads = path == "/v1/nodes";
  if (!reads && path != "/v1/silence" && path != "/v1/resume") {
    return json_problem(404, "there is no such page");
  }
  if (request.method != (reads ? http::Method::get : http::Method::post)) {
    return json_problem(405, "wrong method");
  }
  return reads ? list() : change(request, path == "/v1/silence");
}

http::Response ControlServer::list() {
  const auto pods = nodes_.pod_counts();
  json::array all;
  const auto count = static_cast<NodeId>(nodes_.plan().nodes.size());
  for (NodeId id = 0; id < count; ++id) {
    const NodeRecord& node = nodes_.node(id);
    const auto held = pods.find(id);
    json::object row{{"name", nodes_.plan().nodes[id]},
                     {"zone", nodes_.plan().zone_of(id)},
                     {"state", state_text(node)},
                     {"pods", held == pods.end() ? 0 : held->second}};
    if (node.silent_since) {
      const Duration silent = clock_.mono() - *node.silent_since;
      row["silent"] = std::chrono::duration_cast<std::chrono::seconds>(silent).count();
    }
    all.push_back(std::move(row));
  }
  return json_answer(200, {{"nodes", std::move(all)}});
}

Result<std::vector<NodeId>> ControlServer::chosen(const Choice& choice) const {
  TRY(std::vector<NodeId> ids, nodes_.find(choice.names));
  if (choice.selector.empty()) {
    if (ids.empty()) return fail(Errc::invalid, "name nodes or give a selector");
    return ids;
  }
  TRY(const auto query, sync::objects::LabelQuery::parse(choice.selector));
  const auto count = static_cast<NodeId>(nodes_.plan().nodes.size());
  const std::size_t named = ids.size();
  for (NodeId id = 0; id < count; ++id) {
    if (query.matches(nodes_.plan().labels_of(id))) ids.push_back(id);
  }
  if (ids.size() == named) {
    return fail(Errc::not_found, "no hollow node matches " + choice.selector);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

http::Response ControlServer::change(const http::Request& request, bool silence) {
  const auto choice = parse_choice(request.body);
  if (!choice) return json_problem(400, choice.error().what);
  const auto ids = chosen(*choice);
  if (!ids) return json_problem(ids.error().code == Errc::not_found ? 404 : 400, ids.error().what);
  const std::size_t changed = silence ? nodes_.silence(*ids) : nodes_.resume(*ids);
  return json_answer(200, {{"matched", ids->size()}, {"changed", changed}});
}

asio::awaitable<Result<std::string>> send_command(std::string address, std::string action,
                                                  Choice choice, const Clock& clock) {
  if (action != "silence" && action != "resume" && action != "list") {
    co_return fail(Errc::invalid, "\"" + action + "\" is none of silence, resume and list");
  }
  lab::LocalServer server{"holdfast-lab nodes", "--control", std::move(address)};
  const bool lists = action == "list";
  std::string target = lists ? "/v1/nodes" : "/v1/" + action;
  std::string command = lists ? std::string() : body_of(choice);
  CO_TRY(const std::string answer,
         co_await lab::call_local(std::move(server), std::move(target), std::move(command),
                                  clock.mono() + command_limit));
  co_return lists ? table_of(answer) : change_text(action, answer);
}

}  // namespace holdfast::agent::hollow
