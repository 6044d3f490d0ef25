#include "store/sequence.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::store {

Sequence::Sequence(Database& database, std::string_view name, std::int64_t block)
    : database_(database),
      name_(name),
      block_(block),
      find_(database.prepare("SELECT value FROM counter WHERE name = ?1")),
      put_(database.prepare("INSERT INTO counter (name, value) VALUES (?1, ?2)"
                            " ON CONFLICT (name) DO UPDATE SET value = ?2")) {
  CHECK(block > 0);
}

Result<std::int64_t> Sequence::next() {
  CHECK(!database_.in_transaction());
  if (auto done = load(); !done) return fail(done.error());
  if (next_ >= end_) {
    if (auto done = reserve(next_ + block_); !done) return fail(done.error());
  }
  return last_ = next_++;
}

Result<bool> Sequence::has_returned(std::int64_t value) {
  if (auto done = load(); !done) return fail(done.error());
  return value > 0 && value < next_;
}

Status Sequence::advance_past(std::int64_t value) {
  if (auto done = load(); !done) return done;
  next_ = std::max(next_, value + 1);
  return {};
}

Status Sequence::load() {
  if (next_ != 0) return {};
  Cursor row = find_.use(name_);
  TRY(const bool found, row.next());
  next_ = end_ = found ? row.integer(0) : 1;
  return {};
}

Status Sequence::reserve(std::int64_t end) {
  TRY(Transaction transaction, database_.begin(Durability::full));
  if (auto done = put_.use(name_, end).run(); !done) return done;
  if (auto done = transaction.commit(); !done) return done;
  end_ = end;
  return {};
}

}  // namespace holdfast::store
