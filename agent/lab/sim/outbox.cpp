#include "agent/lab/sim/outbox.h"

#include <algorithm>

#include "sync/autonomy/owned_status.h"

namespace holdfast::agent::lab::sim {
namespace {

std::string subject_of(const sync::objects::RequestInfo& object) {
  return object.resource + "/" + object.namespace_name + "/" + object.name;
}

bool is_same_write(const OutboxEntry& entry, const sync::objects::RequestInfo& object,
                   std::string_view verb) {
  return subject_of(entry.object) == subject_of(object) &&
         entry.object.subresource == object.subresource && entry.write.verb == verb;
}

}  // namespace

bool Outbox::add(const sync::objects::RequestInfo& object, const sync::autonomy::QueuedWrite& write,
                 WallTime now) {
  if (full_) return false;
  const std::uint64_t id = ++accepted_;
  OutboxEntry entry{.id = id, .object = object, .write = write, .created = now};
  engine_.trace(node_, "queued " + write.verb + " " + write.target);
  if (write.replaces_older) {
    const auto older =
        std::find_if(entries_.begin(), entries_.end(), [&object, &write](const auto& each) {
          return is_same_write(each, object, write.verb) && !each.sending && !each.maybe_sent;
        });
    if (older != entries_.end()) settle(older->id, "superseded");
  }
  entries_.push_back(std::move(entry));
  return true;
}

void Outbox::recover() {
  for (OutboxEntry& entry : entries_) {
    entry.maybe_sent = entry.maybe_sent || entry.sending;
    entry.sending = false;
    entry.due = MonoTime::min();
  }
}

OutboxEntry* Outbox::next() {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    const std::string subject = subject_of(entry->object);
    const bool is_first = std::none_of(entries_.begin(), entry, [&subject](const auto& older) {
      return subject_of(older.object) == subject;
    });
    if (!is_first || entry->sending || entry->due > engine_.now()) continue;
    std::uint64_t& last = last_sent_[subject];
    if (entry->id < last) {
      engine_.violate("the writes of an object are sent in order",
                      node_ + ": " + subject + ": " + std::to_string(entry->id) + " after " +
                          std::to_string(last));
    }
    last = entry->id;
    entry->sending = true;
    return &*entry;
  }
  return nullptr;
}

OutboxEntry* Outbox::find(std::uint64_t id) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [id](const auto& each) { return each.id == id; });
  return found == entries_.end() ? nullptr : &*found;
}

void Outbox::requeue(std::uint64_t id, bool maybe_sent) {
  OutboxEntry* entry = find(id);
  if (entry == nullptr) return;
  entry->sending = false;
  entry->maybe_sent = entry->maybe_sent || maybe_sent;
}

void Outbox::settle(std::uint64_t id, std::string_view outcome) {
  const OutboxEntry* entry = find(id);
  if (entry == nullptr) {
    engine_.violate("each queued write ends once",
                    node_ + ": write " + std::to_string(id) + " ended twice");
    return;
  }
  engine_.trace(node_, std::string(outcome) + " " + entry->write.verb + " " + entry->write.target);
  ++ended_;
  std::erase_if(entries_, [id](const auto& each) { return each.id == id; });
  if (accepted_ == ended_ + entries_.size() || outcome == "superseded") return;
  engine_.violate("no queued write is lost", node_ + ": " + std::to_string(accepted_) +
                                                 " accepted, " + std::to_string(ended_) +
                                                 " ended, " + std::to_string(entries_.size()) +
                                                 " waiting");
}

void Outbox::drop_superseded(const sync::objects::RequestInfo& object) {
  std::vector<std::uint64_t> pointless;
  for (const OutboxEntry& entry : entries_) {
    const bool droppable = sync::autonomy::is_owned_status(entry.write.verb, entry.object.resource,
                                                           entry.object.subresource) ||
                           entry.write.verb == "POST";
    const bool same = subject_of(entry.object) == subject_of(object) &&
                      entry.object.subresource == object.subresource;
    if (droppable && same && !entry.sending) pointless.push_back(entry.id);
  }
  for (const std::uint64_t id : pointless) settle(id, "superseded");
}

MonoTime Outbox::due() const {
  MonoTime first = MonoTime::max();
  for (const OutboxEntry& entry : entries_) {
    if (!entry.sending) first = std::min(first, entry.due);
  }
  return first;
}

}  // namespace holdfast::agent::lab::sim
