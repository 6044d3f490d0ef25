#include "store/sqlite.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>

#include "platform/check.h"
#include "platform/fs/ownership.h"

namespace holdfast::store {

struct Connection {
  sqlite3* handle = nullptr;
  std::string name;
  pthread_t owner = pthread_self();
  Durability usual = Durability::full;
  Durability current = Durability::full;
  bool in_transaction = false;
  std::uint64_t rollbacks = 0;
};

namespace {

class SqliteCategory final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "sqlite"; }
  [[nodiscard]] std::string message(int code) const override { return sqlite3_errstr(code); }
};

const SqliteCategory sqlite_category;
const std::error_code file_gone(SQLITE_READONLY_DBMOVED, sqlite_category);

Errc errc_of(int code) {
  // What an unreadable sector held, or a truncated file lacks, does not come back.
  if (code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ) return Errc::corrupt;
  if (code == SQLITE_IOERR_CORRUPTFS) return Errc::corrupt;
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Errc::corrupt;
    case SQLITE_CONSTRAINT:
      return Errc::conflict;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return Errc::exhausted;
    case SQLITE_ERROR:
      return Errc::invalid;
    default:
      return Errc::unavailable;
  }
}

std::string describe(const Connection& connection, int code) {
  if ((code & 0xff) == SQLITE_BUSY) return connection.name + ": in use by another process";
  return connection.name + ": " + sqlite3_errmsg(connection.handle);
}

tl::unexpected<Error> fail_with(const Connection& connection, int code) {
  return fail(errc_of(code), describe(connection, code), std::error_code(code, sqlite_category));
}

// SQLite cannot run one of our statements: either the file lost a table, or we have a bug.
tl::unexpected<Error> fail_statement(const Connection& connection, int code) {
  const int primary = code & 0xff;
  const std::string what = describe(connection, code);
  const bool lost = what.find(": no such ") != std::string::npos ||
                    what.find(" has no column named ") != std::string::npos;
  if (primary == SQLITE_ERROR && lost) {
    return fail(Errc::corrupt, what, std::error_code(code, sqlite_category));
  }
  const bool bug = primary == SQLITE_ERROR || primary == SQLITE_MISUSE || primary == SQLITE_RANGE;
  if (bug) check_failed(__FILE__, __LINE__, what.c_str());
  return fail_with(connection, code);
}

Status execute_on(const Connection& connection, const char* script) {
  const int code = sqlite3_exec(connection.handle, script, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail_with(connection, code);
  return {};
}

const char* synchronous(Durability durability) {
  return durability == Durability::full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL";
}

// SQLite would continue to write to an unlinked file, and everything would be lost.
bool has_moved(const Connection& connection) {
  int moved = 0;
  (void)sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

void roll_back(Connection& connection) {
  connection.in_transaction = false;
  ++connection.rollbacks;
  // After some errors SQLite has already rolled back.
  if (sqlite3_get_autocommit(connection.handle) != 0) return;
  (void)sqlite3_exec(connection.handle, "ROLLBACK", nullptr, nullptr, nullptr);
}

// SQLite would create the file with the umask's mode, but our files hold secrets. An existing file
// must not be opened here: closing a second descriptor would drop the locks of a first connection.
Status create_private(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor >= 0) {
    (void)::close(descriptor);
    return {};
  }
  if (errno == EEXIST) return {};
  const std::error_code cause(errno, std::generic_category());
  const Errc code = errno == ENOSPC || errno == EDQUOT ? Errc::exhausted : Errc::unavailable;
  return fail(code, "create " + file.string() + ": " + cause.message(), cause);
}

// SQLite follows links and opens existing files, so none of them may belong to another user.
Status check_owned(const std::filesystem::path& file) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    if (auto ours = fs::check_own_file(file.string() + suffix); !ours) return ours;
  }
  return {};
}

int open_flags(Access access) {
  const int mode = access == Access::read_only ? SQLITE_OPEN_READONLY
                                               : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  return mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
}

const char* not_null(std::string_view text) { return text.data() == nullptr ? "" : text.data(); }

}  // namespace

bool is_file_damage(const Error& error) {
  return error.code == Errc::corrupt && error.cause.category() == sqlite_category;
}

bool is_file_gone(const Error& error) { return error.cause == file_gone; }

// ---------------------------------------------------------------------------------------- Cursor

Cursor::~Cursor() {
  if (statement_ == nullptr) return;
  (void)sqlite3_reset(statement_);
  (void)sqlite3_clear_bindings(statement_);
}

Result<bool> Cursor::next() {
  if (failed_) return fail(*failed_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail_statement(*connection_, code);
}

Status Cursor::run() {
  for (;;) {
    TRY(const bool more, next());
    if (!more) return {};
  }
}

std::int64_t Cursor::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Cursor::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)};
}

std::string_view Cursor::blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

bool Cursor::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

void Cursor::bind(int index, std::nullptr_t) { check_bound(sqlite3_bind_null(statement_, index)); }

void Cursor::bind(int index, std::int64_t value) {
  check_bound(sqlite3_bind_int64(statement_, index, value));
}

void Cursor::bind(int index, std::optional<std::int64_t> value) {
  if (value) {
    bind(index, *value);
  } else {
    bind(index, nullptr);
  }
}

void Cursor::bind(int index, std::string_view text) {
  check_bound(sqlite3_bind_text64(statement_, index, not_null(text), text.size(), SQLITE_STATIC,
                                  SQLITE_UTF8));
}

void Cursor::bind(int index, Blob blob) {
  check_bound(sqlite3_bind_blob64(statement_, index, not_null(blob.bytes), blob.bytes.size(),
                                  SQLITE_STATIC));
}

void Cursor::check_bound(int code) {
  if (code == SQLITE_OK) return;
  CHECK(code == SQLITE_TOOBIG || code == SQLITE_NOMEM);
  failed_ = fail_with(*connection_, code).value();
}

// ------------------------------------------------------------------------------------- Statement

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  (void)sqlite3_finalize(statement);
}

Result<sqlite3_stmt*> Statement::ready() {
  CHECK(pthread_equal(connection_->owner, pthread_self()) != 0);
  if (connection_->in_transaction && sqlite3_get_autocommit(connection_->handle) != 0) {
    // Running the statement now would commit it alone: only half of what the caller intended.
    return fail(Errc::unavailable, connection_->name + ": rolled back by an earlier error");
  }
  if (handle_ != nullptr) {
    CHECK(sqlite3_stmt_busy(handle_.get()) == 0);
    return handle_.get();
  }
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(connection_->handle, sql_.data(), static_cast<int>(sql_.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  handle_.reset(statement);
  if (code != SQLITE_OK) return fail_statement(*connection_, code);
  std::string().swap(sql_);
  return statement;
}

// ----------------------------------------------------------------------------------- Transaction

Transaction::~Transaction() {
  if (connection_ != nullptr) roll_back(*connection_);
}

Status Transaction::commit() {
  CHECK(connection_ != nullptr);
  Connection& connection = *std::exchange(connection_, nullptr);
  if (sqlite3_get_autocommit(connection.handle) != 0) {
    roll_back(connection);
    return fail(Errc::unavailable, connection.name + ": rolled back by an earlier error");
  }
  if (auto done = execute_on(connection, "COMMIT"); !done) {
    roll_back(connection);
    return fail("commit", done.error());
  }
  connection.in_transaction = false;
  return {};
}

// -------------------------------------------------------------------------------------- Database

void Database::Close::operator()(Connection* connection) const {
  // The v2 function waits for statements that outlive their database.
  (void)sqlite3_close_v2(connection->handle);
  delete connection;
}

Database::Database(std::unique_ptr<Connection, Close> connection)
    : connection_(std::move(connection)) {}

Result<Database> Database::open(const std::filesystem::path& file, const DatabaseOptions& options) {
  if (options.access != Access::read_only) {
    if (auto done = create_private(file); !done) return fail(done.error());
  }
  if (auto ours = check_owned(file); !ours) return fail("open", ours.error());
  Database database(std::unique_ptr<Connection, Close>(new Connection));
  Connection& connection = *database.connection_;
  connection.name = file.filename().string();
  const char* vfs = options.vfs.empty() ? nullptr : options.vfs.c_str();
  const int code =
      sqlite3_open_v2(file.c_str(), &connection.handle, open_flags(options.access), vfs);
  if (code != SQLITE_OK) return fail("open " + file.string(), fail_with(connection, code).value());
  if (auto done = database.configure(options); !done) {
    return fail("open " + file.string(), done.error());
  }
  return database;
}

Database Database::in_memory() {
  Database database(std::unique_ptr<Connection, Close>(new Connection));
  database.connection_->name = "memory";
  CHECK(sqlite3_open(":memory:", &database.connection_->handle) == SQLITE_OK);
  return database;
}

Status Database::configure(const DatabaseOptions& options) {
  using std::chrono::milliseconds;
  const auto patience = std::chrono::duration_cast<milliseconds>(options.busy_timeout);
  (void)sqlite3_busy_timeout(connection_->handle, static_cast<int>(patience.count()));
  connection_->usual = connection_->current = options.durability;

  // cell_size_check and trusted_schema detect a damaged or hostile file early. secure_delete=FAST
  // overwrites deleted secrets where that costs no additional writes.
  std::string script =
      "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY;"
      "PRAGMA secure_delete=FAST; PRAGMA cache_size=-" +
      std::to_string(options.cache_kib) + ";";
  if (options.access != Access::read_only) {
    if (options.access == Access::alone) script += "PRAGMA locking_mode=EXCLUSIVE;";
    script += "PRAGMA page_size=" + std::to_string(options.page_bytes) + ";";
    script += "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;";
    script += "PRAGMA journal_size_limit=4194304;";
    script += "PRAGMA wal_autocheckpoint=" + std::to_string(options.log_pages) + ";";
    script += synchronous(options.durability);
    script += "; BEGIN IMMEDIATE; COMMIT;";  // takes the lock and checks that we may write
  }
  script += "SELECT count(*) FROM sqlite_schema;";
  return execute(script);
}

Statement Database::prepare(std::string sql) {
  return Statement(connection_.get(), std::move(sql));
}

Status Database::execute(std::string_view script) {
  CHECK(pthread_equal(connection_->owner, pthread_self()) != 0);
  return execute_on(*connection_, std::string(script).c_str());
}

Result<Transaction> Database::begin() { return begin(connection_->usual); }

Result<Transaction> Database::begin(Durability durability) {
  CHECK(pthread_equal(connection_->owner, pthread_self()) != 0);
  CHECK(!connection_->in_transaction);
  if (durability != connection_->current) {
    if (auto done = execute_on(*connection_, synchronous(durability)); !done) {
      return fail(done.error());
    }
    connection_->current = durability;
  }
  if (has_moved(*connection_)) {
    return fail(Errc::unavailable, name() + ": the file was moved or removed", file_gone);
  }
  if (auto done = execute_on(*connection_, "BEGIN IMMEDIATE"); !done) return fail(done.error());
  connection_->in_transaction = true;
  return Transaction(connection_.get());
}

bool Database::in_transaction() const { return connection_->in_transaction; }

bool Database::writable() const { return sqlite3_db_readonly(connection_->handle, "main") == 0; }

std::uint64_t Database::rollbacks() const { return connection_->rollbacks; }

std::int64_t Database::changes() const { return sqlite3_changes64(connection_->handle); }

std::int64_t Database::last_insert_id() const {
  return sqlite3_last_insert_rowid(connection_->handle);
}

Status Database::quick_check() {
  Statement check = prepare("PRAGMA quick_check(1)");
  Cursor row = check.use();
  TRY(const bool found, row.next());
  if (!found || row.text(0) == "ok") return {};
  return fail(Errc::corrupt, name() + ": " + std::string(row.text(0)),
              std::error_code(SQLITE_CORRUPT, sqlite_category));
}

Result<Database::Pages> Database::pages() {
  Pages counted;
  for (const auto& [pragma, number] : {std::pair{"PRAGMA page_count", &counted.total},
                                       std::pair{"PRAGMA freelist_count", &counted.free},
                                       std::pair{"PRAGMA page_size", &counted.bytes}}) {
    Statement statement = prepare(pragma);
    Cursor row = statement.use();
    TRY([[maybe_unused]] const bool found, row.next());
    *number = row.integer(0);
  }
  return counted;
}

Result<std::uint64_t> Database::bytes_written() {
  TRY(const Pages file, pages());
  int written = 0;
  int ignored = 0;
  (void)sqlite3_db_status(connection_->handle, SQLITE_DBSTATUS_CACHE_WRITE, &written, &ignored, 0);
  return static_cast<std::uint64_t>(written) * static_cast<std::uint64_t>(file.bytes);
}

Status Database::trim(int pages) {
  return execute("PRAGMA incremental_vacuum(" + std::to_string(pages) + ")");
}

const std::string& Database::name() const { return connection_->name; }

}  // namespace holdfast::store
