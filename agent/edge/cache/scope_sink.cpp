#include "agent/edge/cache/scope_sink.h"

#include "agent/edge/route/caller.h"
#include "sync/wire/protobuf/header.h"

namespace holdfast::agent {
namespace {

// Parses a resourceVersion of the API server. Local versions are rejected: they are larger than all
// server versions, and must stay so.
std::optional<sync::objects::Version> server_version(std::string_view text) {
  const auto version = sync::objects::parse_version(text);
  return version && !sync::objects::is_local(*version) ? version : std::nullopt;
}

Requester requester_of(const store::ScopeKey& key) {
  return key.owner == node_owner ? Requester::own : Requester::foreign;
}

}  // namespace

ScopeSink::ScopeSink(ScopeReflectors& reflectors, ScopeContent& content, ScopePtr scope)
    : reflectors_(reflectors),
      content_(content),
      scope_(std::move(scope)),
      held_(reflectors.receive_pool(), requester_of(scope_->key())) {}

ScopeSink::~ScopeSink() {
  finish_list(false);
  drop_pages();
}

void ScopeSink::list_begins() {
  is_listing_ = true;
  reflectors_.note_list_begins(*scope_);
}

void ScopeSink::finish_list(bool is_complete) {
  if (std::exchange(is_listing_, false)) scope_->end_list(is_complete);
}

Status ScopeSink::try_replace(std::vector<std::string> items, const std::string& version,
                              const sync::wire::ScopeKind& kind) {
  const auto number = server_version(version);
  if (!number) return fail(Errc::corrupt, "the list's resourceVersion is not a number");
  sync::watch::WatchCache::Objects objects;
  for (std::string& item : items) {
    // If an unreadable object were left out, clients would take it for deleted.
    TRY(Read object, read(std::move(item)));
    objects.insert_or_assign(std::move(object.first), std::move(object.second));
  }
  if (auto taken = content_.replace(*scope_, std::move(objects), *number, kind); !taken) {
    return taken;
  }
  finish_list(true);
  reflectors_.note_success(*scope_, Part::list);
  return {};
}

Status ScopeSink::try_apply(const sync::wire::WatchEvent& event) {
  TRY(std::string item, sync::watch::cached_form(event.object));
  TRY(item, sync::watch::in_encoding(scope_->cache().kind(), std::move(item)));
  TRY(Read object, read(std::move(item)));
  const bool removed = event.type == sync::wire::WatchEvent::Type::deleted;
  auto taken = content_.apply(*scope_, {.type = removed ? sync::watch::EventType::deleted
                                                        : sync::watch::EventType::modified,
                                        .key = std::move(object.first),
                                        .object = std::move(object.second)});
  if (!taken) return taken;
  reflectors_.note_success(*scope_, Part::watch);
  return {};
}

Status ScopeSink::try_page(std::vector<std::string> items, bool first,
                           const sync::wire::ScopeKind& kind) {
  if (first) drop_pages();
  kind_ = kind;
  ScopeRows::ObjectRefs fresh;
  for (std::string& item : items) {
    TRY(Read object, read(std::move(item)));
    const auto [at, is_new] =
        objects_.insert_or_assign(std::move(object.first), std::move(object.second));
    if (at->second.bytes.is_in_memory()) fresh.emplace_back(at->first, &at->second);
  }
  return content_.write_part(*scope_, part_, fresh);
}

Status ScopeSink::try_end_list(const std::string& version) {
  const auto number = server_version(version);
  if (!number) return fail(Errc::corrupt, "the list's resourceVersion is not a number");
  auto taken = content_.replace(*scope_, std::exchange(objects_, {}), *number, kind_, &part_);
  drop_pages();
  if (!taken) return taken;
  finish_list(true);
  reflectors_.note_success(*scope_, Part::list);
  if (!scope_->keeps_on_disk()) reflectors_.list_in_memory(scope_);
  return {};
}

void ScopeSink::drop_pages() {
  objects_.clear();
  content_.drop_part(part_);
}

void ScopeSink::bookmark(const std::string& version) {
  if (const auto number = server_version(version)) content_.bookmark(*scope_, *number);
  reflectors_.note_success(*scope_, Part::watch);
}

void ScopeSink::list_failed(const sync::watch::Failure& failure) {
  finish_list(false);
  drop_pages();
  reflectors_.note_failure(*scope_, Part::list, failure);
}

void ScopeSink::watch_failed(const sync::watch::Failure& failure) {
  // A watch that only broke off is reopened soon, and no event is missed.
  const ScopeFault fault = fault_of(failure);
  const bool unreadable = fault == ScopeFault::too_large || failure.code == Errc::corrupt;
  if (fault == ScopeFault::refused || unreadable) {
    reflectors_.note_failure(*scope_, Part::watch, failure);
  }
}

void ScopeSink::watch_opened() {
  reflectors_.note_watch(*scope_);
  // Opening ends a refusal. An unreadable watch must first deliver a readable event.
  if (scope_->refused()) reflectors_.note_success(*scope_, Part::watch);
}

void ScopeSink::watch_stalled(const sync::watch::Failure& failure) {
  reflectors_.note_failure(*scope_, Part::watch, failure);
}

// Shares the bytes with the cached object if they are equal, so that they are not held twice. Bytes
// that will go into a part are not shared: the part is dropped if the list breaks off.
Result<ScopeSink::Read> ScopeSink::read(std::string item) const {
  TRY(sync::wire::ObjectHeader header, sync::wire::read_any_header(item));
  const auto version = server_version(header.resource_version);
  if (!version || header.name.empty()) {
    return fail(Errc::corrupt, "object \"" + header.name + "\" has no usable metadata");
  }
  sync::watch::ObjectKey key{std::move(header.namespace_name), std::move(header.name)};
  const sync::watch::CachedObject* known = scope_->cache().find(key);
  item.shrink_to_fit();
  sync::watch::CachedObject object{std::move(header.uid), *version,
                                   std::make_shared<const std::string>(std::move(item))};
  const bool is_same = known != nullptr && known->uid == object.uid &&
                       known->version == object.version && known->bytes.seems_equal(object.bytes);
  // The bytes of a derived scope may be in the rows of the other one.
  const bool goes_into_part = scope_->keeps_on_disk() && is_same && known->bytes.is_in_memory();
  if (is_same && !scope_->derived() && !goes_into_part) object.bytes = known->bytes;
  return Read{std::move(key), std::move(object)};
}

}  // namespace holdfast::agent
