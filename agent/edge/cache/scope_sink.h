// Writes the objects and events of a list-watch or a GET into a scope, within limits.
//
// Threading: the loop's thread only. What is borrowed must outlive it.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent/edge/cache/scope_reflectors.h"

namespace holdfast::agent {

class ScopeSink final : public ListWatchSink {
 public:
  ScopeSink(ScopeReflectors& reflectors, ScopeContent& content, ScopePtr scope);
  ~ScopeSink() override;
  ScopeSink(const ScopeSink&) = delete;
  ScopeSink& operator=(const ScopeSink&) = delete;

  void replace(std::vector<std::string> items, const std::string& version,
               const sync::wire::ScopeKind& kind) override {
    (void)try_replace(std::move(items), version, kind);
  }
  void apply(const sync::wire::WatchEvent& event) override { (void)try_apply(event); }

  Status try_replace(std::vector<std::string> items, const std::string& version,
                     const sync::wire::ScopeKind& kind) override;
  Status try_page(std::vector<std::string> items, bool first,
                  const sync::wire::ScopeKind& kind) override;
  Status try_end_list(const std::string& version) override;
  Status try_apply(const sync::wire::WatchEvent& event) override;
  void bookmark(const std::string& version) override;
  void list_begins() override;
  Status try_reserve(std::size_t bytes) override { return held_.set(bytes); }

  void list_failed(const sync::watch::Failure& failure) override;
  void watch_failed(const sync::watch::Failure& failure) override;
  void watch_opened() override;
  void watch_stalled(const sync::watch::Failure& failure) override;

 private:
  void finish_list(bool is_complete);
  // Forgets the pages of a list that is not complete.
  void drop_pages();

  using Part = ScopeHealth::Part;
  using Read = std::pair<sync::watch::ObjectKey, sync::watch::CachedObject>;

  // Parses an object's key and metadata. Errors: corrupt.
  [[nodiscard]] Result<Read> read(std::string item) const;

  ScopeReflectors& reflectors_;
  ScopeContent& content_;
  ScopePtr scope_;
  bool is_listing_ = false;
  // The pages so far.
  sync::watch::WatchCache::Objects objects_;
  sync::wire::ScopeKind kind_;
  ScopeRows::Part part_;
  ByteReservation held_;
};

}  // namespace holdfast::agent
