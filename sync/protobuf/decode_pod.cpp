#include "sync/protobuf/pod_fields.h"

namespace holdfast::sync::proto {

template <class F>
void fields(F& f, const wire::PodCondition& m, PodCondition& t) {
  f(1, "type", m.type(), t.type);
  f(2, "status", m.status(), t.status);
  f(3, "lastProbeTime", m.last_probe_time(), t.last_probe_time);
  f(4, "lastTransitionTime", m.last_transition_time(), t.last_transition_time);
  f(5, "reason", m.reason(), t.reason);
  f(6, "message", m.message(), t.message);
}

template <class F>
void fields(F& f, const wire::ContainerStateWaiting& m, ContainerWaiting& t) {
  f(1, "reason", m.reason(), t.reason);
  f(2, "message", m.message(), t.message);
}

template <class F>
void fields(F& f, const wire::ContainerStateRunning& m, ContainerRunning& t) {
  f(1, "startedAt", m.started_at(), t.started_at);
}

template <class F>
void fields(F& f, const wire::ContainerStateTerminated& m, ContainerTerminated& t) {
  f(1, "exitCode", m.exit_code(), t.exit_code);
  f(2, "signal", m.signal(), t.signal);
  f(3, "reason", m.reason(), t.reason);
  f(4, "message", m.message(), t.message);
  f(5, "startedAt", m.started_at(), t.started_at);
  f(6, "finishedAt", m.finished_at(), t.finished_at);
  f(7, "containerID", m.container_id(), t.container_id);
}

template <class F>
void fields(F& f, const wire::ContainerState& m, ContainerState& t) {
  f(1, "waiting", m.has_waiting(), m.waiting(), t.waiting);
  f(2, "running", m.has_running(), m.running(), t.running);
  f(3, "terminated", m.has_terminated(), m.terminated(), t.terminated);
}

template <class F>
void fields(F& f, const wire::ContainerStatus& m, ContainerStatus& t) {
  f(1, "name", m.name(), t.name);
  f(2, "state", m.state(), t.state);
  f(3, "lastState", m.last_state(), t.last_state);
  f(4, "ready", m.ready(), t.ready);
  f(5, "restartCount", m.restart_count(), t.restart_count);
  f(6, "image", m.image(), t.image);
  f(7, "imageID", m.image_id(), t.image_id);
  f(8, "containerID", m.container_id(), t.container_id);
  f(9, "started", m.has_started(), m.started(), t.started);
}

template <class F>
void fields(F& f, const wire::PodIp& m, PodIp& t) {
  f(1, "ip", m.ip(), t.ip);
}

template <class F>
void fields(F& f, const wire::PodStatus& m, PodStatus& t) {
  f(1, "phase", m.phase(), t.phase);
  f(2, "conditions", m.conditions(), t.conditions);
  f(3, "message", m.message(), t.message);
  f(4, "reason", m.reason(), t.reason);
  f(5, "hostIP", m.host_ip(), t.host_ip);
  f(6, "podIP", m.pod_ip(), t.pod_ip);
  f(7, "startTime", m.start_time(), t.start_time);
  f(8, "containerStatuses", m.container_statuses(), t.container_statuses);
  f(9, "qosClass", m.qos_class(), t.qos_class);
  f(10, "initContainerStatuses", m.init_container_statuses(), t.init_container_statuses);
  f(11, "nominatedNodeName", m.nominated_node_name(), t.nominated_node_name);
  f(12, "podIPs", m.pod_ips(), t.pod_ips);
}

template <class F>
void fields(F& f, const wire::Pod& m, Pod& t) {
  f(1, "metadata", m.metadata(), t.metadata);
  f(2, "spec", m.spec(), t.spec);
  f(3, "status", m.status(), t.status);
}

}  // namespace holdfast::sync::proto

namespace holdfast::sync {

template <>
Result<Pod> decode_protobuf<Pod>(std::string_view bytes) {
  return proto::read_message<wire::Pod, Pod>(bytes);
}

}  // namespace holdfast::sync
