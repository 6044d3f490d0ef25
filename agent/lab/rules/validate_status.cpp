// Validates the statuses of pods and nodes: what a kubelet must not write.

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <optional>
#include <set>

#include "agent/lab/rules/validation.h"
#include "sync/objects/name.h"
#include "sync/objects/quantity.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

enum class Family : std::uint8_t { v4, v6 };

std::optional<Family> family_of(const std::string& address) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return Family::v4;
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return Family::v6;
  return std::nullopt;
}

// Whether the address is invalid only because of leading zeros, such as "10.0.0.010". Upstream has
// a special error for this.
bool has_leading_zeros(const std::string& address) {
  if (address.find_first_not_of("0123456789.") != std::string::npos) return false;
  std::string stripped;
  for (std::size_t at_index = 0; at_index < address.size(); ++at_index) {
    const bool first = stripped.empty() || stripped.back() == '.';
    const bool digit_next = at_index + 1 < address.size() && address[at_index + 1] != '.';
    if (first && address[at_index] == '0' && digit_next) continue;
    stripped += address[at_index];
  }
  return stripped != address && family_of(stripped).has_value();
}

// Reports more than one address of an IP family; all of them are valid. `printed` is the list as
// upstream prints it.
void check_families(sync::wire::FieldErrors& errors, const std::set<Family>& seen,
                    std::size_t count, const std::string& path, const json::array& printed,
                    std::string_view noun) {
  if (count < 2 || (count == 2 && seen.size() == 2)) return;
  errors.push_back(sync::wire::field::invalid_raw(
      path, json::serialize(printed),
      "may specify no more than one " + std::string(noun) + " for each IP family"));
}

void check_addresses(sync::wire::FieldErrors& errors, const json::object& pod,
                     std::string_view list) {
  const std::string path = sync::wire::child("status", list);
  const json::array& addresses = sync::wire::dig_list(pod, {"status", list});
  std::set<Family> seen;
  json::array printed;
  bool valid = true;
  for (std::size_t index = 0; index < addresses.size(); ++index) {
    const std::string address(
        sync::wire::dig_text(sync::wire::as_object(addresses[index]), {"ip"}));
    const json::object shown = {{"IP", address}};
    printed.push_back(shown);
    const std::optional<Family> family = family_of(address);
    if (family) {
      seen.insert(*family);
      continue;
    }
    valid = false;
    errors.push_back(sync::wire::field::invalid(
        sync::wire::at(path, index), address,
        has_leading_zeros(address)
            ? "must not have leading 0s"
            : "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
  }
  if (valid) check_families(errors, seen, addresses.size(), path, printed, "IP");
}

void check_host_address(sync::wire::FieldErrors& errors, const json::object& pod) {
  const json::array& all = sync::wire::dig_list(pod, {"status", "hostIPs"});
  if (all.empty()) return;
  const std::string_view first = sync::wire::dig_text(sync::wire::as_object(all.front()), {"ip"});
  if (first == sync::wire::dig_text(pod, {"status", "hostIP"})) return;
  errors.push_back(
      sync::wire::field::invalid("status.hostIPs[0].ip", first, "must be equal to `hostIP`"));
}

// Whether a container that ended as in `terminated` must not run again.
bool ended_for_good(const json::object& terminated, std::string_view restart_policy) {
  return restart_policy == "Never" ||
         (restart_policy == "OnFailure" && sync::wire::dig_int(terminated, {"exitCode"}) == 0);
}

// The sidecars: init containers that are restarted whatever the pod's policy is.
std::set<std::string_view> sidecars(const json::object& pod) {
  std::set<std::string_view> names;
  for (const json::value& container : sync::wire::dig_list(pod, {"spec", "initContainers"})) {
    const json::object& object = sync::wire::as_object(container);
    if (sync::wire::dig_text(object, {"restartPolicy"}) == "Always")
      names.insert(sync::wire::dig_text(object, {"name"}));
  }
  return names;
}

void check_transitions(sync::wire::FieldErrors& errors, const json::object& pod,
                       const json::object& old, std::string_view list) {
  const std::string_view policy = sync::wire::dig_text(old, {"spec", "restartPolicy"});
  if (policy != "Never" && policy != "OnFailure") return;
  const std::set<std::string_view> restarted = sidecars(old);
  const json::array& before = sync::wire::dig_list(old, {"status", list});
  for (std::size_t index = 0; index < before.size(); ++index) {
    const json::object& was = sync::wire::as_object(before[index]);
    const std::string_view name = sync::wire::dig_text(was, {"name"});
    const json::value* terminated = sync::wire::dig(was, {"state", "terminated"});
    if (terminated == nullptr || restarted.contains(name)) continue;
    if (!ended_for_good(sync::wire::as_object(*terminated), policy)) continue;
    for (const json::value& item : sync::wire::dig_list(pod, {"status", list})) {
      const json::object& is = sync::wire::as_object(item);
      if (sync::wire::dig_text(is, {"name"}) != name ||
          sync::wire::dig(is, {"state", "terminated"}) != nullptr)
        continue;
      errors.push_back(sync::wire::field::forbidden(
          sync::wire::child(sync::wire::at(sync::wire::child("status", list), index), "state"),
          "may not be transitioned to non-terminated state"));
    }
  }
}

void check_generation(sync::wire::FieldErrors& errors, const json::object& from,
                      const std::string& path) {
  const std::int64_t generation = sync::wire::dig_int(from, {"observedGeneration"});
  if (generation >= 0) return;
  errors.push_back(sync::wire::field::invalid_raw(sync::wire::child(path, "observedGeneration"),
                                                  std::to_string(generation),
                                                  "must be a non-negative integer"));
}

void check_conditions(sync::wire::FieldErrors& errors, const json::object& pod) {
  const json::array& conditions = sync::wire::dig_list(pod, {"status", "conditions"});
  for (std::size_t index = 0; index < conditions.size(); ++index) {
    const json::object& condition = sync::wire::as_object(conditions[index]);
    const std::string here = sync::wire::at("status.conditions", index);
    check_generation(errors, condition, here);
    const std::string_view type = sync::wire::dig_text(condition, {"type"});
    for (std::string& reason : sync::objects::check_qualified_name(type)) {
      errors.push_back(
          sync::wire::field::invalid(sync::wire::child(here, "Type"), type, std::move(reason)));
    }
  }
}

void check_nomination(sync::wire::FieldErrors& errors, const json::object& pod,
                      const json::object& old) {
  constexpr std::string_view path = "status.nominatedNodeName";
  const std::string_view name = sync::wire::dig_text(pod, {"status", "nominatedNodeName"});
  if (name.empty() || name == sync::wire::dig_text(old, {"status", "nominatedNodeName"})) return;
  for (std::string& reason : sync::objects::check_dns1123_subdomain(name)) {
    errors.push_back(sync::wire::field::invalid(std::string(path), name, std::move(reason)));
  }
  if (!sync::wire::dig_text(old, {"spec", "nodeName"}).empty()) {
    errors.push_back(sync::wire::field::forbidden(
        std::string(path), "may not be set on pods that are already bound to a node"));
  }
}

void check_pod_status(sync::wire::FieldErrors& errors, const json::object& pod,
                      const json::object& old) {
  check_generation(errors, sync::wire::dig_object(pod, {"status"}), "status");
  check_conditions(errors, pod);
  check_nomination(errors, pod, old);
  check_transitions(errors, pod, old, "containerStatuses");
  check_transitions(errors, pod, old, "initContainerStatuses");
  check_addresses(errors, pod, "podIPs");
  check_host_address(errors, pod);
  check_addresses(errors, pod, "hostIPs");
  const std::string_view before = sync::wire::dig_text(old, {"status", "qosClass"});
  const std::string_view now = sync::wire::dig_text(pod, {"status", "qosClass"});
  if (before != now) {
    errors.push_back(sync::wire::field::invalid("status.qosClass", now, "field is immutable"));
  }
}

// Whether amounts of a resource must be integers: "pods" and vendors' resources
// ("example.com/gpu").
bool is_counted(std::string_view resource) {
  if (resource == "pods") return true;
  const std::size_t slash = resource.find('/');
  if (slash == std::string_view::npos || resource.starts_with("requests.")) return false;
  const std::string_view domain = resource.substr(0, slash);
  return domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io");
}

void check_amounts(sync::wire::FieldErrors& errors, const json::object& node,
                   std::string_view list) {
  for (const auto& entry : sync::wire::dig_object(node, {"status", list})) {
    const std::string path = sync::wire::child(sync::wire::child("status", list), entry.key());
    const auto amount = sync::objects::Quantity::parse(sync::wire::as_text(entry.value()));
    if (!amount) continue;  // The schema has already refused it.
    if (amount->negative()) {
      errors.push_back(
          sync::wire::field::invalid(path, amount->text(), "must be greater than or equal to 0"));
    }
    if (is_counted(entry.key()) && amount->milli_value() % 1000 != 0) {
      errors.push_back(sync::wire::field::invalid(path, amount->text(), "must be an integer"));
    }
  }
}

void check_node_addresses(sync::wire::FieldErrors& errors, const json::object& node) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  const json::array& addresses = sync::wire::dig_list(node, {"status", "addresses"});
  for (std::size_t index = 0; index < addresses.size(); ++index) {
    const json::object& item = sync::wire::as_object(addresses[index]);
    const std::string_view type = sync::wire::dig_text(item, {"type"});
    const std::string_view address = sync::wire::dig_text(item, {"address"});
    if (seen.emplace(type, address).second) continue;
    sync::wire::FieldError error =
        sync::wire::field::duplicate(sync::wire::at("status.addresses", index), "");
    const json::object printed = {{"Type", type}, {"Address", address}};
    error.value = json::serialize(printed);
    errors.push_back(std::move(error));
  }
}

std::optional<Family> block_family(std::string_view block) {
  const std::size_t slash = block.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<Family> family = family_of(std::string(block.substr(0, slash)));
  const std::string_view digits = block.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  const bool whole = ec == std::errc() && end == digits.data() + digits.size();
  if (!family || !whole || bits > (*family == Family::v4 ? 32U : 128U)) return std::nullopt;
  return family;
}

void check_blocks(sync::wire::FieldErrors& errors, const json::object& node) {
  const json::array& blocks = sync::wire::dig_list(node, {"spec", "podCIDRs"});
  std::set<Family> seen;
  bool valid = true;
  for (std::size_t index = 0; index < blocks.size(); ++index) {
    const std::string_view block = sync::wire::as_text(blocks[index]);
    const std::optional<Family> family = block_family(block);
    if (family) {
      seen.insert(*family);
      continue;
    }
    valid = false;
    errors.push_back(sync::wire::field::invalid(sync::wire::at("spec.podCIDRs", index), block,
                                                "must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
                                                "2001:db8::/64)"));
  }
  if (valid) check_families(errors, seen, blocks.size(), "spec.podCIDRs", blocks, "CIDR");
}

}  // namespace

void check_node(sync::wire::FieldErrors& errors, const json::object& node) {
  check_amounts(errors, node, "capacity");
  check_amounts(errors, node, "allocatable");
  check_blocks(errors, node);
}

sync::wire::FieldErrors validate_status_update(const sync::printing::Resource& resource,
                                               const json::object& object,
                                               const json::object& old) {
  sync::wire::FieldErrors errors;
  if (resource.kind == "Pod") check_pod_status(errors, object, old);
  if (resource.kind == "Node") {
    check_node(errors, object);
    check_node_addresses(errors, object);
  }
  return errors;
}

}  // namespace holdfast::agent::lab
