#include "agent/edge/link/outage_report.h"

#include <algorithm>

#include "platform/log.h"
#include "sync/wire/json.h"
#include "sync/wire/object_header.h"

namespace holdfast::agent {
namespace {

namespace json = sync::json;

constexpr const char* kind = "outage";
constexpr const char* subject = "cloud";
constexpr std::size_t records_max = 10'000;  // the journal keeps no more

// When the outage of this record began; nothing if it has ended or the record is of another kind.
std::optional<WallTime> open_since(const store::Record& record) {
  if (record.kind != kind) return std::nullopt;
  const auto ended = sync::wire::text_at(record.detail, {"end"}).value_or(std::nullopt);
  const auto began = sync::wire::text_at(record.detail, {"begin"}).value_or(std::nullopt);
  if (ended || !began) return std::nullopt;
  const auto time = parse_rfc3339(*began);
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace

OutageReport::OutageReport(Uplink& uplink, OfflineStore& offline_store, const Clock& clock)
    : uplink_(uplink), offline_store_(offline_store), clock_(clock) {}

void OutageReport::resume() {
  const auto records = offline_store_.records({.limit = records_max, .subject = subject});
  if (!records || records->empty()) return;
  const auto began = open_since(records->back());
  if (!began) return;
  // If the wall clock was set back, the outage counts from now.
  const Duration age = std::max(clock_.wall() - *began, Duration::zero());
  uplink_.outage().resume(clock_.mono() - age);
}

asio::awaitable<void> OutageReport::run() {
  for (;;) {
    for (const sync::autonomy::OutageNote& note : uplink_.outage().take(clock_.mono()))
      report(note);
    const MonoTime due = uplink_.outage().due();
    (void)co_await uplink_.changed().wait_until(due);
  }
}

void OutageReport::report(const sync::autonomy::OutageNote& note) {
  const sync::autonomy::ClockReading now{clock_.mono(), clock_.wall()};
  const std::string text = sync::autonomy::log_text(note, now);
  if (note.kind == sync::autonomy::OutageNote::Kind::back) {
    log_info(text);
  } else {
    log_warn(text);
  }
  const bool begins = note.kind == sync::autonomy::OutageNote::Kind::lost && !note.resumed;
  const bool ends = note.kind == sync::autonomy::OutageNote::Kind::back && note.was_reported;
  if (begins || ends) record(note, now);
}

void OutageReport::record(const sync::autonomy::OutageNote& note,
                          const sync::autonomy::ClockReading& now) {
  const auto at = [&now](MonoTime time) { return format_rfc3339(now.wall_at(time)); };
  json::object detail{
      {"begin", at(note.began)}, {"fault", to_string(note.fault)}, {"reason", note.reason}};
  if (note.kind == sync::autonomy::OutageNote::Kind::back) {
    detail["end"] = at(note.at);
    detail["seconds"] = std::chrono::duration<double>(note.at - note.began).count();
    detail["replayed"] = note.replayed.applied;
    detail["refused"] = note.replayed.refused;
  }
  offline_store_.record(kind, subject, sync::autonomy::journal_text(note),
                        sync::wire::serialize(detail));
}

}  // namespace holdfast::agent
