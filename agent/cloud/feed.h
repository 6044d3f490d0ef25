// One kind of object, from an API server's list and watch into the Cloud.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "agent/client/list_watch.h"
#include "platform/log.h"
#include "sync/api/codec.h"
#include "sync/api/lease_renewal.h"
#include "sync/protobuf/decode.h"
#include "sync/protobuf/envelope.h"
#include "sync/protobuf/header.h"
#include "sync/protobuf/renewal.h"

namespace holdfast::agent {

// T is an object of sync/api/types.h.
template <class T>
class Feed final : public ListWatchSink {
 public:
  using Name = std::pair<std::string, std::string>;  // namespace and name

  // `set` gets every object that is there or changed, `remove` those that went, `heard` is called
  // whenever anything came, `skipped`, if any, for each object that could not be read. What they
  // refer to outlives the feed. `whole`: what was received as JSON keeps the fields that we do not
  // know, too.
  Feed(std::function<void(const T&)> set, std::function<void(const Name&)> remove,
       std::function<void()> heard, std::function<void()> skipped = {}, bool whole = false)
      : whole_(whole),
        set_(std::move(set)),
        remove_(std::move(remove)),
        heard_(std::move(heard)),
        skipped_(std::move(skipped)) {}

  // Whether a whole list was received once.
  [[nodiscard]] bool complete() const { return complete_; }
  // Objects that could not be read.
  [[nodiscard]] std::size_t malformed() const { return malformed_; }

  void replace(std::vector<std::string> items, const std::string& /*version*/,
               const sync::ScopeKind& /*kind*/) override {
    std::set<Name> there;
    for (std::string& kept : items) {
      const std::string item = std::move(kept);  // given back before the next one is read
      const auto object = read(item);
      if (!object) {
        keep(item, there);
        continue;
      }
      there.emplace(object->metadata.namespace_name, object->metadata.name);
      set_(*object);
    }
    for (const Name& name : std::exchange(known_, std::move(there))) {
      if (!known_.contains(name)) remove_(name);
    }
    complete_ = true;
    heard_();
  }

  void apply(const sync::WatchEvent& event) override {
    if (const auto object = read(event.object)) {
      const Name name{object->metadata.namespace_name, object->metadata.name};
      if (event.type == sync::WatchEvent::Type::deleted) {
        known_.erase(name);
        complained_.erase(name);
        remove_(name);
      } else {
        known_.insert(name);
        set_(*object);
      }
    }
    heard_();
  }

  void bookmark(const std::string& /*version*/) override { heard_(); }

 private:
  static constexpr std::size_t complaints_max = 1000;  // more are only counted

  // An object that cannot be read is skipped: it stays what it was for us.
  Result<T> read(const std::string& bytes) {
    auto object = read_lean(bytes);
    if (!object) {
      ++malformed_;
      if (skipped_) skipped_();
      complain(bytes, object.error());
    } else if (!complained_.empty()) {
      complained_.erase({object->metadata.namespace_name, object->metadata.name});
    }
    return object;
  }

  // Only what is many comes as protobuf.
  static constexpr bool is_plenty = std::is_same_v<T, sync::Node> || std::is_same_v<T, sync::Pod> ||
                                    std::is_same_v<T, sync::DaemonSet>;

  [[nodiscard]] Result<T> read_lean(const std::string& bytes) const {
    const bool protobuf = sync::is_protobuf(bytes);
    if constexpr (std::is_same_v<T, sync::Lease>) {
      return protobuf ? sync::read_protobuf_renewal(bytes) : sync::read_renewal(bytes);
    } else {
      const sync::DecodeOptions lean{.keep_untouched = whole_, .keep_managed_fields = false};
      if constexpr (is_plenty) {
        if (protobuf) return sync::decode_protobuf<T>(bytes);
      }
      return sync::decode_bytes<T>(bytes, lean);
    }
  }

  // Once for each object, however often it comes; all without a name are one.
  void complain(const std::string& bytes, const Error& error) {
    const auto header = sync::read_any_header(bytes);
    const Name name = header ? Name{header->namespace_name, header->name} : Name{};
    if (complained_.size() >= complaints_max || !complained_.insert(name).second) return;
    log_warn(
        "object skipped",
        {{"kind", T::kind}, {"namespace", name.first}, {"name", name.second}, {"error", error}});
  }

  // What cannot be read may still have a name: then it is not gone.
  static void keep(const std::string& bytes, std::set<Name>& there) {
    const auto header = sync::read_any_header(bytes);
    if (header) there.emplace(header->namespace_name, header->name);
  }

  bool whole_;
  std::function<void(const T&)> set_;
  std::function<void(const Name&)> remove_;
  std::function<void()> heard_;
  std::function<void()> skipped_;
  std::set<Name> known_;
  std::set<Name> complained_;  // whose objects could not be read last time
  std::size_t malformed_ = 0;
  bool complete_ = false;
};

}  // namespace holdfast::agent
