#include "agent/lab/up/session.h"

#include <boost/asio/this_coro.hpp>

#include "agent/lab/apiserver/serve_kubeconfig.h"
#include "agent/lab/cluster/refusal.h"
#include "agent/lab/run/objects.h"
#include "agent/lab/up/changes.h"
#include "platform/fs/file.h"
#include "platform/loop/timer.h"

namespace holdfast::agent::lab::up {
namespace {

constexpr Duration redraw_interval = std::chrono::seconds(1);
constexpr Duration control_stop_limit = std::chrono::seconds(1);
constexpr std::int64_t default_toleration = 300;  // seconds, as DefaultTolerationSeconds has it
// holdfast-edge's admin endpoint in a network namespace of its own.
constexpr const char* own_admin_host = "127.0.0.1:10267";
constexpr std::size_t tokens_max = 1 << 20;

cluster::Flags as_flags(const std::map<std::string, std::string>& flags) {
  return {flags.begin(), flags.end()};
}

}  // namespace

Session::Session(const asio::any_io_executor& executor, UpSettings settings, UpPlan plan,
                 std::filesystem::path data, const Clock& clock)
    : settings_(std::move(settings)),
      fleet_(std::move(plan.fleet)),
      manifests_(std::move(plan.manifests)),
      rules_(plan.rules),
      data_(std::move(data)),
      clock_(clock),
      started_(clock.mono()),
      screen_(settings_.plain),
      cluster_(executor, cluster_settings(), clock, reports()),
      control_(executor, *this),
      tasks_(executor) {}

cluster::ClusterSettings Session::cluster_settings() const {
  return {.data = data_,
          .bin = {},
          .sites = fleet_.sites,
          .workloads = fleet_.workloads,
          .cloud = as_flags(fleet_.cloud),
          .edge = as_flags(fleet_.edge),
          .node = {},
          .tls = true,
          .cloud_schedules = true,
          .namespaces = cluster::can_create_namespaces(),
          .seed = fleet_.seed};
}

cluster::ClusterReports Session::reports() {
  return {.node_changed = {}, .problem = [this](const std::string& text) { log(text); }};
}

ContextTarget Session::context_target() {
  return {.server = "https://" + cluster_.control_plane().address().text(),
          .ca_file = cluster_.control_plane().ca_file().string(),
          .token_file = (data_ / "admin.token").string(),
          .log = (data_ / "logs" / "kubectl.log").string()};
}

// Writes what kubectl needs, and adds the context if that was asked for.
Status Session::write_access() {
  TRY(std::string tokens, fs::read_all(data_ / "tokens", tokens_max));
  const std::string token = tokens.substr(0, tokens.find(','));
  if (auto done = fs::atomic_write(data_ / "admin.token", token); !done) return done;
  const std::filesystem::path file = settings_.kubeconfig.empty()
                                         ? data_ / "kubeconfig"
                                         : std::filesystem::absolute(settings_.kubeconfig);
  kubeconfig_ = file.string();
  KubeconfigAccess access;
  access.listener = cluster_.control_plane().address();
  access.tokens = std::move(tokens);
  TRY(access.ca_pem, fs::read_all(cluster_.control_plane().ca_file(), tokens_max));
  if (auto done = write_kubeconfig(kubeconfig_, access, clock_.wall()); !done) return done;
  if (!settings_.kubectl_context) return {};
  Status added = add_context(context_target());
  has_context_ = added.has_value();
  return added;
}

void Session::introduce() {
  Screen::say("the cluster runs; its API server is https://" +
              cluster_.control_plane().address().text());
  Screen::say("logs and data: " + data_.string());
  Screen::say("export KUBECONFIG=" + kubeconfig_);
  if (has_context_) Screen::say("or: kubectl --context=" + std::string(context_name));
  const bool usual = control_.address() == control_default;
  Screen::say("from another terminal: holdfast-lab cut " + cluster_.nodes().front()->name() +
              (usual ? "" : " --control=" + control_.address()));
}

asio::awaitable<Status> Session::start(asio::any_io_executor executor) {
  Status done = control_.listen(settings_.control);
  if (!done) co_return done;
  Screen::say("starting " + std::to_string(members_of(fleet_).size()) + " nodes in " +
              data_.string());
  done = co_await cluster_.start();
  if (done) done = write_access();
  if (done) done = co_await create_workloads();
  if (!done) co_return done;
  observer_ = std::make_unique<Observer>(executor, cluster_.client(), clock_);
  observer_->observed().members = members_of(fleet_);
  observer_->start();
  for (const auto& node : cluster_.nodes()) {
    if (!node->has_edge()) continue;
    const cluster::LabNode* one = node.get();
    const std::string host = one->has_own_namespace() ? own_admin_host : "";
    observer_->follow(
        {.node = one->name(), .port = [one] { return one->admin_port(); }, .host = host});
  }
  is_up_ = true;
  introduce();
  screen_.open();
  tasks_.spawn("refresh", refresh());
  co_return done;
}

asio::awaitable<Status> Session::create_workloads() {
  cluster::ApiActions api(cluster_.client(), clock_);
  const auto objects = run::objects_of(fleet_, default_toleration);
  Status done;
  for (const run::ApiObject& object : objects) {
    done = co_await api.post(object.collection, object.body);
    if (!done) co_return fail("create " + object.collection + "/" + object.name, done.error());
  }
  for (const run::ManifestObject& object : manifests_) {
    auto collection = co_await api.collection(object.api_version, object.kind, object.space);
    if (!collection) co_return fail(object.place, collection.error());
    done = co_await api.post(*std::move(collection), object.body);
    if (!done) co_return fail(object.place + ": create " + object.name, done.error());
  }
  co_return done;
}

asio::awaitable<Status> Session::run(loop::Stop& stop) {
  const auto executor = co_await asio::this_coro::executor;
  Status done = co_await start(executor);
  if (done) co_await stop.wait();
  const Status ended = co_await shut_down();
  if (done) done = ended;
  co_return done;
}

View Session::view() const {
  if (!observer_) return {.age = clock_.mono() - started_, .kubeconfig = kubeconfig_};
  Observed& observed = observer_->observed();
  for (const auto& node : cluster_.nodes()) {
    const std::string& name = node->name();
    const NodeState state{.link = node->link().state(),
                          .is_powered = node->is_powered(),
                          .profile = node->site().link.name};
    observed.links[name] = marks_.link_of(name, state);
    observed.paused[name] = marks_.paused_on(name);
  }
  View view = view_of(observed, rules_, {clock_.mono(), clock_.wall()});
  view.age = clock_.mono() - started_;
  view.kubeconfig = kubeconfig_;
  view.control = control_.address();
  view.events = events_.last();
  return view;
}

asio::awaitable<void> Session::refresh() {
  for (;;) {
    View now = view();
    for (std::string& line : changes_between(last_, now)) log(std::move(line));
    now.events = events_.last();
    screen_.show(now, events_);
    last_ = std::move(now);
    co_await loop::wait_for(redraw_interval);
  }
}

asio::awaitable<Result<std::vector<std::string>>> Session::perform(Request request) {
  std::vector<std::string> done;
  if (!is_up_) co_return fail(Errc::unavailable, "the cluster is still starting");
  CO_TRY(const Command command, command_of(request, fleet_));
  for (const ScenarioEvent& event : command.events) {
    const std::string refusal = cluster::refusal_of(event.action);
    if (refusal.empty()) continue;
    co_return fail(Errc::invalid, words_of(command.verb, event) +
                                      ": `up` cannot do this, because " + refusal +
                                      "; `holdfast-lab sim` can");
  }
  for (const ScenarioEvent& event : command.events) {
    std::string words = words_of(command.verb, event);
    const Status changed = change(command.verb, event);
    if (!changed) co_return fail(words, changed.error());
    done.push_back(std::move(words));
  }
  co_return done;
}

Status Session::change(Verb verb, const ScenarioEvent& event) {
  const std::uint64_t ticket = pending_.ticket(event.action);
  const bool begins = verb == Verb::begin;
  Status done = begins ? cluster_.perform(event) : cluster_.end(event);
  const auto* heal = std::get_if<Heal>(&event.action);
  if (done && heal != nullptr) note_restored(heal->target);
  log(words_of(verb, event) + (done ? "" : ": " + done.error().what));
  if (!done) return done;
  marks_.note(verb, event);
  if (begins && event.duration) tasks_.spawn("end", end_later(event, ticket));
  return done;
}

void Session::note_restored(const Target& target) {
  ScenarioEvent event;
  event.action = Degrade{.target = target, .link = {}};
  (void)pending_.ticket(event.action);
  marks_.note(Verb::end, event);
}

asio::awaitable<void> Session::end_later(ScenarioEvent event, std::uint64_t ticket) {
  co_await loop::wait_for(*event.duration);
  if (!pending_.is_valid(event.action, ticket)) co_return;
  const Status done = cluster_.end(event);
  marks_.note(Verb::end, event);
  log("over: " + words_of(Verb::begin, event) + (done ? "" : ": " + done.error().what));
}

asio::awaitable<Status> Session::shut_down() {
  is_up_ = false;
  screen_.close();
  Screen::say("stopping all processes; interrupting again leaves them behind");
  tasks_.cancel();
  if (observer_) observer_->cancel();
  co_await control_.stop(clock_.mono() + control_stop_limit);
  co_await tasks_.join();
  if (observer_) co_await observer_->join();
  Status done;
  if (has_context_) done = remove_context(context_target());
  const std::vector<int> left = co_await cluster_.stop();
  if (left.empty()) co_return done;
  co_return fail(Errc::unavailable, std::to_string(left.size()) +
                                        " processes could not be ended, such as " +
                                        std::to_string(left.front()));
}

}  // namespace holdfast::agent::lab::up
