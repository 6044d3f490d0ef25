#include "agent/edge/identity/trusted_clock.h"

#include "platform/log.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t size_limit = 256;

WallTime read_floor(const fs::Path& file) {
  const auto text = fs::read_all(file, size_limit);
  if (!text && text.error().code == Errc::not_found) return {};
  const auto time = text ? parse_rfc3339(trim(*text)) : Result<WallTime>(fail(text.error()));
  if (time) return *time;
  log_warn("stored time cannot be read and is ignored",
           {{"file", file.string()}, {"error", time.error()}});
  return {};
}

}  // namespace

TrustedClock::TrustedClock(const Clock& clock, fs::Path file)
    : clock_(clock), file_(std::move(file)), floor_(read_floor(file_), clock.mono()) {}

WallTime TrustedClock::wall() const { return floor_.trusted_time(clock_.mono(), clock_.wall()); }

void TrustedClock::raise_to(WallTime time) {
  floor_.raise_to(clock_.mono(), time);
  keep();
}

void TrustedClock::set_from_server(WallTime time) {
  floor_.set_from_server(clock_.mono(), time);
  keep();
}

void TrustedClock::keep() {
  const auto time = floor_.floor_to_store(clock_.mono());
  if (!time) return;
  if (auto written = fs::atomic_write(file_, format_rfc3339(*time) + "\n"); !written) {
    log_error("last known time not stored", {{"error", written.error()}});
  }
}

}  // namespace holdfast::agent
