#include "agent/lab/rules/pod_connect.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "platform/text.h"
#include "sync/node/log_options.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

std::vector<std::string> container_names(const json::object& pod, std::string_view field) {
  std::vector<std::string> names;
  for (const json::value& each : sync::wire::dig_list(pod, {"spec", field})) {
    names.emplace_back(sync::wire::dig_text(sync::wire::as_object(each), {"name"}));
  }
  return names;
}

// The container that is meant, as upstream finds it.
Answer<std::string> choose_container(const json::object& pod, std::string_view wanted) {
  const std::string name(sync::wire::name_of(pod));
  const std::vector<std::string> mains = container_names(pod, "containers");
  const std::vector<std::string> inits = container_names(pod, "initContainers");
  if (!wanted.empty()) {
    for (const auto* names : {&mains, &inits}) {
      if (std::find(names->begin(), names->end(), wanted) != names->end()) {
        return std::string(wanted);
      }
    }
    return refuse(sync::wire::status::bad_request("container " + std::string(wanted) +
                                                  " is not valid for pod " + name));
  }
  if (mains.size() == 1) return mains.front();
  std::string why = "a container name must be specified for pod " + name;
  std::vector<std::string> all = inits;
  all.insert(all.end(), mains.begin(), mains.end());
  if (!mains.empty()) why += ", choose one of: [" + join(all, " ") + "]";
  return refuse(sync::wire::status::bad_request(why));
}

void add_option(std::string& query, std::string_view name, std::string_view value) {
  query += query.empty() ? '?' : '&';
  query.append(name).append(1, '=').append(percent_encode(value));
}

std::string log_query(const Query& query) {
  std::string made;
  for (const auto& [name, value] : query) {
    constexpr std::string_view passed[] = {"follow",    "previous",  "timestamps", "sinceSeconds",
                                           "sinceTime", "tailLines", "limitBytes"};
    const bool is_option =
        std::find(std::begin(passed), std::end(passed), name) != std::end(passed);
    if (is_option) add_option(made, name, value);
  }
  return made;
}

// The kubelet has other names for the streams than the API.
std::string exec_query(const Query& query) {
  std::string made;
  for (const auto& [api, kubelet] : {std::pair{"stdin", "input"}, std::pair{"stdout", "output"},
                                     std::pair{"stderr", "error"}, std::pair{"tty", "tty"}}) {
    if (query.flag(api)) add_option(made, kubelet, "1");
  }
  for (const auto& [name, value] : query) {
    if (name == "command") add_option(made, name, value);
  }
  return made;
}

std::string ports_query(const Query& query) {
  std::string made;
  for (const auto& [name, value] : query) {
    if (name == "ports") add_option(made, "port", value);
  }
  return made;
}

Answer<bool> check_log(std::string_view pod, const Query& query) {
  const auto options = sync::node::parse_log_options(query);
  if (!options) return refuse(sync::wire::status::bad_request(options.error().what));
  const sync::wire::FieldErrors errors = sync::node::check_log_options(*options);
  if (errors.empty()) return true;
  return refuse(sync::wire::status::invalid({"", "PodLogOptions"}, pod, errors));
}

std::string path_to(std::string_view verb, const json::object& pod, std::string_view container) {
  std::string path = "/" + std::string(verb);
  path += "/" + percent_encode(sync::wire::namespace_of(pod));
  path += "/" + percent_encode(sync::wire::name_of(pod));
  if (!container.empty()) path += "/" + percent_encode(container);
  return path;
}

}  // namespace

Answer<std::optional<NodeRequest>> node_request(std::string_view subresource,
                                                const json::object& pod, const Query& query) {
  const std::string name(sync::wire::name_of(pod));
  const bool is_log = subresource == "log";
  if (is_log) {
    if (auto good = check_log(name, query); !good) return refuse(good.error());
  }
  std::string container;
  if (subresource != "portforward") {
    auto chosen = choose_container(pod, query.get("container"));
    if (!chosen) return refuse(chosen.error());
    container = *std::move(chosen);
  }
  const std::string_view node = sync::wire::dig_text(pod, {"spec", "nodeName"});
  if (node.empty() && is_log) return std::nullopt;
  if (node.empty()) {
    return refuse(
        sync::wire::status::bad_request("pod " + name + " does not have a host assigned"));
  }
  NodeRequest made{.node = std::string(node), .pod = name, .target = {}, .is_log = is_log};
  made.follows = is_log && query.flag("follow");
  made.target = is_log ? path_to("containerLogs", pod, container) + log_query(query)
                : subresource == "exec" ? path_to("exec", pod, container) + exec_query(query)
                                        : path_to("portForward", pod, {}) + ports_query(query);
  return made;
}

Answer<bool> set_address(const json::object& node, NodeRequest& request) {
  for (const json::value& each : sync::wire::dig_list(node, {"status", "addresses"})) {
    const json::object& address = sync::wire::as_object(each);
    const bool best = sync::wire::dig_text(address, {"type"}) == "InternalIP";
    if (request.host.empty() || best) request.host = sync::wire::dig_text(address, {"address"});
    if (best) break;
  }
  const std::int64_t port =
      sync::wire::dig_int(node, {"status", "daemonEndpoints", "kubeletEndpoint", "Port"});
  request.port = port > 0 && port <= std::numeric_limits<std::uint16_t>::max()
                     ? static_cast<std::uint16_t>(port)
                     : 0;
  if (request.port != 0 && !request.host.empty()) return true;
  sync::wire::ApiStatus status = sync::wire::status::unexplained(
      "node " + request.node + " does not say where its kubelet serves: status." +
      (request.port == 0 ? "daemonEndpoints.kubeletEndpoint.Port is not set"
                         : "addresses is empty"));
  status.code = 502;
  return refuse(std::move(status));
}

}  // namespace holdfast::agent::lab
