// The fields of ObjectMeta and its companions; see codec_fields.h.

#pragma once

#include "sync/api/codec_fields.h"

namespace holdfast::sync::codec {

template <class F, Is<OwnerReference> T>
void fields(F& f, T& t) {
  f("apiVersion", t.api_version, always);
  f("kind", t.kind, always);
  f("name", t.name, always);
  f("uid", t.uid, always);
  f("controller", t.controller);
  f("blockOwnerDeletion", t.block_owner_deletion);
  f.rest(t.untouched);
}

template <class F, Is<ObjectMeta> T>
void fields(F& f, T& t) {
  f("name", t.name);
  f("generateName", t.generate_name);
  f("namespace", t.namespace_name);
  f("uid", t.uid);
  f("resourceVersion", t.resource_version);
  f("generation", t.generation);
  f("creationTimestamp", t.creation_timestamp, always);
  f("deletionTimestamp", t.deletion_timestamp);
  f("deletionGracePeriodSeconds", t.deletion_grace_period_seconds);
  f("labels", t.labels);
  f("annotations", t.annotations);
  f("ownerReferences", t.owner_references);
  f("finalizers", t.finalizers);
  f.managed("managedFields");
  f.rest(t.untouched);
}

template <class F, Is<ObjectReference> T>
void fields(F& f, T& t) {
  f("kind", t.kind);
  f("namespace", t.namespace_name);
  f("name", t.name);
  f("uid", t.uid);
  f("apiVersion", t.api_version);
  f("resourceVersion", t.resource_version);
  f("fieldPath", t.field_path);
  f.rest(t.untouched);
}

template <class F, Is<LabelSelectorRequirement> T>
void fields(F& f, T& t) {
  f("key", t.key, always);
  f("operator", t.operator_name, always);
  f("values", t.values);
  f.rest(t.untouched);
}

template <class F, Is<LabelSelector> T>
void fields(F& f, T& t) {
  f("matchLabels", t.match_labels);
  f("matchExpressions", t.match_expressions);
  f.rest(t.untouched);
}

}  // namespace holdfast::sync::codec
