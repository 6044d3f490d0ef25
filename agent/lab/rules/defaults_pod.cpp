#include <boost/json.hpp>
#include <string>

#include "agent/lab/rules/defaults.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// Images "x", "x:latest" and "host:5000/x" are always pulled, but not images with another tag or a
// digest.
std::string_view pull_policy(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return "IfNotPresent";
  const std::size_t slash = image.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? image : image.substr(slash + 1);
  const std::size_t colon = last.find(':');
  if (colon == std::string_view::npos || last.substr(colon + 1) == "latest") return "Always";
  return "IfNotPresent";
}

void default_http(json::object* handler) {
  if (handler == nullptr) return;
  json::value* get = handler->if_contains("httpGet");
  if (get == nullptr || !get->is_object()) return;
  sync::wire::set_default(get->get_object(), "path", "/");
  sync::wire::set_default(get->get_object(), "scheme", "HTTP");
}

json::object* object_at(json::object& in, std::string_view key) {
  json::value* found = in.if_contains(key);
  return found == nullptr ? nullptr : found->if_object();
}

void default_probe(json::object* probe) {
  if (probe == nullptr) return;
  sync::wire::set_default(*probe, "timeoutSeconds", 1);
  sync::wire::set_default(*probe, "periodSeconds", 10);
  sync::wire::set_default(*probe, "successThreshold", 1);
  sync::wire::set_default(*probe, "failureThreshold", 3);
  default_http(probe);
}

// Calls `act` with each object of the list at `key`.
template <class Act>
void each(json::object& in, std::string_view key, Act act) {
  json::value* list = in.if_contains(key);
  if (list == nullptr || !list->is_array()) return;
  for (json::value& item : list->get_array()) {
    if (item.is_object()) act(item.get_object());
  }
}

void default_env(json::object& variable) {
  json::object* from = object_at(variable, "valueFrom");
  if (from == nullptr) return;
  if (json::object* field = object_at(*from, "fieldRef"))
    sync::wire::set_default(*field, "apiVersion", "v1");
}

void default_container(json::object& container) {
  sync::wire::set_default(container, "terminationMessagePath", "/dev/termination-log");
  sync::wire::set_default(container, "terminationMessagePolicy", "File");
  const std::string_view policy = pull_policy(sync::wire::dig_text(container, {"image"}));
  sync::wire::set_default(container, "imagePullPolicy", json::value(policy));
  each(container, "ports",
       [](json::object& port) { sync::wire::set_default(port, "protocol", "TCP"); });
  each(container, "env", default_env);
  for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    default_probe(object_at(container, probe));
  }
  if (json::object* lifecycle = object_at(container, "lifecycle")) {
    default_http(object_at(*lifecycle, "postStart"));
    default_http(object_at(*lifecycle, "preStop"));
  }
  if (json::object* security = object_at(container, "securityContext")) {
    if (sync::wire::dig(*security, {"procMount"}) == nullptr) security->erase("procMount");
  }
}

void default_downward(json::object& file) {
  if (json::object* field = object_at(file, "fieldRef"))
    sync::wire::set_default(*field, "apiVersion", "v1");
}

void default_volume(json::object& volume) {
  constexpr std::int64_t mode = 0644;
  const bool empty = volume.size() <= 1;
  if (empty) volume["emptyDir"] = json::object();
  for (const std::string_view source : {"secret", "configMap", "downwardAPI", "projected"}) {
    if (json::object* found = object_at(volume, source))
      sync::wire::set_default(*found, "defaultMode", mode);
  }
  if (json::object* host = object_at(volume, "hostPath"))
    sync::wire::set_default(*host, "type", "");
  if (json::object* downward = object_at(volume, "downwardAPI")) {
    each(*downward, "items", default_downward);
  }
  json::object* projected = object_at(volume, "projected");
  if (projected == nullptr) return;
  each(*projected, "sources", [](json::object& source) {
    if (json::object* token = object_at(source, "serviceAccountToken")) {
      sync::wire::set_default(*token, "expirationSeconds", 3600);
    }
    if (json::object* downward = object_at(source, "downwardAPI")) {
      each(*downward, "items", default_downward);
    }
  });
}

void default_host_ports(json::object& container) {
  each(container, "ports", [](json::object& port) {
    const std::int64_t number = sync::wire::dig_int(port, {"containerPort"});
    if (sync::wire::dig_int(port, {"hostPort"}) == 0) port["hostPort"] = number;
  });
}

// A limit without a request is also the request.
void default_requests(json::object& container) {
  const json::object limits = sync::wire::dig_object(container, {"resources", "limits"});
  if (limits.empty()) return;
  json::object& requests = sync::wire::make_object(container, {"resources", "requests"});
  for (const auto& limit : limits) sync::wire::set_default(requests, limit.key(), limit.value());
}

bool tolerates_outage(const json::object& pod, std::string_view key) {
  for (const json::value& item : sync::wire::dig_list(pod, {"spec", "tolerations"})) {
    const std::string_view its_key = sync::wire::dig_text(sync::wire::as_object(item), {"key"});
    const std::string_view effect = sync::wire::dig_text(sync::wire::as_object(item), {"effect"});
    const bool key_fits = its_key == key || its_key.empty();
    if (key_fits && (effect == "NoExecute" || effect.empty())) return true;
  }
  return false;
}

bool is_zero(std::string_view quantity) { return quantity.empty() || quantity == "0"; }

}  // namespace

void default_pod_spec(json::object& spec) {
  sync::wire::set_default(spec, "restartPolicy", "Always");
  sync::wire::set_default(spec, "terminationGracePeriodSeconds", 30);
  sync::wire::set_default(spec, "dnsPolicy", "ClusterFirst");
  sync::wire::set_default(spec, "securityContext", json::object());
  sync::wire::set_default(spec, "schedulerName", "default-scheduler");
  const std::string account(sync::wire::dig_text(spec, {"serviceAccountName"}));
  const std::string old_account(sync::wire::dig_text(spec, {"serviceAccount"}));
  if (!account.empty() || !old_account.empty()) {
    spec["serviceAccountName"] = account.empty() ? old_account : account;
    spec["serviceAccount"] = spec["serviceAccountName"];
  }
  each(spec, "volumes", default_volume);
  for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    each(spec, list, default_container);
    if (sync::wire::dig_bool(spec, {"hostNetwork"})) each(spec, list, default_host_ports);
  }
}

namespace {

// podIP and the first of podIPs must be equal. If they differ, podIP is used, as in upstream's
// conversion.
void agree_on_address(json::object& pod) {
  const std::string address(sync::wire::dig_text(pod, {"status", "podIP"}));
  const json::array& all = sync::wire::dig_list(pod, {"status", "podIPs"});
  const std::string first(all.empty()
                              ? std::string_view()
                              : sync::wire::dig_text(sync::wire::as_object(all[0]), {"ip"}));
  if (address.empty() && !first.empty()) {
    sync::wire::make_object(pod, {"status"})["podIP"] = first;
  } else if (!address.empty() && first != address) {
    sync::wire::make_object(pod, {"status"})["podIPs"] =
        json::array({json::object{{"ip", address}}});
  }
}

}  // namespace

void default_pod(json::object& pod) {
  json::object& spec = sync::wire::make_object(pod, {"spec"});
  default_pod_spec(spec);
  sync::wire::set_default(spec, "enableServiceLinks", true);
  each(spec, "initContainers", default_requests);
  each(spec, "containers", default_requests);
  agree_on_address(pod);
}

void admit_pod(json::object& pod, std::int64_t priority, std::string_view preemption) {
  json::object& spec = sync::wire::make_object(pod, {"spec"});
  for (const std::string_view key :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (tolerates_outage(pod, key)) continue;
    json::value& list = spec["tolerations"];
    if (!list.is_array()) list.emplace_array();
    const json::object toleration = {
        {"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}};
    list.get_array().push_back(toleration);
  }
  spec["priority"] = priority;
  sync::wire::set_default(spec, "preemptionPolicy", json::value(preemption));
}

std::string_view qos_class(const json::object& pod) {
  bool any = false;
  bool guaranteed = true;
  for (const std::string_view list : {"initContainers", "containers"}) {
    for (const json::value& item : sync::wire::dig_list(pod, {"spec", list})) {
      const json::object& container = sync::wire::as_object(item);
      for (const std::string_view resource : {"cpu", "memory"}) {
        const std::string_view limit =
            sync::wire::dig_text(container, {"resources", "limits", resource});
        const std::string_view request =
            sync::wire::dig_text(container, {"resources", "requests", resource});
        any = any || !is_zero(limit) || !is_zero(request);
        if (is_zero(limit) || limit != request) guaranteed = false;
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace holdfast::agent::lab
