// The only interface to SQLite: databases, statements, cursors and transactions.
//
// Threading: a Database and everything created from it belong to the thread that opened it
// (checked).
// Durability: WAL. With Durability::full a committed transaction survives power loss, provided that
// the disk honours sync requests; with relaxed the last few may be lost, but the file is never
// damaged.
// Errors: exhausted (the disk is full), unavailable (in use by another process, not writable, I/O),
// corrupt (SQLite reports a damaged file), conflict (a constraint). A malformed statement is our
// bug and stops the process; one that misses its table means a damaged file.

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

// Whether an operation failed because SQLite found the file damaged, and not because bytes in a
// sound file fail a checksum of ours.
[[nodiscard]] bool is_file_damage(const Error& error);

// Whether a transaction failed because the file was moved or removed while it was open.
[[nodiscard]] bool is_file_gone(const Error& error);

enum class Durability : std::uint8_t { relaxed, full };

// Who else may have the file open. `alone` holds an exclusive lock from open to close.
enum class Access : std::uint8_t { alone, shared, read_only };

struct DatabaseOptions {
  Durability durability = Durability::full;
  Access access = Access::alone;
  Duration busy_timeout = std::chrono::seconds(1);  // how long to wait for a lock
  int cache_kib = 256;                              // maximum size of the page cache
  int page_bytes = 4096;                            // for new files; a power of two
  int log_pages = 1000;                             // the log is checkpointed at this size
  std::string vfs = {};                             // SQLite VFS; empty: the system's
};

// Bytes to bind as a BLOB; a std::string_view is bound as TEXT.
struct Blob {
  std::string_view bytes;
};

// One execution of a statement, created by Statement::use(). Its destructor resets the statement
// and drops its bindings, so that a partly read cursor cannot keep the WAL from being checkpointed.
class Cursor {
 public:
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  ~Cursor();

  // Moves to the next row. Returns false if there are no more.
  [[nodiscard]] Result<bool> next();

  // Runs the statement to its end and ignores its rows.
  [[nodiscard]] Status run();

  // Columns of the current row, counted from 0. Views are valid until the next next().
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
  std::optional<Error> failed_;  // returned by next()
};

// A statement that is compiled at its first use and then reused.
class Statement {
 public:
  // Binds `values` to ?1, ?2, ... in order. Text and blobs are borrowed: they must outlive the
  // Cursor. Only one Cursor at a time.
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

// A write transaction, which rolls back unless committed. Write functions of this folder take one
// as proof that the caller will commit several writes together. Do not hold it across a co_await:
// only one may exist at a time, and another coroutine may want to write.
class Transaction {
 public:
  Transaction(Transaction&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  // After an error nothing of the transaction is kept.
  [[nodiscard]] Status commit();

 private:
  friend class Database;
  explicit Transaction(Connection* connection) : connection_(connection) {}
  Connection* connection_;
};

class Database {
 public:
  // Opens the file, or creates it with mode 0600; its directory must exist. It does not create a
  // schema: see migrate.h. Errors: unavailable (naming the path), corrupt (not a database), denied
  // (the file, or one beside it, is a link, another user's, or writable by others).
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& file,
                                             const DatabaseOptions& options);

  // For tests and for comparing schemas.
  [[nodiscard]] static Database in_memory();

  // `sql` must be a single statement.
  [[nodiscard]] Statement prepare(std::string sql);

  // Runs a script of any number of statements. Errors: also invalid if SQLite cannot parse it.
  [[nodiscard]] Status execute(std::string_view script);

  // Begins a write transaction. Only one may exist at a time (checked). The second form sets the
  // durability of this transaction, and thereby of all earlier ones.
  [[nodiscard]] Result<Transaction> begin();
  [[nodiscard]] Result<Transaction> begin(Durability durability);
  [[nodiscard]] bool in_transaction() const;

  // False for Access::read_only.
  [[nodiscard]] bool writable() const;

  // How many transactions were rolled back. A caller that keeps sums of rows in memory must
  // recompute them when this has changed.
  [[nodiscard]] std::uint64_t rollbacks() const;

  // The number of rows changed by, and the rowid inserted by, the last write.
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] std::int64_t last_insert_id() const;

  // Checks the structure of the whole file. Errors: corrupt, with SQLite's first finding.
  [[nodiscard]] Status quick_check();

  // The number of pages in the file and of unused ones among them.
  struct Pages {
    std::int64_t total = 0;
    std::int64_t free = 0;
    std::int64_t bytes = 0;  // size of one page
  };
  [[nodiscard]] Result<Pages> pages();

  // Bytes written to the log since the database was opened. A checkpoint also copies the last
  // version of each page into the file; that is not counted here.
  [[nodiscard]] Result<std::uint64_t> bytes_written();

  // Returns at most `pages` unused pages to the file system.
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
