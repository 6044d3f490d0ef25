#include "sync/protobuf/message_reader.h"
#include "sync/protobuf/wire/node.pb.h"

namespace holdfast::sync::proto {

template <class F>
void fields(F& f, const wire::Taint& m, Taint& t) {
  f(1, "key", m.key(), t.key);
  f(2, "value", m.value(), t.value);
  f(3, "effect", m.effect(), t.effect);
  f(4, "timeAdded", m.time_added(), t.time_added);
}

template <class F>
void fields(F& f, const wire::NodeSpec& m, NodeSpec& t) {
  f(1, "podCIDR", m.pod_cidr(), t.pod_cidr);
  f(3, "providerID", m.provider_id(), t.provider_id);
  f(4, "unschedulable", m.unschedulable(), t.unschedulable);
  f(5, "taints", m.taints(), t.taints);
}

template <class F>
void fields(F& f, const wire::NodeCondition& m, NodeCondition& t) {
  f(1, "type", m.type(), t.type);
  f(2, "status", m.status(), t.status);
  f(3, "lastHeartbeatTime", m.last_heartbeat_time(), t.last_heartbeat_time);
  f(4, "lastTransitionTime", m.last_transition_time(), t.last_transition_time);
  f(5, "reason", m.reason(), t.reason);
  f(6, "message", m.message(), t.message);
}

template <class F>
void fields(F& f, const wire::NodeAddress& m, NodeAddress& t) {
  f(1, "type", m.type(), t.type);
  f(2, "address", m.address(), t.address);
}

template <class F>
void fields(F& f, const wire::NodeSystemInfo& m, NodeSystem& t) {
  f(1, "machineID", m.machine_id(), t.machine_id);
  f(2, "systemUUID", m.system_uuid(), t.system_uuid);
  f(3, "bootID", m.boot_id(), t.boot_id);
  f(4, "kernelVersion", m.kernel_version(), t.kernel_version);
  f(5, "osImage", m.os_image(), t.os_image);
  f(6, "containerRuntimeVersion", m.container_runtime_version(), t.container_runtime_version);
  f(7, "kubeletVersion", m.kubelet_version(), t.kubelet_version);
  f(8, "kubeProxyVersion", m.kube_proxy_version(), t.kube_proxy_version);
  f(9, "operatingSystem", m.operating_system(), t.operating_system);
  f(10, "architecture", m.architecture(), t.architecture);
}

template <class F>
void fields(F& f, const wire::AttachedVolume& m, AttachedVolume& t) {
  f(1, "name", m.name(), t.name);
  f(2, "devicePath", m.device_path(), t.device_path);
}

template <class F>
void fields(F& f, const wire::NodeStatus& m, NodeStatus& t) {
  f(1, "capacity", m.capacity(), t.capacity);
  f(2, "allocatable", m.allocatable(), t.allocatable);
  f(3, "phase", m.phase(), t.phase);
  f(4, "conditions", m.conditions(), t.conditions);
  f(5, "addresses", m.addresses(), t.addresses);
  f(7, "nodeInfo", m.node_info(), t.node_info);
  f(9, "volumesInUse", m.volumes_in_use(), t.volumes_in_use);
  f(10, "volumesAttached", m.volumes_attached(), t.volumes_attached);
}

template <class F>
void fields(F& f, const wire::Node& m, Node& t) {
  f(1, "metadata", m.metadata(), t.metadata);
  f(2, "spec", m.spec(), t.spec);
  f(3, "status", m.status(), t.status);
}

template <class F>
void fields(F& f, const wire::LeaseSpec& m, LeaseSpec& t) {
  f(1, "holderIdentity", m.holder_identity(), t.holder_identity);
  f(2, "leaseDurationSeconds", m.has_lease_duration_seconds(), m.lease_duration_seconds(),
    t.lease_duration_seconds);
  f(3, "acquireTime", m.acquire_time(), t.acquire_time);
  f(4, "renewTime", m.renew_time(), t.renew_time);
  f(5, "leaseTransitions", m.has_lease_transitions(), m.lease_transitions(), t.lease_transitions);
}

template <class F>
void fields(F& f, const wire::Lease& m, Lease& t) {
  f(1, "metadata", m.metadata(), t.metadata);
  f(2, "spec", m.spec(), t.spec);
}

}  // namespace holdfast::sync::proto

namespace holdfast::sync {

template <>
Result<Node> decode_protobuf<Node>(std::string_view bytes) {
  return proto::read_message<wire::Node, Node>(bytes);
}

template <>
Result<Lease> decode_protobuf<Lease>(std::string_view bytes) {
  return proto::read_message<wire::Lease, Lease>(bytes);
}

}  // namespace holdfast::sync
