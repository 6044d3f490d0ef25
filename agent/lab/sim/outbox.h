// The outbox of an edge agent on a modelled disk: what add() took survives kill -9 and power loss.
//
// It orders and replaces writes as store/outbox.h does, without SQLite, and checks that each write
// ends once and that the writes of one object are sent in order.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/lab/sim/engine.h"
#include "sync/autonomy/local_write.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent::lab::sim {

struct OutboxEntry {
  std::uint64_t id = 0;
  sync::objects::RequestInfo object;
  sync::autonomy::QueuedWrite write;
  WallTime created{};
  bool sending = false;
  bool maybe_sent = false;
  int refusals = 0;
  MonoTime due = MonoTime::min();
};

class Outbox {
 public:
  Outbox(Engine& engine, std::string node) : engine_(engine), node_(std::move(node)) {}

  // Returns false if the disk is full: the write must not be accepted then.
  [[nodiscard]] bool add(const sync::objects::RequestInfo& object,
                         const sync::autonomy::QueuedWrite& write, WallTime now);
  // A process has ended: what it was sending may have arrived.
  void recover();
  // The next entry that may be sent, marked as being sent; null if there is none. Borrowed until
  // the next change.
  [[nodiscard]] OutboxEntry* next();
  void requeue(std::uint64_t id, bool maybe_sent);
  // `outcome`: "applied", "conflict", "rejected", "superseded", "expired".
  void settle(std::uint64_t id, std::string_view outcome);
  // Null if it has ended. Borrowed until the next change.
  [[nodiscard]] OutboxEntry* find(std::uint64_t id);
  // The API server has a newer status of the object, or has the object that was to be created.
  void drop_superseded(const sync::objects::RequestInfo& object);

  [[nodiscard]] const std::vector<OutboxEntry>& entries() const { return entries_; }
  // When the next entry is due; MonoTime::max() if none waits.
  [[nodiscard]] MonoTime due() const;
  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }
  void set_full(bool full) { full_ = full; }
  [[nodiscard]] bool is_full() const { return full_; }

 private:
  Engine& engine_;
  std::string node_;
  std::vector<OutboxEntry> entries_;
  std::uint64_t accepted_ = 0;
  std::uint64_t ended_ = 0;
  bool full_ = false;
  std::map<std::string, std::uint64_t> last_sent_;  // by object: the last id that was sent
};

}  // namespace holdfast::agent::lab::sim
