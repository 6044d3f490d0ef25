#include "sync/api/codec_meta.h"

namespace holdfast::sync::codec {

template <class F, Is<Taint> T>
void fields(F& f, T& t) {
  f("key", t.key, always);
  f("value", t.value);
  f("effect", t.effect, always);
  f("timeAdded", t.time_added);
  f.rest(t.untouched);
}

template <class F, Is<NodeCondition> T>
void fields(F& f, T& t) {
  f("type", t.type, always);
  f("status", t.status, always);
  f("lastHeartbeatTime", t.last_heartbeat_time, always);
  f("lastTransitionTime", t.last_transition_time, always);
  f("reason", t.reason);
  f("message", t.message);
  f.rest(t.untouched);
}

template <class F, Is<NodeAddress> T>
void fields(F& f, T& t) {
  f("type", t.type, always);
  f("address", t.address, always);
  f.rest(t.untouched);
}

template <class F, Is<NodeSystem> T>
void fields(F& f, T& t) {
  f("machineID", t.machine_id, always);
  f("systemUUID", t.system_uuid, always);
  f("bootID", t.boot_id, always);
  f("kernelVersion", t.kernel_version, always);
  f("osImage", t.os_image, always);
  f("containerRuntimeVersion", t.container_runtime_version, always);
  f("kubeletVersion", t.kubelet_version, always);
  f("kubeProxyVersion", t.kube_proxy_version, always);
  f("operatingSystem", t.operating_system, always);
  f("architecture", t.architecture, always);
  f.rest(t.untouched);
}

template <class F, Is<AttachedVolume> T>
void fields(F& f, T& t) {
  f("name", t.name, always);
  f("devicePath", t.device_path, always);
  f.rest(t.untouched);
}

template <class F, Is<NodeSpec> T>
void fields(F& f, T& t) {
  f("podCIDR", t.pod_cidr);
  f("providerID", t.provider_id);
  f("unschedulable", t.unschedulable);
  f("taints", t.taints);
  f.rest(t.untouched);
}

template <class F, Is<NodeStatus> T>
void fields(F& f, T& t) {
  f.quantities("capacity", t.capacity);
  f.quantities("allocatable", t.allocatable);
  f("phase", t.phase);
  f("conditions", t.conditions);
  f("addresses", t.addresses);
  f("nodeInfo", t.node_info);
  f("volumesInUse", t.volumes_in_use);
  f("volumesAttached", t.volumes_attached);
  f.rest(t.untouched);
}

template <class F, Is<Node> T>
void fields(F& f, T& t) {
  f("metadata", t.metadata);
  f("spec", t.spec);
  f("status", t.status);
  f.rest(t.untouched);
}

template <class F, Is<LeaseSpec> T>
void fields(F& f, T& t) {
  f("holderIdentity", t.holder_identity);
  f("leaseDurationSeconds", t.lease_duration_seconds);
  f.micros("acquireTime", t.acquire_time);
  f.micros("renewTime", t.renew_time);
  f("leaseTransitions", t.lease_transitions);
  f.rest(t.untouched);
}

template <class F, Is<Lease> T>
void fields(F& f, T& t) {
  f("metadata", t.metadata);
  f("spec", t.spec);
  f.rest(t.untouched);
}

}  // namespace holdfast::sync::codec

namespace holdfast::sync {

HOLDFAST_CODEC(Node)
HOLDFAST_CODEC(Lease)

json::value encode_taints(const std::vector<Taint>& taints) { return codec::Writer::write(taints); }

json::object encode_part(const ObjectMeta& metadata) {
  return codec::Writer::write(metadata).get_object();
}

json::object encode_part(const NodeCondition& condition) {
  return codec::Writer::write(condition).get_object();
}

json::object encode_part(const NodeStatus& status) {
  return codec::Writer::write(status).get_object();
}

}  // namespace holdfast::sync
