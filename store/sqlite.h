// The only door to SQLite: a database, its statements, its cursors, its transactions.
//
// Threading: a Database and everything made from it belong to the thread that opened it (checked).
// Durability: WAL. With Durability::full a committed transaction survives power loss, as far as the
// disk tells the truth; with relaxed the last few may vanish, but never tear.
// Errors: exhausted (the disk is full), unavailable (in use by another process, not writable, I/O),
// corrupt (SQLite says the file is damaged), conflict (a constraint). A malformed statement of ours
// is a bug and stops the process; one that misses its table is a damaged file.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "platform/result.h"
#include "platform/time.h"

struct sqlite3_stmt;

namespace holdfast::store {

struct Connection;

enum class Durability : std::uint8_t { relaxed, full };

// Who else may have the file open. `alone` holds the lock from open to close.
enum class Access : std::uint8_t { alone, shared, read_only };

struct DatabaseOptions {
  Durability durability = Durability::full;
  Access access = Access::alone;
  Duration busy_timeout = std::chrono::seconds(1);  // how long to wait for another's lock
  int cache_kib = 256;                              // page cache, at most
  int page_bytes = 4096;                            // of a file that is made now: a power of two
  int log_pages = 1000;                             // as many empty the log into the file
  std::string vfs = {};                             // SQLite VFS; empty: the system's
};

// Bytes to bind as a BLOB; plain string_views are bound as TEXT.
struct Blob {
  std::string_view bytes;
};

// Runs one statement once. Obtained from Statement::use(); when it goes out of scope the statement
// is rewound and its bindings dropped, so a half-read cursor can never pin the WAL.
class Cursor {
 public:
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  ~Cursor();

  // Moves to the next row. False when there are no more.
  [[nodiscard]] Result<bool> next();

  // Runs a statement whose rows, if any, do not matter.
  [[nodiscard]] Status run();

  // Columns of the current row, from 0. Views live until the next next().
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::string_view blob(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  friend class Statement;
  template <class... Values>
  explicit Cursor(Connection* connection, Result<sqlite3_stmt*> statement, const Values&... values)
      : connection_(connection) {
    if (!statement) {
      failed_ = std::move(statement).error();
      return;
    }
    statement_ = *statement;
    [[maybe_unused]] int index = 0;
    (bind(++index, values), ...);
  }

  void bind(int index, std::nullptr_t);
  void bind(int index, std::int64_t value);
  void bind(int index, std::optional<std::int64_t> value);
  void bind(int index, std::string_view text);
  void bind(int index, Blob blob);
  void check_bound(int code);

  Connection* connection_;
  sqlite3_stmt* statement_ = nullptr;
  std::optional<Error> failed_;  // told by next()
};

// A statement, compiled at its first use and then used many times.
class Statement {
 public:
  // Binds `values` to ?1, ?2, ... in order. Text and blobs are borrowed, not copied: they must
  // outlive the Cursor. One Cursor at a time.
  template <class... Values>
  [[nodiscard]] Cursor use(const Values&... values) {
    return Cursor(connection_, ready(), values...);
  }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  Statement(Connection* connection, std::string sql)
      : connection_(connection), sql_(std::move(sql)) {}
  [[nodiscard]] Result<sqlite3_stmt*> ready();

  Connection* connection_;
  std::string sql_;  // until it is compiled
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// Rolls back unless committed. Classes of this folder that write take one as proof that their
// caller will commit several writes together. Not to be held across a co_await: there is one at a
// time, and whoever runs meanwhile may want to write.
class Transaction {
 public:
  Transaction(Transaction&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // After an error nothing of the transaction is left.
  [[nodiscard]] Status commit();

 private:
  friend class Database;
  explicit Transaction(Connection* connection) : connection_(connection) {}
  Connection* connection_;
};

class Database {
 public:
  // Opens the file or creates it with mode 0600; its directory must exist. Brings no schema: see
  // migrate.h. Errors: unavailable (naming the path), corrupt (not a database), denied (the file,
  // or one of those beside it, is a link, another user's, or writable by others).
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& file,
                                             const DatabaseOptions& options);

  // For tests and for comparing schemas.
  [[nodiscard]] static Database in_memory();

  // `sql` is one statement.
  [[nodiscard]] Statement prepare(std::string sql);

  // Runs a script of any number of statements. Errors: also invalid, when SQLite cannot read it.
  [[nodiscard]] Status execute(std::string_view script);

  // Starts to write. Only one Transaction may exist at a time (checked). The second form makes this
  // one transaction, and so all before it, as durable as asked.
  [[nodiscard]] Result<Transaction> begin();
  [[nodiscard]] Result<Transaction> begin(Durability durability);
  [[nodiscard]] bool in_transaction() const;

  // False for Access::read_only.
  [[nodiscard]] bool writable() const;

  // How many transactions were begun and not committed: whoever keeps sums in memory beside the
  // rows counts them anew when this has moved.
  [[nodiscard]] std::uint64_t rollbacks() const;

  // Rows touched, and the rowid made, by the last write.
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] std::int64_t last_insert_id() const;

  // Reads the whole file's structure. Errors: corrupt, with SQLite's first complaint.
  [[nodiscard]] Status quick_check();

  // How many pages the file has, and how many of them hold nothing.
  struct Pages {
    std::int64_t total = 0;
    std::int64_t free = 0;
    std::int64_t bytes = 0;  // of one
  };
  [[nodiscard]] Result<Pages> pages();

  // Bytes of pages that were written since it was opened: into the log. A checkpoint copies the
  // last state of each into the file besides.
  [[nodiscard]] Result<std::uint64_t> bytes_written();

  // Gives at most `pages` free pages back to the file system.
  [[nodiscard]] Status trim(int pages);

  // The file's name without its directory, for messages.
  [[nodiscard]] const std::string& name() const;

 private:
  struct Close {
    void operator()(Connection* connection) const;
  };
  explicit Database(std::unique_ptr<Connection, Close> connection);
  [[nodiscard]] Status configure(const DatabaseOptions& options);

  std::unique_ptr<Connection, Close> connection_;
};

}  // namespace holdfast::store
