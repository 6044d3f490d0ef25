#include "sync/schedule/requests.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sync::schedule {
namespace {

// Upstream's DefaultMilliCPURequest and DefaultMemoryRequest.
constexpr std::int64_t scored_cpu_default = 100;
constexpr std::int64_t scored_memory_default = 200LL * 1024 * 1024;

// A container's requests, and its requests for scores.
struct Asked {
  Resources real;
  std::int64_t scored_cpu = 0;
  std::int64_t scored_memory = 0;

  void add(const Asked& other) {
    real.add(other.real);
    scored_cpu += other.scored_cpu;
    scored_memory += other.scored_memory;
  }
  void raise(const Asked& other) {
    real.raise(other.real);
    scored_cpu = std::max(scored_cpu, other.scored_cpu);
    scored_memory = std::max(scored_memory, other.scored_memory);
  }
};

// Which of a container's lists is read, and what counts for a resource without a request.
enum class Source : std::uint8_t { wanted, allocated, actuated };
struct Reading {
  const Pod& pod;
  Source source;
  std::int64_t default_cpu;
  std::int64_t default_memory;
  bool infeasible;
  Symbols& symbols;
};

bool has_infeasible_resize(const PodStatus& status) {
  const PodCondition* pending = find_condition(status, "PodResizePending");
  return pending != nullptr && pending->reason == "Infeasible";
}

const ContainerStatus* status_of(const PodStatus& status, const std::string& name) {
  for (const auto* list : {&status.container_statuses, &status.init_container_statuses}) {
    for (const ContainerStatus& each : *list) {
      if (each.name == name) return &each;
    }
  }
  return nullptr;
}

// The list that a source has for the container. nullptr: nothing is requested.
const StringMap* list_of(const Container& container, const ContainerStatus* status, Source source,
                         bool infeasible) {
  if (source == Source::wanted) return &container.resources.requests;
  if (status != nullptr && source == Source::actuated && status->resources &&
      !status->resources->requests.empty()) {
    return &status->resources->requests;
  }
  if (status != nullptr && !status->allocated_resources.empty()) {
    return &status->allocated_resources;
  }
  return infeasible ? nullptr : &container.resources.requests;
}

// Whether the status of a container has other amounts than its spec.
bool differs(const Pod& pod, const std::vector<Container>& containers) {
  return std::any_of(containers.begin(), containers.end(), [&pod](const Container& each) {
    const ContainerStatus* status = status_of(pod.status, each.name);
    return *list_of(each, status, Source::allocated, false) != each.resources.requests ||
           *list_of(each, status, Source::actuated, false) != each.resources.requests;
  });
}

Result<Asked> asked_by(const Container& container, const std::string& path,
                       const Reading& reading) {
  static const StringMap nothing;
  const ContainerStatus* status =
      reading.source == Source::wanted ? nullptr : status_of(reading.pod.status, container.name);
  const StringMap* found = list_of(container, status, reading.source, reading.infeasible);
  const StringMap& requests = found != nullptr ? *found : nothing;
  auto real = read_resources(requests, reading.symbols);
  if (!real) return fail(path + ".resources.requests", real.error());
  Asked asked{std::move(*real), 0, 0};
  asked.scored_cpu = requests.has("cpu") ? asked.real.milli_cpu : reading.default_cpu;
  asked.scored_memory = requests.has("memory") ? asked.real.memory : reading.default_memory;
  return asked;
}

// The sum of all containers and sidecars, or the peak of the init containers.
Result<Asked> asked_by_all(const Reading& reading) {
  const PodSpec& spec = reading.pod.spec;
  Asked running;
  for (std::size_t i = 0; i < spec.containers.size(); ++i) {
    const std::string path = "spec.containers[" + std::to_string(i) + "]";
    TRY(const Asked asked, asked_by(spec.containers[i], path, reading));
    running.add(asked);
  }
  // Init containers run one after the other, beside the sidecars that precede them.
  Asked sidecars;
  Asked peak;
  for (std::size_t i = 0; i < spec.init_containers.size(); ++i) {
    const std::string path = "spec.initContainers[" + std::to_string(i) + "]";
    TRY(Asked asked, asked_by(spec.init_containers[i], path, reading));
    if (spec.init_containers[i].restart_policy == "Always") {
      sidecars.add(asked);
      peak.raise(sidecars);
    } else {
      asked.add(sidecars);
      peak.raise(asked);
    }
  }
  running.add(sidecars);
  running.raise(peak);
  return running;
}

Result<Asked> asked_in_list(const StringMap& list, Symbols& symbols) {
  TRY(Resources real, read_resources(list, symbols));
  const std::int64_t cpu = real.milli_cpu;
  const std::int64_t memory = real.memory;
  return Asked{std::move(real), cpu, memory};
}

// The requests of the containers: the largest of what is wanted, allocated and in effect, because a
// container that is resized in place may hold each of them. A resize that the node can never grant
// is not wanted.
Result<Asked> asked_by_containers(Reading reading) {
  const PodStatus& status = reading.pod.status;
  reading.source = Source::wanted;
  TRY(Asked most, asked_by_all(reading));
  const bool in_status = !status.allocated_resources.empty() && status.resources &&
                         !status.resources->requests.empty();
  const bool resized = reading.infeasible || in_status ||
                       differs(reading.pod, reading.pod.spec.containers) ||
                       differs(reading.pod, reading.pod.spec.init_containers);
  if (!resized) return most;
  if (reading.infeasible) most = Asked{};
  if (in_status) {  // the sums of all containers
    TRY(const Asked allocated, asked_in_list(status.allocated_resources, reading.symbols));
    TRY(const Asked actuated, asked_in_list(status.resources->requests, reading.symbols));
    most.raise(allocated);
    most.raise(actuated);
    return most;
  }
  for (const Source source : {Source::allocated, Source::actuated}) {
    reading.source = source;
    TRY(const Asked found, asked_by_all(reading));
    most.raise(found);
  }
  return most;
}

bool is_pod_level(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

bool has_pod_level(const PodSpec& spec) {
  if (!spec.resources) return false;
  const StringMap& requests = spec.resources->requests;
  return std::any_of(requests.begin(), requests.end(),
                     [](const auto& each) { return is_pod_level(each.first); });
}

// The amounts of the pod as a whole, which replace those of its containers: the largest of what is
// wanted, in effect and allocated. The latter two contain the overhead.
Result<Resources> pod_level(const Pod& pod, const Resources& overhead, Symbols& symbols) {
  Resources most;
  if (!has_infeasible_resize(pod.status)) {
    TRY(most, read_resources(pod.spec.resources->requests, symbols));
  }
  static const StringMap nothing;
  const Boxed<ResourceRequirements>& actuated = pod.status.resources;
  for (const StringMap* list :
       {actuated ? &actuated->requests : &nothing, &pod.status.allocated_resources}) {
    TRY(Resources found, read_resources(*list, symbols));
    if (list->empty()) continue;
    found.subtract(overhead);
    most.raise(found);
  }
  return most;
}

// Replaces the amounts in `asked` of the resources that the pod requests as a whole.
void replace(Asked& asked, const Resources& whole, const StringMap& names, Symbols& symbols) {
  for (const auto& [name, text] : names) {
    if (name == "cpu") {
      asked.real.milli_cpu = asked.scored_cpu = whole.milli_cpu;
    } else if (name == "memory") {
      asked.real.memory = asked.scored_memory = whole.memory;
    } else if (is_pod_level(name)) {
      const Symbols::Id id = symbols.id(name);
      asked.real.set_scalar(id, whole.scalar(id));
    }
  }
}

}  // namespace

Result<PodRequests> read_requests(const Pod& pod, Symbols& symbols) {
  const bool infeasible = has_infeasible_resize(pod.status);
  const auto overhead = read_resources(pod.spec.overhead, symbols);
  if (!overhead) return fail("spec.overhead", overhead.error());
  const auto count = [&pod, &overhead, &symbols, infeasible](
                         std::int64_t default_cpu, std::int64_t default_memory) -> Result<Asked> {
    TRY(Asked asked, asked_by_containers(
                         {pod, Source::wanted, default_cpu, default_memory, infeasible, symbols}));
    if (!has_pod_level(pod.spec)) return asked;
    const auto whole = pod_level(pod, *overhead, symbols);
    if (!whole) return fail("spec.resources.requests", whole.error());
    replace(asked, *whole, pod.spec.resources->requests, symbols);
    return asked;
  };
  std::int64_t default_cpu = scored_cpu_default;
  std::int64_t default_memory = scored_memory_default;
  if (has_pod_level(pod.spec)) {
    // The defaults only count for a resource that neither the pod nor any container requests.
    TRY(const Asked asked, count(0, 0));
    if (asked.real.milli_cpu > 0) default_cpu = 0;
    if (asked.real.memory > 0) default_memory = 0;
  }
  TRY(Asked asked, count(default_cpu, default_memory));
  asked.add({*overhead, overhead->milli_cpu, overhead->memory});
  return PodRequests{std::move(asked.real), asked.scored_cpu, asked.scored_memory};
}

}  // namespace holdfast::sync::schedule
