#include "agent/node/node_status.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "platform/fs/file.h"
#include "platform/text.h"
#include "platform/version.h"
#include "sync/objects/quantity.h"
#include "sync/wire/codec.h"
#include "sync/wire/read.h"

namespace holdfast::agent::node {
namespace {

std::string go_architecture(std::string_view machine) {
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  if (machine.starts_with("armv")) return "arm";
  return std::string(machine);
}

std::string os_image() {
  const std::string release = fs::read_all("/etc/os-release", 64 * 1024).value_or("");
  for (const std::string_view line : split(release, '\n')) {
    if (!line.starts_with("PRETTY_NAME=")) continue;
    std::string_view name = line.substr(12);
    if (name.starts_with('"') && name.ends_with('"')) name = name.substr(1, name.size() - 2);
    return std::string(name);
  }
  return "Linux";
}

sync::NodeCondition condition(std::string type, std::string status, std::string reason,
                              std::string message) {
  sync::NodeCondition made;
  made.type = std::move(type);
  made.status = std::move(status);
  made.reason = std::move(reason);
  made.message = std::move(message);
  return made;
}

struct PressureWords {
  const char* type;
  const char* calm;  // reason and message while there is no pressure
  const char* calm_message;
  const char* pressed;
  const char* pressed_message;
};

// The kubelet's reasons and messages, on which tools rely.
constexpr PressureWords pressures[] = {
    {"MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available",
     "KubeletHasInsufficientMemory", "kubelet has insufficient memory available"},
    {"DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure",
     "KubeletHasDiskPressure", "kubelet has disk pressure"},
    {"PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available",
     "KubeletHasInsufficientPID", "kubelet has insufficient PID available"},
};

Status add_labels(sync::ObjectMeta& metadata, const std::string& labels) {
  for (const std::string_view label : split(labels, ',')) {
    if (label.empty()) continue;
    const std::size_t equals = label.find('=');
    if (equals == label.npos || equals == 0) {
      return fail(Errc::invalid, "--node-labels: \"" + std::string(label) + "\" is not NAME=VALUE");
    }
    metadata.labels.set(std::string(label.substr(0, equals)),
                        std::string(label.substr(equals + 1)));
  }
  return {};
}

// Resources that every node has; others would need a device plugin.
constexpr std::string_view known_resources[] = {"cpu", "memory", "pods", "ephemeral-storage"};

Status set_capacity(sync::NodeStatus& status, const std::string& capacity) {
  for (const std::string_view each : split(capacity, ',')) {
    if (each.empty()) continue;
    const std::string flag = "--node-capacity: \"" + std::string(each) + "\"";
    const std::size_t equals = each.find('=');
    if (equals == each.npos) return fail(Errc::invalid, flag + " is not RESOURCE=QUANTITY");
    const std::string_view name = each.substr(0, equals);
    if (std::find(std::begin(known_resources), std::end(known_resources), name) ==
        std::end(known_resources)) {
      return fail(Errc::invalid, flag + ": not cpu, memory, pods or ephemeral-storage");
    }
    const auto quantity = sync::objects::Quantity::parse(each.substr(equals + 1));
    if (!quantity) return fail(flag, quantity.error());
    status.capacity.set(std::string(name), std::string(each.substr(equals + 1)));
  }
  return {};
}

// The model has no member for it.
sync::json::object kubelet_endpoint(std::uint16_t port) {
  return {{"daemonEndpoints", {{"kubeletEndpoint", {{"Port", port}}}}}};
}

std::int64_t kubelet_port_of(const sync::NodeStatus& status) {
  if (status.unknown_fields.empty()) return 0;
  return sync::wire::dig_int(*status.unknown_fields.get(),
                             {"daemonEndpoints", "kubeletEndpoint", "Port"});
}

}  // namespace

std::vector<sync::NodeCondition> conditions_under(const std::vector<std::string>& pressed) {
  std::vector<sync::NodeCondition> made;
  for (const PressureWords& words : pressures) {
    const bool is_pressed = std::find(pressed.begin(), pressed.end(), words.type) != pressed.end();
    made.push_back(is_pressed ? condition(words.type, "True", words.pressed, words.pressed_message)
                              : condition(words.type, "False", words.calm, words.calm_message));
  }
  made.push_back(condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"));
  return made;
}

Machine read_machine() {
  Machine machine;
  utsname names{};
  if (uname(&names) == 0) {
    machine.host_name = names.nodename;
    machine.kernel_version = names.release;
    machine.architecture = go_architecture(names.machine);
  }
  machine.os_image = os_image();
  machine.boot_id =
      std::string(trim(fs::read_all("/proc/sys/kernel/random/boot_id", 100).value_or("")));
  machine.cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  machine.memory_bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return machine;
}

Result<sync::Node> make_node(const NodeFlags& flags, const Machine& machine, WallTime now) {
  const std::string& name = flags.name;
  sync::Node node;
  node.metadata.name = name;
  node.metadata.labels.set("kubernetes.io/hostname", name);
  node.metadata.labels.set("kubernetes.io/os", "linux");
  node.metadata.labels.set("kubernetes.io/arch", machine.architecture);
  if (auto added = add_labels(node.metadata, flags.labels); !added) return fail(added.error());
  sync::NodeStatus& status = node.status;
  status.capacity.set("cpu", std::to_string(machine.cpus));
  status.capacity.set("memory", std::to_string(machine.memory_bytes / 1024) + "Ki");
  status.capacity.set("pods", "110");  // the kubelet's own default
  if (auto set = set_capacity(status, flags.capacity); !set) return fail(set.error());
  status.allocatable = status.capacity;
  status.conditions = conditions_under({});
  for (sync::NodeCondition& made : status.conditions) {
    made.last_heartbeat_time = now;
    made.last_transition_time = now;
  }
  for (const auto& [type, address] :
       {std::pair{"InternalIP", flags.address}, std::pair{"Hostname", name}}) {
    sync::NodeAddress made;
    made.type = type;
    made.address = address;
    status.addresses.push_back(std::move(made));
  }
  if (flags.kubelet_port != 0) {
    status.unknown_fields = sync::UnknownFields(
        std::make_shared<const sync::json::object>(kubelet_endpoint(flags.kubelet_port)));
  }
  status.node_info.kernel_version = machine.kernel_version;
  status.node_info.os_image = machine.os_image;
  status.node_info.boot_id = machine.boot_id;
  status.node_info.architecture = machine.architecture;
  status.node_info.operating_system = "linux";
  status.node_info.kubelet_version = "v" + std::string(version) + "-holdfast";
  return node;
}

bool needs_status(const sync::Node& seen, const sync::NodeStatus& ours) {
  for (const sync::NodeCondition& wanted : ours.conditions) {
    const sync::NodeCondition* shown = find_condition(seen.status, wanted.type);
    if (shown == nullptr || shown->status != wanted.status || shown->reason != wanted.reason) {
      return true;
    }
  }
  if (kubelet_port_of(ours) != kubelet_port_of(seen.status)) return true;
  return seen.status.capacity != ours.capacity || seen.status.addresses != ours.addresses;
}

std::string status_patch(const sync::Node& seen, sync::NodeStatus ours, WallTime now) {
  for (sync::NodeCondition& posted : ours.conditions) {
    const sync::NodeCondition* shown = find_condition(seen.status, posted.type);
    const bool same = shown != nullptr && shown->status == posted.status;
    posted.last_heartbeat_time = now;
    posted.last_transition_time = same ? shown->last_transition_time : now;
  }
  return sync::wire::serialize(
      sync::json::object{{"metadata", sync::json::object{{"uid", seen.metadata.uid}}},
                         {"status", sync::wire::encode_part(ours)}});
}

}  // namespace holdfast::agent::node
