#include "agent/lab/up/view_json.h"

namespace holdfast::agent::lab::up {
namespace {

namespace json = sync::json;

json::array texts(const std::vector<std::string>& all) {
  json::array array;
  for (const std::string& one : all) array.emplace_back(one);
  return array;
}

std::int64_t seconds(Duration duration) {
  return std::chrono::floor<std::chrono::seconds>(duration).count();
}

json::object node_json(const NodeView& node) {
  json::object made{{"name", node.name},
                    {"site", node.site},
                    {"link", node.link.text},
                    {"ready", node.ready.text},
                    {"agent", node.agent.text},
                    {"pods", node.pods},
                    {"podsReady", node.pods_ready},
                    {"taints", texts(node.taints)}};
  if (node.lease_age) made["leaseAge"] = seconds(*node.lease_age);
  if (node.unsent >= 0) made["unsent"] = node.unsent;
  return made;
}

json::object pod_json(const PodView& pod) {
  return {{"name", pod.name},        {"uid", pod.uid},     {"node", pod.node},
          {"state", pod.state.text}, {"ready", pod.ready}, {"restarts", pod.restarts}};
}

json::object upcoming_json(const Upcoming& upcoming) {
  json::object made{{"what", upcoming.what}, {"reason", upcoming.reason}};
  switch (upcoming.when) {
    case Upcoming::When::at:
      made["in"] = seconds(upcoming.in);
      break;
    case Upcoming::When::waiting:
      made["waiting"] = true;
      break;
    case Upcoming::When::withheld:
      made["withheld"] = true;
      break;
  }
  return made;
}

template <class T, class Make>
json::array array_of(const std::vector<T>& all, Make make) {
  json::array array;
  for (const T& one : all) array.push_back(make(one));
  return array;
}

}  // namespace

json::object json_of(const View& view) {
  const auto event_json = [](const EventLine& event) {
    return json::object{{"at", seconds(event.at)}, {"text", event.text}};
  };
  return {{"age", seconds(view.age)},
          {"kubeconfig", view.kubeconfig},
          {"control", view.control},
          {"nodes", array_of(view.nodes, node_json)},
          {"pods", array_of(view.pods, pod_json)},
          {"upcoming", array_of(view.upcoming, upcoming_json)},
          {"events", array_of(view.events, event_json)}};
}

}  // namespace holdfast::agent::lab::up
