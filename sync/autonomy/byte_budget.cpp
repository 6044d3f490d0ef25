#include "sync/autonomy/byte_budget.h"

#include <algorithm>
#include <cmath>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/autonomy/admit.h"
#include "sync/objects/request_info.h"

namespace holdfast::sync::autonomy {
namespace {

constexpr std::int64_t rate_min = 256;
constexpr std::int64_t rate_max = std::int64_t{1} << 40;

std::size_t index_of(UplinkClass traffic) { return static_cast<std::size_t>(traffic); }

Result<std::int64_t> parse_rate(std::string_view text) {
  const auto bad = [text](const char* why) {
    return fail(Errc::invalid, "\"" + std::string(text) + "\": " + why);
  };
  std::string_view number = text;
  if (number.ends_with("/s")) number.remove_suffix(2);
  std::int64_t unit = 1;
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> units{
      {{"KiB", 1024}, {"MiB", 1024 * 1024}, {"kB", 1000}, {"MB", 1'000'000}, {"B", 1}}};
  for (const auto& [name, bytes] : units) {
    if (!number.ends_with(name)) continue;
    number.remove_suffix(name.size());
    unit = bytes;
    break;
  }
  const auto count = parse_int<std::int64_t>(number);
  if (!count || *count < 0) return bad("not a rate such as 64KiB/s");
  if (*count > rate_max / unit) return bad("more than 1 TiB per second");
  if (*count * unit < rate_min) return bad("less than 256 bytes a second");
  return *count * unit;
}

}  // namespace

std::string_view to_string(UplinkClass traffic) {
  switch (traffic) {
    case UplinkClass::heartbeat:
      return "heartbeat";
    case UplinkClass::relist:
      return "relist";
    case UplinkClass::reads:
      return "reads";
    case UplinkClass::writes:
      return "writes";
    case UplinkClass::events:
      return "events";
  }
  UNREACHABLE();
}

UplinkClass class_of(std::string_view method, std::string_view path, bool own) {
  const bool read = method == "GET" || method == "HEAD";
  const auto request = objects::parse_request(method, path, "");
  if (request && request->is_resource) {
    const bool lease = request->resource == "leases" && request->namespace_name == lease_namespace;
    const bool status = request->resource == "nodes" && request->subresource == "status";
    if (lease || (status && !read)) return UplinkClass::heartbeat;
    if (request->resource == "events" && !read) return UplinkClass::events;
  }
  if (!read) return UplinkClass::writes;
  return own ? UplinkClass::relist : UplinkClass::reads;
}

Result<ByteRates> parse_byte_rates(const std::vector<std::string>& texts) {
  ByteRates rates;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
    std::int64_t* rate = equals == std::string::npos ? &rates.total : nullptr;
    for (std::size_t i = 0; i < uplink_classes; ++i) {
      if (to_string(static_cast<UplinkClass>(i)) == name) rate = &rates.classes.at(i);
    }
    if (rate == nullptr) return fail(Errc::invalid, "\"" + text + "\": no such class of traffic");
    if (rate == &rates.classes.front()) {
      return fail(Errc::invalid, "\"" + text + "\": heartbeats have no limit");
    }
    if (*rate != 0) return fail(Errc::invalid, "\"" + text + "\": given twice");
    TRY(*rate, parse_rate(equals == std::string::npos ? text : text.substr(equals + 1)));
  }
  return rates;
}

ByteBudget::ByteBudget(const ByteRates& rates, MonoTime now, Duration burst) {
  CHECK(burst > Duration::zero());
  const auto bucket = [now, burst](std::int64_t rate) {
    if (rate == 0) return Bucket{};
    const auto per_second = static_cast<double>(rate);
    const double capacity = per_second * std::chrono::duration<double>(burst).count();
    return Bucket{.tokens = TokenBucket(now, per_second, {.capacity = capacity})};
  };
  total_ = bucket(rates.total);
  for (std::size_t i = 0; i < uplink_classes; ++i) classes_.at(i) = bucket(rates.classes.at(i));
}

MonoTime ByteBudget::ready_at(UplinkClass traffic, MonoTime now) const {
  if (traffic == UplinkClass::heartbeat) return now;
  return std::max(total_.ready_at(now), classes_.at(index_of(traffic)).ready_at(now));
}

void ByteBudget::spend(UplinkClass traffic, std::uint64_t bytes, MonoTime now) {
  if (traffic == UplinkClass::heartbeat) return;
  for (Bucket* bucket : {&total_, &classes_.at(index_of(traffic))}) {
    if (bucket->tokens) bucket->tokens->spend(now, static_cast<double>(bytes));
  }
}

void ByteBudget::reserve(UplinkClass traffic, std::uint64_t bytes) {
  if (traffic == UplinkClass::heartbeat) return;
  total_.reserved += static_cast<double>(bytes);
  classes_.at(index_of(traffic)).reserved += static_cast<double>(bytes);
}

void ByteBudget::release(UplinkClass traffic, std::uint64_t bytes) {
  if (traffic == UplinkClass::heartbeat) return;
  total_.reserved -= static_cast<double>(bytes);
  classes_.at(index_of(traffic)).reserved -= static_cast<double>(bytes);
}

MonoTime ByteBudget::Bucket::ready_at(MonoTime now) const {
  if (!tokens) return now;
  const double left = tokens->level(now);
  // `reserved` is a sum of doubles, so rounding may leave a little after the last release().
  if (left > 0) return reserved < 0.5 || left > reserved ? now : MonoTime::max();
  // One byte more than the debt, so that the level is above zero at that time.
  const double wait_ms = std::ceil((1 - left) / tokens->rate() * 1000 - 1e-6);
  return now + std::chrono::milliseconds(static_cast<std::int64_t>(wait_ms));
}

}  // namespace holdfast::sync::autonomy
