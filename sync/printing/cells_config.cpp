// Rows of configuration, certificate requests, services and their endpoints.

#include <algorithm>
#include <vector>

#include "platform/text.h"
#include "sync/printing/age.h"
#include "sync/printing/cells.h"
#include "sync/wire/read.h"

namespace holdfast::sync::printing {
namespace {

namespace json = boost::json;

std::size_t size_of(const json::object& object, std::string_view field) {
  return wire::dig_object(object, {field}).size();
}

void configmap_cells(json::array& cells, const json::object& map, WallTime now) {
  cells.emplace_back(wire::name_of(map));
  cells.emplace_back(size_of(map, "data") + size_of(map, "binaryData"));
  cells.emplace_back(object_age(map, now));
}

void secret_cells(json::array& cells, const json::object& secret, WallTime now) {
  cells.emplace_back(wire::name_of(secret));
  cells.emplace_back(wire::dig_text(secret, {"type"}));
  cells.emplace_back(size_of(secret, "data"));
  cells.emplace_back(object_age(secret, now));
}

// "Pending", "Approved,Issued", "Denied", "Approved,Failed".
std::string csr_condition(const json::object& csr) {
  bool approved = false;
  bool denied = false;
  bool failed = false;
  for (const json::value& condition : wire::dig_list(csr, {"status", "conditions"})) {
    const std::string_view type = wire::dig_text(wire::as_object(condition), {"type"});
    approved = approved || type == "Approved";
    denied = denied || type == "Denied";
    failed = failed || type == "Failed";
  }
  std::string text = denied ? "Denied" : approved ? "Approved" : "Pending";
  if (failed) text += ",Failed";
  if (!wire::dig_text(csr, {"status", "certificate"}).empty()) text += ",Issued";
  return text;
}

void csr_cells(json::array& cells, const json::object& csr, WallTime now) {
  const bool lasts = wire::dig(csr, {"spec", "expirationSeconds"}) != nullptr;
  const std::chrono::seconds wanted(wire::dig_int(csr, {"spec", "expirationSeconds"}));
  cells.emplace_back(wire::name_of(csr));
  cells.emplace_back(object_age(csr, now));
  cells.emplace_back(text_or(wire::dig_text(csr, {"spec", "signerName"}), "<none>"));
  cells.emplace_back(wire::dig_text(csr, {"spec", "username"}));
  cells.emplace_back(lasts ? human_duration(wanted) : "<none>");
  cells.emplace_back(csr_condition(csr));
}

std::string joined(const json::array& list) {
  std::vector<std::string> parts;
  for (const json::value& item : list) parts.emplace_back(wire::as_text(item));
  return join(parts, ",");
}

std::string external_address(const json::object& service) {
  const std::string_view type = wire::dig_text(service, {"spec", "type"});
  if (type == "ExternalName") return std::string(wire::dig_text(service, {"spec", "externalName"}));
  std::vector<std::string> parts;
  if (type == "LoadBalancer") {
    for (const json::value& ingress :
         wire::dig_list(service, {"status", "loadBalancer", "ingress"})) {
      const json::object& entry = wire::as_object(ingress);
      parts.emplace_back(
          text_or(wire::dig_text(entry, {"ip"}), wire::dig_text(entry, {"hostname"})));
    }
  }
  for (const json::value& ip : wire::dig_list(service, {"spec", "externalIPs"})) {
    parts.emplace_back(wire::as_text(ip));
  }
  if (parts.empty()) return type == "LoadBalancer" ? "<pending>" : "<none>";
  return join(parts, ",");
}

std::string service_ports(const json::object& service) {
  std::vector<std::string> parts;
  for (const json::value& item : wire::dig_list(service, {"spec", "ports"})) {
    const json::object& port = wire::as_object(item);
    std::string part = std::to_string(wire::dig_int(port, {"port"}));
    const std::int64_t node_port = wire::dig_int(port, {"nodePort"});
    if (node_port > 0) part += ":" + std::to_string(node_port);
    parts.push_back(part + "/" + std::string(wire::dig_text(port, {"protocol"})));
  }
  if (parts.empty()) return "<none>";
  return join(parts, ",");
}

void service_cells(json::array& cells, const json::object& service, WallTime now) {
  cells.emplace_back(wire::name_of(service));
  cells.emplace_back(wire::dig_text(service, {"spec", "type"}));
  cells.emplace_back(text_or(wire::dig_text(service, {"spec", "clusterIP"}), "<none>"));
  cells.emplace_back(external_address(service));
  cells.emplace_back(service_ports(service));
  cells.emplace_back(object_age(service, now));
  cells.emplace_back(format_labels(wire::dig_object(service, {"spec", "selector"})));
}

// The first three of `parts`, and how many more there are.
std::string first_three(std::vector<std::string> parts, std::string_view none) {
  if (parts.empty()) return std::string(none);
  const std::size_t more = parts.size() > 3 ? parts.size() - 3 : 0;
  parts.resize(std::min<std::size_t>(parts.size(), 3));
  std::string text = join(parts, ",");
  if (more > 0) text += " + " + std::to_string(more) + " more...";
  return text;
}

void endpoints_cells(json::array& cells, const json::object& endpoints, WallTime now) {
  std::vector<std::string> parts;
  for (const json::value& item : wire::dig_list(endpoints, {"subsets"})) {
    const json::object& subset = wire::as_object(item);
    const json::array& addresses = wire::dig_list(subset, {"addresses"});
    for (const json::value& port : wire::dig_list(subset, {"ports"})) {
      const std::string number = std::to_string(wire::dig_int(wire::as_object(port), {"port"}));
      for (const json::value& address : addresses) {
        parts.push_back(std::string(wire::dig_text(wire::as_object(address), {"ip"})) + ":" +
                        number);
      }
    }
    if (!wire::dig_list(subset, {"ports"}).empty()) continue;
    for (const json::value& address : addresses) {
      parts.emplace_back(wire::dig_text(wire::as_object(address), {"ip"}));
    }
  }
  cells.emplace_back(wire::name_of(endpoints));
  cells.emplace_back(first_three(std::move(parts), "<none>"));
  cells.emplace_back(object_age(endpoints, now));
}

void slice_cells(json::array& cells, const json::object& slice, WallTime now) {
  std::vector<std::string> ports;
  for (const json::value& port : wire::dig_list(slice, {"ports"})) {
    ports.push_back(std::to_string(wire::dig_int(wire::as_object(port), {"port"})));
  }
  std::vector<std::string> addresses;
  for (const json::value& endpoint : wire::dig_list(slice, {"endpoints"})) {
    addresses.push_back(joined(wire::dig_list(wire::as_object(endpoint), {"addresses"})));
  }
  cells.emplace_back(wire::name_of(slice));
  cells.emplace_back(wire::dig_text(slice, {"addressType"}));
  cells.emplace_back(first_three(std::move(ports), "<unset>"));
  cells.emplace_back(first_three(std::move(addresses), "<unset>"));
  cells.emplace_back(object_age(slice, now));
}

}  // namespace

FillCells config_cells(std::string_view plural) {
  if (plural == "configmaps") return configmap_cells;
  if (plural == "secrets") return secret_cells;
  if (plural == "certificatesigningrequests") return csr_cells;
  if (plural == "services") return service_cells;
  if (plural == "endpoints") return endpoints_cells;
  if (plural == "endpointslices") return slice_cells;
  return nullptr;
}

}  // namespace holdfast::sync::printing
