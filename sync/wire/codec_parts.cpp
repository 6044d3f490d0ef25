#include "sync/wire/meta_json.h"
#include "sync/wire/node_json.h"
#include "sync/wire/pod_json.h"

namespace holdfast::sync::wire {

json::value encode_taints(const std::vector<Taint>& taints) { return codec::Writer::write(taints); }

json::object encode_part(const ObjectMeta& metadata) {
  return codec::Writer::write(metadata).get_object();
}

json::object encode_part(const NodeCondition& condition) {
  return codec::Writer::write(condition).get_object();
}

json::object encode_part(const PodCondition& condition) {
  return codec::Writer::write(condition).get_object();
}

json::object encode_part(const NodeStatus& status) {
  return codec::Writer::write(status).get_object();
}

json::object encode_part(const PodSpec& spec) { return codec::Writer::write(spec).get_object(); }

json::object encode_part(const PodStatus& status) {
  return codec::Writer::write(status).get_object();
}

Result<LabelSelector> decode_label_selector(const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return fail(Errc::invalid, "selector: expected an object");
  codec::ReadContext context;
  LabelSelector selector;
  codec::Reader reader(*object, nullptr, context);
  codec::fields(reader, selector);
  if (!context.error.empty()) return fail(Errc::invalid, "selector: " + context.error);
  return selector;
}

}  // namespace holdfast::sync::wire
