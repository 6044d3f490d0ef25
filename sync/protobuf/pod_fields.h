// The fields of a pod's spec, which pod templates share; see message_reader.h.

#pragma once

#include "sync/protobuf/affinity_fields.h"
#include "sync/protobuf/wire/pod.pb.h"

namespace holdfast::sync::proto {

template <class F>
void fields(F& f, const wire::Toleration& m, Toleration& t) {
  f(1, "key", m.key(), t.key);
  f(2, "operator", m.operator_(), t.operator_name);
  f(3, "value", m.value(), t.value);
  f(4, "effect", m.effect(), t.effect);
  f(5, "tolerationSeconds", m.has_toleration_seconds(), m.toleration_seconds(),
    t.toleration_seconds);
}

// JSON shows the reference's name as the key's.
template <class F>
void fields(F& f, const wire::LocalObjectReference& m, KeyReference& t) {
  f(1, "name", m.name(), t.name);
}

template <class F>
void fields(F& f, const wire::KeySelector& m, KeyReference& t) {
  f(1, "localObjectReference", m.local_object_reference(), t);
  f(2, "key", m.key(), t.key);
  f(3, "optional", m.has_optional(), m.optional(), t.optional);
}

template <class F>
void fields(F& f, const wire::EnvFromReference& m, KeyReference& t) {
  f(1, "localObjectReference", m.local_object_reference(), t);
  f(2, "optional", m.has_optional(), m.optional(), t.optional);
}

template <class F>
void fields(F& f, const wire::ObjectFieldSelector& m, FieldReference& t) {
  f(1, "apiVersion", m.api_version(), t.api_version);
  f(2, "fieldPath", m.field_path(), t.field_path);
}

template <class F>
void fields(F& f, const wire::EnvVarSource& m, EnvSource& t) {
  f(1, "fieldRef", m.has_field_ref(), m.field_ref(), t.field_ref);
  f(3, "configMapKeyRef", m.has_config_map_key_ref(), m.config_map_key_ref(), t.config_map_key_ref);
  f(4, "secretKeyRef", m.has_secret_key_ref(), m.secret_key_ref(), t.secret_key_ref);
}

template <class F>
void fields(F& f, const wire::EnvVar& m, EnvVar& t) {
  f(1, "name", m.name(), t.name);
  f(2, "value", m.value(), t.value);
  f(3, "valueFrom", m.has_value_from(), m.value_from(), t.value_from);
}

template <class F>
void fields(F& f, const wire::EnvFromSource& m, EnvFrom& t) {
  f(1, "prefix", m.prefix(), t.prefix);
  f(2, "configMapRef", m.has_config_map_ref(), m.config_map_ref(), t.config_map_ref);
  f(3, "secretRef", m.has_secret_ref(), m.secret_ref(), t.secret_ref);
}

template <class F>
void fields(F& f, const wire::ResourceRequirements& m, ResourceRequirements& t) {
  f(1, "limits", m.limits(), t.limits);
  f(2, "requests", m.requests(), t.requests);
}

template <class F>
void fields(F& f, const wire::ContainerPort& m, ContainerPort& t) {
  f(1, "name", m.name(), t.name);
  f(2, "hostPort", m.host_port(), t.host_port);
  f(3, "containerPort", m.container_port(), t.container_port);
  f(4, "protocol", m.protocol(), t.protocol);
  f(5, "hostIP", m.host_ip(), t.host_ip);
}

template <class F>
void fields(F& f, const wire::Container& m, Container& t) {
  f(1, "name", m.name(), t.name);
  f(2, "image", m.image(), t.image);
  f(3, "command", m.command(), t.command);
  f(4, "args", m.args(), t.args);
  f(5, "workingDir", m.working_dir(), t.working_dir);
  f(6, "ports", m.ports(), t.ports);
  f(7, "env", m.env(), t.env);
  f(8, "resources", m.resources(), t.resources);
  f(14, "imagePullPolicy", m.image_pull_policy(), t.image_pull_policy);
  f(19, "envFrom", m.env_from(), t.env_from);
  f(24, "restartPolicy", m.restart_policy(), t.restart_policy);
}

template <class F>
void fields(F& f, const wire::PodSpec& m, PodSpec& t) {
  f(2, "containers", m.containers(), t.containers);
  f(3, "restartPolicy", m.restart_policy(), t.restart_policy);
  f(4, "terminationGracePeriodSeconds", m.has_termination_grace_period_seconds(),
    m.termination_grace_period_seconds(), t.termination_grace_period_seconds);
  f(5, "activeDeadlineSeconds", m.has_active_deadline_seconds(), m.active_deadline_seconds(),
    t.active_deadline_seconds);
  f(7, "nodeSelector", m.node_selector(), t.node_selector);
  f(8, "serviceAccountName", m.service_account_name(), t.service_account_name);
  f(10, "nodeName", m.node_name(), t.node_name);
  f(11, "hostNetwork", m.host_network(), t.host_network);
  f(18, "affinity", m.has_affinity(), m.affinity(), t.affinity);
  f(19, "schedulerName", m.scheduler_name(), t.scheduler_name);
  f(20, "initContainers", m.init_containers(), t.init_containers);
  f(22, "tolerations", m.tolerations(), t.tolerations);
  f(24, "priorityClassName", m.priority_class_name(), t.priority_class_name);
  f(25, "priority", m.has_priority(), m.priority(), t.priority);
  f(31, "preemptionPolicy", m.preemption_policy(), t.preemption_policy);
  f(32, "overhead", m.overhead(), t.overhead);
  f(33, "topologySpreadConstraints", m.topology_spread_constraints(),
    t.topology_spread_constraints);
  f(38, "schedulingGates", m.scheduling_gates(), t.scheduling_gates);
}

}  // namespace holdfast::sync::proto
