// The fields of Pod and all that is in it; see codec_fields.h.

#pragma once

#include "sync/api/codec_affinity.h"

namespace holdfast::sync::codec {

template <class F, Is<Toleration> T>
void fields(F& f, T& t) {
  f("key", t.key);
  f("operator", t.operator_name);
  f("value", t.value);
  f("effect", t.effect);
  f("tolerationSeconds", t.toleration_seconds);
  f.rest(t.untouched);
}

template <class F, Is<KeyReference> T>
void fields(F& f, T& t) {
  f("name", t.name);
  f("key", t.key);
  f("optional", t.optional);
  f.rest(t.untouched);
}

template <class F, Is<FieldReference> T>
void fields(F& f, T& t) {
  f("apiVersion", t.api_version);
  f("fieldPath", t.field_path, always);
  f.rest(t.untouched);
}

template <class F, Is<EnvSource> T>
void fields(F& f, T& t) {
  f("fieldRef", t.field_ref);
  f("configMapKeyRef", t.config_map_key_ref);
  f("secretKeyRef", t.secret_key_ref);
  f.rest(t.untouched);
}

template <class F, Is<EnvVar> T>
void fields(F& f, T& t) {
  f("name", t.name, always);
  f("value", t.value);
  f("valueFrom", t.value_from);
  f.rest(t.untouched);
}

template <class F, Is<EnvFrom> T>
void fields(F& f, T& t) {
  f("prefix", t.prefix);
  f("configMapRef", t.config_map_ref);
  f("secretRef", t.secret_ref);
  f.rest(t.untouched);
}

template <class F, Is<ResourceRequirements> T>
void fields(F& f, T& t) {
  f.quantities("limits", t.limits);
  f.quantities("requests", t.requests);
  f.rest(t.untouched);
}

template <class F, Is<ContainerPort> T>
void fields(F& f, T& t) {
  f("name", t.name);
  f("hostPort", t.host_port);
  f("containerPort", t.container_port, always);
  f("protocol", t.protocol);
  f("hostIP", t.host_ip);
  f.rest(t.untouched);
}

template <class F, Is<Container> T>
void fields(F& f, T& t) {
  f("name", t.name, always);
  f("image", t.image);
  f("command", t.command);
  f("args", t.args);
  f("workingDir", t.working_dir);
  f("ports", t.ports);
  f("envFrom", t.env_from);
  f("env", t.env);
  f("resources", t.resources);
  f("restartPolicy", t.restart_policy);
  f("imagePullPolicy", t.image_pull_policy);
  f.rest(t.untouched);
}

template <class F, Is<PodSpec> T>
void fields(F& f, T& t) {
  f("initContainers", t.init_containers);
  f("containers", t.containers, always);
  f("restartPolicy", t.restart_policy);
  f("terminationGracePeriodSeconds", t.termination_grace_period_seconds);
  f("activeDeadlineSeconds", t.active_deadline_seconds);
  f("nodeSelector", t.node_selector);
  f("serviceAccountName", t.service_account_name);
  f("nodeName", t.node_name);
  f("hostNetwork", t.host_network);
  f("affinity", t.affinity);
  f("schedulerName", t.scheduler_name);
  f("tolerations", t.tolerations);
  f("priorityClassName", t.priority_class_name);
  f("priority", t.priority);
  f("preemptionPolicy", t.preemption_policy);
  f.quantities("overhead", t.overhead);
  f("topologySpreadConstraints", t.topology_spread_constraints);
  f("schedulingGates", t.scheduling_gates);
  f.rest(t.untouched);
}

template <class F, Is<PodCondition> T>
void fields(F& f, T& t) {
  f("type", t.type, always);
  f("status", t.status, always);
  f("lastProbeTime", t.last_probe_time, always);
  f("lastTransitionTime", t.last_transition_time, always);
  f("reason", t.reason);
  f("message", t.message);
  f.rest(t.untouched);
}

template <class F, Is<ContainerWaiting> T>
void fields(F& f, T& t) {
  f("reason", t.reason);
  f("message", t.message);
  f.rest(t.untouched);
}

template <class F, Is<ContainerRunning> T>
void fields(F& f, T& t) {
  f("startedAt", t.started_at, always);
  f.rest(t.untouched);
}

template <class F, Is<ContainerTerminated> T>
void fields(F& f, T& t) {
  f("exitCode", t.exit_code, always);
  f("signal", t.signal);
  f("reason", t.reason);
  f("message", t.message);
  f("startedAt", t.started_at, always);
  f("finishedAt", t.finished_at, always);
  f("containerID", t.container_id);
  f.rest(t.untouched);
}

template <class F, Is<ContainerState> T>
void fields(F& f, T& t) {
  f("waiting", t.waiting);
  f("running", t.running);
  f("terminated", t.terminated);
  f.rest(t.untouched);
}

template <class F, Is<ContainerStatus> T>
void fields(F& f, T& t) {
  f("name", t.name, always);
  f("state", t.state);
  f("lastState", t.last_state);
  f("ready", t.ready, always);
  f("restartCount", t.restart_count, always);
  f("image", t.image, always);
  f("imageID", t.image_id, always);
  f("containerID", t.container_id);
  f("started", t.started);
  f.rest(t.untouched);
}

template <class F, Is<PodIp> T>
void fields(F& f, T& t) {
  f("ip", t.ip);
  f.rest(t.untouched);
}

template <class F, Is<PodStatus> T>
void fields(F& f, T& t) {
  f("phase", t.phase);
  f("conditions", t.conditions);
  f("message", t.message);
  f("reason", t.reason);
  f("nominatedNodeName", t.nominated_node_name);
  f("hostIP", t.host_ip);
  f("podIP", t.pod_ip);
  f("podIPs", t.pod_ips);
  f("startTime", t.start_time);
  f("initContainerStatuses", t.init_container_statuses);
  f("containerStatuses", t.container_statuses);
  f("qosClass", t.qos_class);
  f.rest(t.untouched);
}

template <class F, Is<Pod> T>
void fields(F& f, T& t) {
  f("metadata", t.metadata);
  f("spec", t.spec);
  f("status", t.status);
  f.rest(t.untouched);
}

template <class F, Is<PodTemplate> T>
void fields(F& f, T& t) {
  f("metadata", t.metadata);
  f("spec", t.spec);
  f.rest(t.untouched);
}

}  // namespace holdfast::sync::codec
