#include "agent/cloud/leader.h"

#include <boost/asio/ip/host_name.hpp>
#include <utility>

#include "agent/cloud/event_sender.h"
#include "platform/log.h"
#include "platform/loop/randomness.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/wire/codec.h"
#include "sync/wire/json.h"

namespace holdfast::agent {

namespace election = sync::election;

namespace {

// As in kube-controller-manager's leader election watchdog.
constexpr Duration watchdog_tolerance = std::chrono::seconds(20);
constexpr Duration leader_event_limit = std::chrono::seconds(2);
constexpr Duration watch_limit = std::chrono::seconds(10);

sync::election::ElectionConfig config_of(const LeaderSettings& settings, std::string identity) {
  return {.identity = std::move(identity),
          .name = settings.resource_name,
          .namespace_name = settings.resource_namespace,
          .lease_duration = settings.lease_duration,
          .renew_deadline = settings.renew_deadline,
          .retry_period = settings.retry_period};
}

std::string folder_of(const LeaderSettings& settings) {
  return "/apis/coordination.k8s.io/v1/namespaces/" + percent_encode(settings.resource_namespace) +
         "/leases";
}

// The Event as client-go's recorder writes it for a LeaseLock.
ApiRequest event_request(const sync::ObjectMeta& lease, const std::string& component,
                         const std::string& message, WallTime wall) {
  const std::string time = format_rfc3339(wall);
  const auto nanos = static_cast<std::uint64_t>(wall.time_since_epoch().count());
  return to_api_request(
      sync::events::create_event({.name = sync::events::event_name(lease.name, nanos),
                                  .namespace_name = lease.namespace_name,
                                  .about = {.kind = "Lease",
                                            .namespace_name = lease.namespace_name,
                                            .name = lease.name,
                                            .uid = lease.uid,
                                            .api_version = std::string(sync::Lease::api_version),
                                            .resource_version = lease.resource_version},
                                  .reason = "LeaderElection",
                                  .message = message,
                                  .component = component,
                                  .first = time,
                                  .last = time}));
}

}  // namespace

void add_options(config::Options& options, LeaderSettings& settings) {
  options.add("leader-elect", settings.elect,
              "write only while holding the Lease; false only for a single replica");
  options.add("leader-elect-lease-duration", settings.lease_duration,
              "time without a renewal after which another replica may take over");
  options.add("leader-elect-renew-deadline", settings.renew_deadline,
              "time without a successful renewal after which a leader gives up");
  options.add("leader-elect-retry-period", settings.retry_period,
              "interval between two attempts to acquire or renew the Lease");
  options.add("leader-elect-resource-lock", settings.resource_lock,
              "kind of lock; only \"leases\" is supported");
  options.add("leader-elect-resource-name", settings.resource_name, "name of the Lease");
  options.add("leader-elect-resource-namespace", settings.resource_namespace,
              "namespace of the Lease");
}

Status check(const LeaderSettings& settings) {
  if (settings.resource_lock != "leases") {
    return fail(Errc::invalid, "--leader-elect-resource-lock: \"" + settings.resource_lock +
                                   "\" is not supported, only leases");
  }
  if (settings.resource_name.empty()) {
    return fail(Errc::invalid, "--leader-elect-resource-name must not be empty");
  }
  if (settings.resource_namespace.empty()) {
    return fail(Errc::invalid, "--leader-elect-resource-namespace must not be empty");
  }
  if (auto checked = sync::election::check(config_of(settings, "")); !checked) {
    return fail(
        "--leader-elect-lease-duration, --leader-elect-renew-deadline, --leader-elect-retry-period",
        checked.error());
  }
  return {};
}

std::string make_identity(Random& random) {
  boost::system::error_code ec;
  const std::string host = asio::ip::host_name(ec);
  return (ec ? std::string("unknown") : host) + "_" + random.uuid();
}

Leader::Leader(asio::any_io_executor executor, const LeaderSettings& settings, std::string identity,
               ApiClient& client, const Clock& clock, Hooks hooks)
    : identity_(std::move(identity)),
      folder_(folder_of(settings)),
      settings_(settings),
      client_(client),
      clock_(clock),
      hooks_(std::move(hooks)),
      random_(loop::make_random(executor)),
      elector_(config_of(settings, identity_), random_),
      changed_(executor),
      tasks_(executor),
      watch_tasks_(executor),
      event_tasks_(executor) {
  lease_.name = settings.resource_name;
  lease_.namespace_name = settings.resource_namespace;
}

void Leader::start() {
  tasks_.spawn("leader election", run());
  watch_tasks_.spawn("watch lease", watch());
}

asio::awaitable<void> Leader::release(MonoTime deadline) {
  tasks_.cancel();
  watch_tasks_.cancel();
  co_await tasks_.join();
  co_await watch_tasks_.join();
  // Renewals have ended. The elector now asks for a write that clears the holder of the Lease.
  const bool led = elector_.leads();
  loop::Tasks releasing(co_await asio::this_coro::executor);
  if (!ended_) {
    request_.reset();
    feed(election::Stopping{});
    releasing.spawn("release lease", perform_all());
    const bool released = co_await releasing.join_until(deadline);
    if (!released) log_warn("lease not released in time");
  }
  releasing.cancel();
  co_await releasing.join();
  if (led) event_tasks_.spawn("leader event", record("stopped leading"));
  const bool told = co_await event_tasks_.join_until(deadline);
  if (!told) event_tasks_.cancel();
  co_await event_tasks_.join();
}

asio::awaitable<MonoTime> Leader::wait() {
  for (;;) {
    const MonoTime until = elector_.may_act_until();
    if (clock_.mono() < until) co_return until;
    co_await changed_.wait();
  }
}

Status Leader::health() const { return elector_.health(clock_.mono(), watchdog_tolerance); }

asio::awaitable<void> Leader::run() {
  feed(election::Started{});
  while (!ended_) {
    co_await perform_all();
    if (ended_) co_return;
    if (std::exchange(lease_released_, false)) {
      feed(election::LeaseReleased{});
    } else {
      (void)co_await changed_.wait_until(elector_.deadline());
      // A released lease is handled in the next round.
      if (!lease_released_) feed(election::TimePassed{});
    }
  }
}

asio::awaitable<void> Leader::perform_all() {
  while (request_) {
    election::Action request = *std::exchange(request_, std::nullopt);
    election::Input answer = co_await ask(std::move(request));
    feed(std::move(answer));
  }
}

asio::awaitable<election::Input> Leader::ask(election::Action request) {
  ApiRequest made{.target = folder_ + "/" + percent_encode(settings_.resource_name)};
  MonoTime deadline = MonoTime::min();
  if (const auto* read = std::get_if<election::Read>(&request)) {
    deadline = read->deadline;
  } else if (const auto* create = std::get_if<election::Create>(&request)) {
    deadline = create->deadline;
    made.method = http::Method::post;
    made.target = folder_;
    made.body = sync::wire::encode_bytes(create->lease);
  } else {
    const auto& update = std::get<election::Update>(request);
    deadline = update.deadline;
    made.method = http::Method::put;
    made.body = sync::wire::encode_bytes(update.lease);
  }
  const bool is_read = made.method == http::Method::get;
  const auto answer = co_await client_.call(std::move(made), deadline);
  election::Input input = election::Missing{};
  if (!answer) {
    const bool missing = is_read && answer.error().code == Errc::not_found;
    if (!missing) input = election::Failed{answer.error()};
    co_return input;
  }
  auto lease = sync::wire::decode_bytes<sync::Lease>(*answer);
  if (!lease) {
    input = election::Failed{lease.error()};
  } else {
    lease_ = lease->metadata;
    if (is_read) {
      input = election::Found{*std::move(lease)};
    } else {
      input = election::Written{*std::move(lease)};
    }
  }
  co_return input;
}

asio::awaitable<void> Leader::record(std::string what) {
  ApiRequest request =
      event_request(lease_, settings_.component, identity_ + " " + what, clock_.wall());
  const auto answer = co_await client_.call(std::move(request), clock_.mono() + leader_event_limit);
  if (!answer) log_debug("event not recorded", {{"error", answer.error()}});
}

void Leader::feed(election::Input input) {
  for (auto& action : elector_.step(clock_.mono(), clock_.wall(), std::move(input))) {
    take(std::move(action));
  }
  changed_.notify_all();
}

void Leader::take(election::Action action) {
  if (std::holds_alternative<election::BecameLeader>(action)) {
    log_info("became leader", {{"identity", identity_}});
    watch_tasks_.cancel();
    event_tasks_.spawn("leader event", record("became leader"));
    hooks_.lead();
  } else if (const auto* saw = std::get_if<election::SawLeader>(&action)) {
    log_info("new leader elected", {{"identity", saw->identity}});
  } else if (const auto* lost = std::get_if<election::LostLeadership>(&action)) {
    ended_ = true;
    log_error("leadership lost", {{"why", lost->why}});
    event_tasks_.spawn("leader event", record("stopped leading"));
    hooks_.end("leader election lost: " + lost->why);
  } else if (const auto* replaced = std::get_if<election::DataReplaced>(&action)) {
    ended_ = true;
    log_error("the API server has older data; this process must read it anew",
              {{"why", replaced->why}});
    hooks_.end(replaced->why);
  } else if (const auto* warn = std::get_if<election::Warn>(&action)) {
    log_warn("leader election", {{"what", warn->what}});
  } else if (std::holds_alternative<election::Stopped>(action)) {
    ended_ = true;
  } else {
    // Read, Create or Update: perform_all() sends it.
    request_ = std::move(action);
  }
}

asio::awaitable<void> Leader::watch() {
  ListWatchTarget target{.path = folder_,
                         .field_selector = "metadata.name=" + settings_.resource_name};
  co_await run_list_watch(std::move(target), *this, *this, clock_, random_);
}

asio::awaitable<Result<http::Response>> Leader::send(ApiRequest request, bool streamed) {
  co_return co_await client_.send(std::move(request), streamed, clock_.mono() + watch_limit);
}

void Leader::replace(std::vector<std::string> items, const std::string& /*version*/,
                     const sync::wire::ScopeKind& /*kind*/) {
  for (const std::string& item : items) check_released(item);
}

void Leader::apply(const sync::wire::WatchEvent& event) {
  if (event.type != sync::wire::WatchEvent::Type::deleted) check_released(event.object);
}

// Only a hint: the elector reads the Lease again before it writes.
void Leader::check_released(const std::string& lease) {
  const auto seen = sync::wire::decode_bytes<sync::Lease>(lease);
  if (!seen || !seen->spec.holder_identity.empty()) return;
  lease_released_ = true;
  changed_.notify_all();
}

}  // namespace holdfast::agent
