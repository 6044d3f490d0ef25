#include "agent/lab/cluster/node_object.h"

#include "sync/wire/json.h"

namespace holdfast::agent::lab::cluster {
namespace {

namespace json = sync::json;

json::object object_of(const std::map<std::string, std::string>& words) {
  json::object made;
  for (const auto& [key, value] : words) made[key] = value;
  return made;
}

}  // namespace

std::string node_object(const Site& site, const std::string& name,
                        const std::optional<guest::Guest>& guest) {
  json::object labels = {
      {"kubernetes.io/hostname", name},
      {"kubernetes.io/os", "linux"},
      {"topology.kubernetes.io/zone", guest ? guest->name(site.zone) : site.zone},
      {site_label, site.name}};
  for (const auto& [key, value] : site.labels) labels[key] = value;
  json::array taints;
  for (const Taint& taint : site.taints) {
    taints.push_back(
        json::object{{"key", taint.key}, {"value", taint.value}, {"effect", taint.effect}});
  }
  json::object metadata = {
      {"name", name}, {"labels", labels}, {"annotations", object_of(site.annotations)}};
  if (guest) {
    guest->mark(metadata);
    taints.push_back(
        json::object{{"key", guest::run_label}, {"value", guest->run}, {"effect", "NoSchedule"}});
  }
  const json::object node = {{"apiVersion", "v1"},
                             {"kind", "Node"},
                             {"metadata", metadata},
                             {"spec", json::object{{"taints", taints}}}};
  return sync::wire::serialize(node);
}

}  // namespace holdfast::agent::lab::cluster
