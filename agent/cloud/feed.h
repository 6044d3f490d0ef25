// A Feed takes objects of one kind from an API server's list and watch, decodes them and passes
// them to callbacks: set() for new and changed objects, remove() for deleted ones.
//
// A list is applied page by page. If a list or a watch fails for lack of memory, every object that
// arrived since the last complete list is removed again, because the objects before them did fit.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "agent/client/list_watch.h"
#include "agent/cloud/memory_limit.h"
#include "platform/log.h"
#include "sync/wire/codec.h"
#include "sync/wire/lease_renewal.h"
#include "sync/wire/protobuf/decode.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/protobuf/renewal.h"

namespace holdfast::agent {

// T is one of the objects of sync/model/types.h.
template <class T>
class Feed final : public ListWatchSink {
 public:
  using Name = std::pair<std::string, std::string>;  // namespace and name

  // `set` is called with every object that was listed or changed, `remove` with the name of every
  // object that is gone, `heard` whenever anything arrived or a list failed, and `skipped`, if set,
  // for each object that could not be decoded. Everything they refer to outlives the feed. With
  // `whole`, objects that arrive as JSON keep their unknown fields.
  Feed(std::function<void(const T&)> set, std::function<void(const Name&)> remove,
       std::function<void()> heard, std::function<void()> skipped = {}, bool whole = false)
      : whole_(whole),
        set_(std::move(set)),
        remove_(std::move(remove)),
        heard_(std::move(heard)),
        skipped_(std::move(skipped)) {}

  // Applies the limits of `memory`, which outlives the feed. `refused` is called when a limit made
  // a list or a watch fail.
  void limit_memory(CloudMemory& memory, std::function<void()> refused) {
    memory_ = &memory;
    refused_ = std::move(refused);
    held_ = std::make_unique<ByteReservation>(memory.answers()->pool(), Requester::own);
  }

  // Measures with `clock`, which outlives the feed, when it last made progress.
  void measure(const Clock& clock) { clock_ = &clock; }
  // When something new last arrived: an event, a bookmark, or a list of another version than the
  // list before. MonoTime::min(): never, or not measured.
  [[nodiscard]] MonoTime progressed_at() const { return progressed_at_; }

  // Whether the last list or watch did not fit into the memory, so that the objects are outdated.
  [[nodiscard]] bool out_of_memory() const { return out_of_memory_; }
  // Why the last list failed; "" if it did not.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  // Whether a complete list was received at least once.
  [[nodiscard]] bool complete() const { return complete_; }
  // The number of objects that could not be decoded.
  [[nodiscard]] std::size_t malformed() const { return malformed_; }

  void replace(std::vector<std::string> items, const std::string& version,
               const sync::wire::ScopeKind& kind) override {
    if (try_page(std::move(items), true, kind)) (void)try_end_list(version);
  }

  Status try_page(std::vector<std::string> items, bool first,
                  const sync::wire::ScopeKind& /*kind*/) override {
    if (first) ++list_;
    for (std::string& kept : items) {
      const std::string item = std::move(kept);  // freed before the next one is decoded
      if (auto room = admit(item); !room) return room;
      const auto object = read(item);
      if (!object) {
        keep(item);
        continue;
      }
      note({object->metadata.namespace_name, object->metadata.name});
      set_(*object);
    }
    return {};
  }

  Status try_end_list(const std::string& version) override {
    if (std::exchange(list_version_, version) != version) note_progress();
    // Objects that this list does not have are gone.
    remove_if([this](const Seen& seen) { return seen.last != list_; });
    complete_list_ = list_;
    out_of_memory_ = false;
    failure_.clear();
    complete_ = true;
    heard_();
    return {};
  }

  void list_failed(const sync::watch::Failure& failure) override {
    if (std::exchange(failure_, failure.what) != failure.what) {
      log_warn("list failed", {{"kind", T::kind}, {"why", failure.what}});
    }
    if (failure.code != Errc::exhausted) {
      heard_();
      return;
    }
    // Back to the objects of the last complete list.
    remove_if([this](const Seen& seen) { return seen.first > complete_list_; });
    out_of_memory_ = true;
    if (refused_) refused_();
  }

  Status try_reserve(std::size_t bytes) override { return held_ ? held_->set(bytes) : Status(); }

  void apply(const sync::wire::WatchEvent& event) override { (void)try_apply(event); }

  Status try_apply(const sync::wire::WatchEvent& event) override {
    const bool grows = event.type != sync::wire::WatchEvent::Type::deleted;
    if (auto room = grows ? admit(event.object) : Status(); !room) return room;
    if (const auto object = read(event.object)) {
      const Name name{object->metadata.namespace_name, object->metadata.name};
      if (event.type == sync::wire::WatchEvent::Type::deleted) {
        known_.erase(name);
        logged_malformed_.erase(name);
        remove_(name);
      } else {
        known_.try_emplace(name, Seen{list_ + 1, list_});  // It arrived after that list.
        set_(*object);
      }
    }
    note_progress();
    heard_();
    return {};
  }

  void bookmark(const std::string& /*version*/) override {
    note_progress();
    heard_();
  }

 private:
  static constexpr std::size_t logged_malformed_max =
      1000;  // beyond it malformed objects are not logged

  // The first and the last list, counted from 1, that had the object.
  struct Seen {
    std::uint64_t first;  // of a watch event: the number of the next list
    std::uint64_t last;
  };

  void note_progress() {
    if (clock_ != nullptr) progressed_at_ = clock_->mono();
  }

  void note(const Name& name) {
    known_.try_emplace(name, Seen{list_, list_}).first->second.last = list_;
  }

  template <class Predicate>
  void remove_if(Predicate predicate) {
    for (auto at = known_.begin(); at != known_.end();) {
      if (!predicate(at->second)) {
        ++at;
        continue;
      }
      const Name name = at->first;
      at = known_.erase(at);
      remove_(name);
    }
  }

  Status admit(const std::string& object) {
    return memory_ == nullptr ? Status() : memory_->heap().admit(object.size());
  }

  // An object that cannot be decoded is skipped: its last readable version stays in use.
  Result<T> read(const std::string& bytes) {
    auto object = read_lean(bytes);
    if (!object) {
      ++malformed_;
      if (skipped_) skipped_();
      log_malformed(bytes, object.error());
    } else if (!logged_malformed_.empty()) {
      logged_malformed_.erase({object->metadata.namespace_name, object->metadata.name});
    }
    return object;
  }

  // The kinds with many objects are requested as protobuf.
  static constexpr bool is_high_volume = std::is_same_v<T, sync::Node> ||
                                         std::is_same_v<T, sync::Pod> ||
                                         std::is_same_v<T, sync::DaemonSet>;

  [[nodiscard]] Result<T> read_lean(const std::string& bytes) const {
    const bool protobuf = sync::wire::is_protobuf(bytes);
    if constexpr (std::is_same_v<T, sync::Lease>) {
      return protobuf ? sync::wire::read_protobuf_renewal(bytes) : sync::wire::read_renewal(bytes);
    } else {
      const sync::wire::DecodeOptions lean{.keep_untouched = whole_, .keep_managed_fields = false};
      if constexpr (is_high_volume) {
        if (protobuf) return sync::wire::decode_protobuf<T>(bytes);
      }
      return sync::wire::decode_bytes<T>(bytes, lean);
    }
  }

  // Logs a malformed object once, however often it arrives. All objects without a name count as
  // one.
  void log_malformed(const std::string& bytes, const Error& error) {
    const auto header = sync::wire::read_any_header(bytes);
    const Name name = header ? Name{header->namespace_name, header->name} : Name{};
    if (logged_malformed_.size() >= logged_malformed_max || !logged_malformed_.insert(name).second)
      return;
    log_warn(
        "object skipped",
        {{"kind", T::kind}, {"namespace", name.first}, {"name", name.second}, {"error", error}});
  }

  // Notes the name of a malformed object, so that the end of the list does not remove it.
  void keep(const std::string& bytes) {
    const auto header = sync::wire::read_any_header(bytes);
    if (header) note({header->namespace_name, header->name});
  }

  bool whole_;
  std::function<void(const T&)> set_;
  std::function<void(const Name&)> remove_;
  std::function<void()> heard_;
  std::function<void()> skipped_;
  CloudMemory* memory_ = nullptr;
  std::unique_ptr<ByteReservation> held_;
  std::function<void()> refused_;
  bool out_of_memory_ = false;
  std::string failure_;
  std::uint64_t list_ = 0;           // the number of the current list
  std::uint64_t complete_list_ = 0;  // the number of the last complete list
  std::map<Name, Seen> known_;
  std::set<Name> logged_malformed_;  // whose last version could not be decoded
  std::size_t malformed_ = 0;
  bool complete_ = false;
  const Clock* clock_ = nullptr;
  std::string list_version_;
  MonoTime progressed_at_ = MonoTime::min();
};

}  // namespace holdfast::agent
