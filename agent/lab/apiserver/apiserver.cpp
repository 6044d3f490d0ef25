#include "agent/lab/apiserver/apiserver.h"

#include <boost/json.hpp>
#include <deque>
#include <utility>

#include "agent/lab/apiserver/certificates.h"
#include "agent/lab/apiserver/controllers.h"
#include "agent/lab/apiserver/dispatch.h"
#include "agent/lab/apiserver/registry_scheduler.h"
#include "platform/check.h"
#include "platform/fs/ownership.h"
#include "platform/log.h"
#include "platform/loop/event.h"
#include "platform/loop/timer.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

// Most passes in a row: controllers that never settle must not starve the requests.
constexpr int passes_max = 20;

}  // namespace

struct ApiServer::State {
  State(asio::any_io_executor executor, const Clock& its_clock, Random its_random,
        ApiServerOptions its_options, std::unique_ptr<Registry> its_registry)
      : options(std::move(its_options)),
        clock(its_clock),
        random(its_random),
        registry(std::move(its_registry)),
        editor(*registry, clock, random),
        watches(executor, options.watches),
        controllers(editor),
        changed(executor),
        metrics(clock.wall()),
        backend{*registry, editor, watches, clock, random, tokens, options.tokens.has_value()} {
    backend.metrics = &metrics;
  }

  void on_change(const Change& change);
  void control();
  void compact_old();
  void expire_events();

  ApiServerOptions options;
  const Clock& clock;
  Random random;
  std::unique_ptr<Registry> registry;
  TokenTable tokens;
  Editor editor;
  WatchHub watches;
  Controllers controllers;
  std::optional<RegistryScheduler> scheduler;
  std::optional<CertificateLoop> certificates;
  loop::Event changed;  // the controllers may have something to do
  bool dirty = true;
  // Times, and the revision that was current at each of them; oldest first.
  std::deque<std::pair<MonoTime, std::int64_t>> marks;
  MonoTime next_expiry{};
  RequestMetrics metrics;
  std::unique_ptr<KubeletClient> kubelets;
  Backend backend;
};

void ApiServer::State::on_change(const Change& change) {
  watches.publish(change, clock.wall());
  if (scheduler) scheduler->note(change);
  if (!Controllers::may_cause_work(change)) return;
  dirty = true;
  changed.notify_all();
}

void ApiServer::State::control() {
  dirty = dirty || (options.controllers && controllers.is_due());
  for (int pass = 0; dirty && pass < passes_max; ++pass) {
    dirty = false;
    if (options.controllers) controllers.pass();
    if (certificates) certificates->pass();
    if (scheduler) scheduler->pass();
  }
  if (scheduler) scheduler->pass();  // pods whose back-off has ended
}

// Records the current revision every tenth of `compact_after`, and compacts up to the newest
// recorded revision that is older than `compact_after`.
void ApiServer::State::compact_old() {
  const MonoTime now = clock.mono();
  const Duration step = options.compact_after / 10;
  if (marks.empty() || now - marks.back().first >= step) {
    marks.emplace_back(now, registry->revision());
  }
  std::int64_t forget = 0;
  while (!marks.empty() && now - marks.front().first >= options.compact_after) {
    forget = marks.front().second;
    marks.pop_front();
  }
  if (forget == 0) return;
  if (const auto done = registry->compact(forget); !done) {
    log_warn("compact", {{"error", done.error()}});
  }
}

void ApiServer::State::expire_events() {
  if (clock.mono() < next_expiry) return;
  next_expiry = clock.mono() + std::chrono::minutes(1);
  const std::string oldest = format_rfc3339(clock.wall() - options.event_lifetime);
  for (const StoredPtr& stored : registry->list(sync::printing::known_kind("", "Event"))) {
    // All times have the same format, so they compare as strings.
    const std::string_view last = sync::wire::dig_text(stored->object, {"lastTimestamp"});
    const std::string_view created =
        sync::wire::dig_text(stored->object, {"metadata", "creationTimestamp"});
    if (std::max(last, created) >= oldest) continue;
    if (const auto done = registry->remove(stored); !done) {
      log_warn("expire event", {{"error", done.error()}});
    }
  }
}

Result<std::unique_ptr<ApiServer>> ApiServer::open(asio::any_io_executor executor,
                                                   const Clock& clock, Random random,
                                                   ApiServerOptions options) {
  if (auto made = fs::ensure_own_dir(options.data); !made) return fail("--data", made.error());
  TRY(std::unique_ptr<Registry> registry,
      Registry::open(options.data / "revisions.db", options.registry));
  TokenTable tokens;
  if (options.tokens) {
    TRY(tokens, TokenTable::parse(*options.tokens));
  }
  std::optional<tls::Signer> signer;
  if (options.authority) {
    TRY(signer, tls::Signer::make(*options.authority));
  }
  std::unique_ptr<KubeletClient> kubelets;
  if (options.kubelets) {
    TRY(kubelets, KubeletClient::make(*options.kubelets));
  }
  std::optional<AuditLog> audit;
  if (!options.audit_log.empty()) {
    TRY(audit, AuditLog::open(options.audit_log));
  }
  auto state = std::make_unique<State>(std::move(executor), clock, random, std::move(options),
                                       std::move(registry));
  state->tokens = std::move(tokens);
  state->kubelets = std::move(kubelets);
  state->backend.kubelets = state->kubelets.get();
  state->backend.refuses_anonymous = state->options.refuses_anonymous;
  state->backend.node_authorizer = state->options.node_authorizer;
  state->backend.rbac = state->options.rbac;
  if (state->options.rbac || state->options.requires_identity) state->backend.secured = true;
  state->backend.audit = std::move(audit);
  State* const raw = state.get();
  raw->registry->listen([raw](const ChangePtr& change) { raw->on_change(*change); });
  raw->controllers.create_namespaces();
  if (raw->options.rbac) raw->controllers.create_roles();
  raw->controllers.publish_root_ca(raw->options.ca_pem);
  if (raw->options.controllers && raw->options.scheduler) {
    raw->scheduler.emplace(raw->editor, clock, Random(raw->random.next()));
  }
  if (signer) {
    raw->certificates.emplace(raw->editor, *std::move(signer), raw->options.certificate_lifetime);
    raw->certificates->publish(raw->options.address, raw->tokens);
  }
  return std::unique_ptr<ApiServer>(new ApiServer(std::move(state)));
}

ApiServer::ApiServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

ApiServer::~ApiServer() = default;

http::Handler ApiServer::handler() {
  State* const state = state_.get();
  return [state](const http::Request& request) {
    return dispatch(state->backend, state->options.address, request);
  };
}

void ApiServer::tick() {
  state_->watches.tick(state_->clock.mono(), state_->registry->revision());
  state_->compact_old();
  state_->expire_events();
  state_->control();
}

asio::awaitable<void> ApiServer::run() {
  constexpr Duration interval = std::chrono::seconds(1);
  for (;;) {
    tick();
    const MonoTime next = state_->clock.mono() + interval;
    if (!state_->dirty) (void)co_await state_->changed.wait_until(next);
    // Changes come in groups: waiting 20 ms handles a whole group in one pass.
    const MonoTime moment = state_->clock.mono() + std::chrono::milliseconds(20);
    co_await loop::sleep_until(moment);
  }
}

void ApiServer::stop() { state_->watches.finish_all(); }

Status ApiServer::compact_now() { return state_->registry->compact(state_->registry->revision()); }

Registry& ApiServer::registry() { return *state_->registry; }

http::Response reply_problem(int status, std::string_view message) {
  if (status == 413) {
    return reply_status(
        sync::wire::status::entity_too_large("limit is " + std::to_string(body_bytes_max)));
  }
  sync::wire::ApiStatus problem = sync::wire::status::generic(status);
  if (!message.empty()) problem.message = message;
  return reply_status(problem);
}

}  // namespace holdfast::agent::lab
