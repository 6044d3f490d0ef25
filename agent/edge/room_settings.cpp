#include "agent/edge/room_settings.h"

namespace holdfast::agent {

sync::watch::CacheLimits cache_limits(const EdgeOptions& options) {
  const auto scope_bytes = static_cast<std::size_t>(options.list_bytes_max);
  return {.scopes = static_cast<std::size_t>(options.scopes_max),
          .foreign = {.bytes = sync::watch::foreign_scope_bytes(scope_bytes)},
          .memory_bytes = static_cast<std::size_t>(options.cache_memory_max),
          .disk_bytes = options.cache_disk_max,
          .scope_bytes = scope_bytes};
}

Deadlines deadlines(const EdgeOptions& options) {
  return {.read = options.read_deadline, .write = options.write_deadline};
}

Result<UplinkSettings> uplink_settings(const EdgeOptions& options) {
  using sync::autonomy::LbMode;
  UplinkSettings made{
      .machine = {
          .link = {.probe_interval = options.lease_renew_interval,
                   .probe_deadline = options.probe_deadline,
                   .probe_backoff_min = options.probe_backoff_min,
                   .probe_backoff_max = options.probe_backoff_max,
                   .retry_after_max = options.lease_duration / 2},
          .servers = {.mode = sync::autonomy::parse_lb_mode(options.lb_mode).value_or(LbMode::rr),
                      .probe_backoff_min = options.probe_backoff_min,
                      .probe_backoff_max = options.probe_backoff_max},
          .read_deadline = options.read_deadline}};
  TRY(made.rates, sync::autonomy::parse_byte_rates(options.uplink_budget));
  made.answers = answer_limits(static_cast<std::size_t>(options.list_bytes_max));
  return made;
}

}  // namespace holdfast::agent
