#include "agent/node/process/attempt_files.h"

#include <boost/json/object.hpp>
#include <boost/json/value_to.hpp>

#include "sync/wire/json.h"

namespace holdfast::agent::node {
namespace {

namespace json = boost::json;
using sync::runtime::ContainerExit;

constexpr std::size_t file_limit = 64 * 1024;

constexpr std::pair<ContainerExit::Kind, std::string_view> kinds[] = {
    {ContainerExit::Kind::code, "code"},
    {ContainerExit::Kind::signal, "signal"},
    {ContainerExit::Kind::unknown, "unknown"},
    {ContainerExit::Kind::failed, "failed"},
    {ContainerExit::Kind::never_began, "never_began"},
};

json::object to_object(const proc::ProcessIdentity& identity) {
  return {{"pid", identity.pid}, {"startTicks", identity.start_ticks}};
}

void add_time(json::object& object, std::string_view name, const BootTime& time) {
  object[name] = format_rfc3339(time.wall, TimeDigits::micros);
  object["monoNs"] = time.mono.time_since_epoch().count();
  object["bootId"] = time.boot_id;
}

// Reads fields and remembers whether all were present and valid; callers check sound() at the end.
class Fields {
 public:
  explicit Fields(const json::object* object) : object_(object), sound_(object != nullptr) {}

  template <class T>
  T integer(std::string_view name) {
    const json::value* value = find(name);
    boost::system::error_code ec;
    const T number = value != nullptr ? value->to_number<T>(ec) : T{};
    if (ec) sound_ = false;
    return ec ? T{} : number;
  }

  std::string text(std::string_view name) {
    const json::value* value = find(name);
    const json::string* string = value != nullptr ? value->if_string() : nullptr;
    if (string == nullptr) sound_ = false;
    return string != nullptr ? std::string(*string) : std::string();
  }

  const json::object* object(std::string_view name) {
    const json::value* value = find(name);
    return value != nullptr ? value->if_object() : nullptr;
  }

  BootTime time(std::string_view name) {
    const auto wall = parse_rfc3339(text(name));
    if (!wall) sound_ = false;
    return {wall.value_or(WallTime()), MonoTime(Duration(integer<std::int64_t>("monoNs"))),
            text("bootId")};
  }

  void require(bool condition) { sound_ = sound_ && condition; }
  [[nodiscard]] bool sound() const { return sound_; }

 private:
  const json::value* find(std::string_view name) {
    const json::value* value = object_ != nullptr ? object_->if_contains(name) : nullptr;
    if (value == nullptr) sound_ = false;
    return value;
  }

  const json::object* object_;
  bool sound_;
};

proc::ProcessIdentity identity_of(Fields& parent, std::string_view name,
                                  const std::string& boot_id) {
  Fields fields(parent.object(name));
  const proc::ProcessIdentity identity{fields.integer<pid_t>("pid"),
                                       fields.integer<std::uint64_t>("startTicks"), boot_id};
  parent.require(fields.sound() && identity.pid > 0);
  return identity;
}

Result<json::value> read_json(const fs::Path& file) {
  TRY(const std::string text, fs::read_all(file, file_limit));
  auto value = sync::wire::parse_json(text);
  if (!value) return fail(Errc::corrupt, file.string() + ": " + value.error().what);
  return *std::move(value);
}

tl::unexpected<Error> corrupt(const fs::Path& file) {
  return fail(Errc::corrupt, file.string() + ": a field is missing or wrong");
}

Result<RunRecord> read_run_record(const fs::Path& file) {
  TRY(const json::value value, read_json(file));
  Fields fields(value.if_object());
  RunRecord record;
  record.started = fields.time("startedAt");
  record.shim = identity_of(fields, "shim", record.started.boot_id);
  record.process = identity_of(fields, "process", record.started.boot_id);
  if (!fields.sound()) return corrupt(file);
  return record;
}

}  // namespace

BootTime BootTime::now(const Clock& clock) {
  // Rounded to the precision of the files, so that a record reads back unchanged.
  const auto wall = std::chrono::floor<std::chrono::microseconds>(clock.wall());
  return {wall, clock.mono(), proc::read_boot_id().value_or("")};
}

std::string to_json(const AttemptRecord& record) {
  const json::object object{{"restarts", record.restarts},
                            {"nextDelayNs", record.next_delay.count()}};
  return sync::wire::serialize(object) + "\n";
}

std::string to_json(const RunRecord& record) {
  json::object object{{"shim", to_object(record.shim)}, {"process", to_object(record.process)}};
  add_time(object, "startedAt", record.started);
  return sync::wire::serialize(object) + "\n";
}

std::string to_json(const ExitRecord& record) {
  json::object object;
  for (const auto& [kind, name] : kinds) {
    if (kind == record.exit.kind) object[name] = record.exit.number;
  }
  if (!record.exit.message.empty()) object["message"] = record.exit.message;
  add_time(object, "finishedAt", record.ended);
  return sync::wire::serialize(object) + "\n";
}

Result<AttemptRecord> read_attempt(const fs::Path& dir) {
  TRY(const json::value value, read_json(dir / attempt_file));
  Fields fields(value.if_object());
  const AttemptRecord record{fields.integer<std::int32_t>("restarts"),
                             Duration(fields.integer<std::int64_t>("nextDelayNs"))};
  if (!fields.sound()) return corrupt(dir / attempt_file);
  return record;
}

Result<RunRecord> read_launch(const fs::Path& dir) { return read_run_record(dir / launch_file); }

Result<RunRecord> read_run(const fs::Path& dir) { return read_run_record(dir / run_file); }

Result<ExitRecord> read_exit(const fs::Path& dir) {
  TRY(const json::value value, read_json(dir / exit_file));
  Fields fields(value.if_object());
  ExitRecord record;
  record.ended = fields.time("finishedAt");
  int found = 0;
  for (const auto& [kind, name] : kinds) {
    const json::object* object = value.if_object();
    if (object == nullptr || !object->contains(name)) continue;
    record.exit.kind = kind;
    record.exit.number = fields.integer<std::int32_t>(name);
    ++found;
  }
  fields.require(found == 1);
  const json::object* object = value.if_object();
  if (object != nullptr && object->contains("message")) {
    record.exit.message = fields.text("message");
  }
  if (!fields.sound()) return corrupt(dir / exit_file);
  return record;
}

}  // namespace holdfast::agent::node
