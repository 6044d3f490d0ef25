#include "agent/node/pod_list.h"

#include "platform/log.h"
#include "sync/wire/codec.h"
#include "sync/wire/object_header.h"

namespace holdfast::agent::node {

sync::runtime::DesiredPods PodList::desired() const {
  if (!complete_) return sync::runtime::NeverReceived{};
  sync::runtime::CompletePods complete;
  for (const auto& [name, entry] : entries_) {
    if (entry.pod == nullptr) return sync::runtime::NeverReceived{};
    complete.pods.push_back(entry.pod);
  }
  return complete;
}

sync::autonomy::NeededObjects PodList::references() const {
  sync::autonomy::NeededObjects all;
  for (const auto& [name, entry] : entries_) {
    all.insert(entry.references.begin(), entry.references.end());
  }
  return all;
}

Status PodList::put(const std::string& bytes, Entries& entries) {
  TRY(const sync::wire::ObjectHeader header, sync::wire::read_header(bytes));
  Entry& entry = entries[{header.namespace_name, header.name}];
  entry = {};
  auto pod = sync::wire::decode_bytes<sync::Pod>(bytes);
  if (!pod) {
    log_error("pod unreadable", {{"name", header.name}, {"error", pod.error()}});
    return {};
  }
  if (auto added = sync::autonomy::add_references(bytes, entry.references); !added) {
    log_error("cannot read the references of a pod",
              {{"name", header.name}, {"error", added.error()}});
  }
  entry.pod = std::make_shared<const sync::Pod>(*std::move(pod));
  return {};
}

void PodList::replace(std::vector<std::string> items, const std::string& /*version*/,
                      const sync::wire::ScopeKind& /*kind*/) {
  Entries entries;
  for (const std::string& item : items) {
    if (auto taken = put(item, entries); !taken) {
      // The whole list is unusable; the known pods stay.
      log_error("list of pods unreadable", {{"error", taken.error()}});
      return;
    }
  }
  entries_ = std::move(entries);
  complete_ = true;
  changed_();
}

void PodList::apply(const sync::wire::WatchEvent& event) {
  if (event.type == sync::wire::WatchEvent::Type::deleted) {
    const auto header = sync::wire::read_header(event.object);
    if (header) entries_.erase({header->namespace_name, header->name});
    if (!header) log_error("deleted pod unreadable", {{"error", header.error()}});
  } else if (auto taken = put(event.object, entries_); !taken) {
    log_error("pod unreadable", {{"error", taken.error()}});
  }
  changed_();
}

}  // namespace holdfast::agent::node
