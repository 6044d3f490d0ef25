#include "test/unit/sync/runtime/pods.h"

#include "platform/text.h"
#include "sync/wire/codec.h"

namespace holdfast::sync::runtime::test {
namespace {

template <class T>
Lookup<T> look_up(const std::map<std::string, std::optional<StringMap>>& objects,
                  std::string_view namespace_name, std::string_view name) {
  const auto found = objects.find(std::string(namespace_name) + "/" + std::string(name));
  if (found == objects.end()) return NeverReceived{};
  if (!found->second) return Absent{};
  auto object = std::make_shared<T>();
  object->metadata.namespace_name = namespace_name;
  object->metadata.name = name;
  object->data = *found->second;
  return object;
}

std::string named(const PodKey& pod) { return pod.namespace_name + "/" + pod.name; }

std::string cause_of(const PodRecord& record) {
  if (!record.stopping) return "";
  switch (*record.stopping) {
    case StopCause::completed:
      return " stopping: completed";
    case StopCause::deadline:
      return " stopping: deadline";
    case StopCause::deleted:
      return " stopping: deleted";
    case StopCause::removed:
      return " stopping: removed";
  }
  return "?";
}

std::string state_of(const ContainerState& state) {
  if (state.running) return "running";
  if (state.waiting) return state.waiting->reason;
  if (state.terminated) return "exit " + std::to_string(state.terminated->exit_code);
  return "none";
}

std::string container_summary(const ContainerStatus& status) {
  std::string text = " " + status.name + "=" + state_of(status.state);
  if (status.restart_count > 0) text += "(" + std::to_string(status.restart_count) + ")";
  return text;
}

struct Printer {
  std::string operator()(const RecordPod& action) const {
    const ObjectMeta& meta = action.record.pod->metadata;
    return "record " + meta.namespace_name + "/" + meta.name + cause_of(action.record);
  }
  std::string operator()(const StartContainer& action) const {
    return "start " + named(action.pod) + " " + action.container + "#" +
           std::to_string(action.number) + " restarts " + std::to_string(action.restarts) +
           " next " + format_duration(action.next_delay) + ": " + join(action.plan.argv, " ");
  }
  std::string operator()(const SignalContainer& action) const {
    return (action.signal == StopSignal::kill ? "kill " : "terminate ") + action.uid + " " +
           action.container + "#" + std::to_string(action.number);
  }
  std::string operator()(const ReportStatus& action) const {
    return "report " + named(action.pod) + " " + summary(action.status);
  }
  std::string operator()(const FinalDelete& action) const {
    return "delete " + named(action.pod) + " " + action.pod.uid;
  }
  std::string operator()(const RemovePod& action) const { return "remove " + action.uid; }
};

}  // namespace

std::shared_ptr<Pod> pod_from(const std::string& json) {
  auto pod = wire::decode_bytes<Pod>(json);
  EXPECT_TRUE(pod) << pod.error().what;
  return std::make_shared<Pod>(pod ? *pod : Pod());
}

std::shared_ptr<Pod> simple_pod(const std::string& name) {
  return pod_from(R"({"metadata":{"namespace":"default","name":")" + name + R"(","uid":"uid-)" +
                  name + R"(","resourceVersion":"1"},"spec":{"restartPolicy":"Always","containers":[
                  {"name":"c","image":"i","command":["sleep","1000"]}]}})");
}

Lookup<ConfigMap> FakeConfigs::config_map(std::string_view namespace_name,
                                          std::string_view name) const {
  return look_up<ConfigMap>(config_maps, namespace_name, name);
}

Lookup<Secret> FakeConfigs::secret(std::string_view namespace_name, std::string_view name) const {
  return look_up<Secret>(secrets, namespace_name, name);
}

std::string to_text(const RuntimeAction& action) { return std::visit(Printer(), action); }

std::string summary(const PodStatus& status) {
  std::string text = status.phase;
  const PodCondition* ready = find_condition(status, "Ready");
  if (ready != nullptr && ready->status == "True") text += " Ready";
  if (!status.reason.empty()) text += " " + status.reason;
  for (const ContainerStatus& container : status.init_container_statuses) {
    text += container_summary(container);
  }
  for (const ContainerStatus& container : status.container_statuses) {
    text += container_summary(container);
  }
  return text;
}

}  // namespace holdfast::sync::runtime::test
