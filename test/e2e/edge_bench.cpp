#include "test/e2e/edge_bench.h"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fstream>

#include "sync/objects/version.h"
#include "test/support/quick_agent.h"

namespace holdfast::test {
namespace {

asio::awaitable<void> open_into(http::Client& client, http::Request request, MonoTime deadline,
                                std::optional<Result<http::Response>>& into) {
  into = co_await client.open(std::move(request), deadline);
}

}  // namespace

std::string pod_path(const std::string& name) { return "/api/v1/namespaces/ns/pods/" + name; }

std::string kernel(const std::string& text) {
  return R"({"status":{"nodeInfo":{"kernelVersion":")" + text + R"("}}})";
}

std::string kernel_of(const Answer& node) {
  return node.text({"status", "nodeInfo", "kernelVersion"});
}

std::string phase(const std::string& text) { return R"({"status":{"phase":")" + text + R"("}})"; }

std::string WatchedEvent::text(std::initializer_list<std::string_view> path) const {
  return text_in(object, path);
}

std::string WatchedEvent::line() const {
  return type + " " + text({"metadata", "name"}) + "@" + text({"metadata", "resourceVersion"});
}

std::uint64_t WatchedEvent::version() const {
  return sync::objects::parse_version(text({"metadata", "resourceVersion"})).value_or(0);
}

Watch::Watch(std::uint16_t port, const std::string& target, const std::string& user_agent)
    : client_({.at = {"127.0.0.1", port}}) {
  std::optional<Result<http::Response>> response;
  const Ask question{.target = target, .user_agent = user_agent};
  asio::co_spawn(context_,
                 open_into(client_, to_request(question), now() + question.limit, response),
                 asio::detached);
  context_.run();
  if (*response) state_->stream = (*response)->stream;
  opened_ = to_answer(std::move(*response));
  state_->ended = state_->stream == nullptr;
}

asio::awaitable<void> Watch::read(std::shared_ptr<State> state) {
  const auto piece = co_await state->stream->next();
  state->reading = false;
  if (!piece || piece->empty()) {
    state->ended = true;
    co_return;
  }
  auto documents = state->frames.feed(*piece);
  for (std::string& document : documents.value()) state->documents.push_back(std::move(document));
}

std::optional<WatchedEvent> Watch::next(Duration limit) {
  const MonoTime deadline = now() + limit;
  while (state_->documents.empty()) {
    if (state_->ended || now() >= deadline) return std::nullopt;
    if (!state_->reading) {
      state_->reading = true;
      asio::co_spawn(context_, read(state_), asio::detached);
    }
    context_.restart();
    (void)context_.run_one_for(deadline - now());
  }
  const json::value document = sync::wire::parse_json(state_->documents.front()).value();
  state_->documents.pop_front();
  return WatchedEvent{text_in(document, {"type"}), document.as_object().at("object")};
}

std::optional<WatchedEvent> Watch::next_change(Duration limit) {
  const MonoTime deadline = now() + limit;
  for (;;) {
    auto event = next(deadline - now());
    if (!event || event->type != "BOOKMARK") return event;
  }
}

EdgeBench::EdgeBench() {
  std::ofstream(dir() / "tokens") << admin_token << ",admin,1,\"system:masters\"\n"
                                  << node_token << ",system:node:edge-a,2,\"system:nodes\"\n";
  std::ofstream(dir() / "agent.kubeconfig")
      << kubeconfig_for(server_port, "agent-upstream", node_token);
}

EdgeBench::~EdgeBench() {
  agent.reset();
  server.reset();
  if (!::testing::Test::HasFailure()) return;
  print_end(dir() / "server.log");
  print_end(dir() / "agent.log");
}

void EdgeBench::start_server(const std::vector<std::string>& more) {
  std::vector<std::string> argv{"holdfast-lab",
                                "apiserver",
                                "--listen",
                                "127.0.0.1:" + std::to_string(server_port),
                                "--data",
                                (dir() / "server").string(),
                                "--controllers=false"};
  if (secured) argv.push_back("--token-file=" + (dir() / "tokens").string());
  argv.insert(argv.end(), more.begin(), more.end());
  server = std::make_unique<Process>(argv, (dir() / "server.log").string());
  const auto port = server_port;
  ASSERT_TRUE(eventually(30s, [port] { return get(port, "/readyz").status != 0; }));
}

std::vector<std::string> EdgeBench::agent_argv(const std::vector<std::string>& more) const {
  std::vector<std::string> argv{"holdfast-edge",
                                "--node-name=edge-a",
                                "--kubeconfig=" + (dir() / "agent.kubeconfig").string(),
                                "--data-dir=" + agent_dir().string(),
                                "--listen=127.0.0.1:" + std::to_string(agent_port),
                                "--admin-listen=127.0.0.1:" + std::to_string(admin_port),
                                "--allowed-uids=" + std::to_string(getuid())};
  const std::vector<std::string> quick = quick_agent_flags();
  argv.insert(argv.end(), quick.begin(), quick.end());
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

void EdgeBench::launch_agent(const std::vector<std::string>& more) {
  agent.reset();
  agent = std::make_unique<Process>(agent_argv(more), (dir() / "agent.log").string());
}

bool EdgeBench::agent_ready() const { return get(admin_port, "/readyz").status == 200; }

void EdgeBench::start_agent(const std::vector<std::string>& more) {
  launch_agent(more);
  ASSERT_TRUE(eventually(30s, [this] { return agent_ready(); }));
}

bool EdgeBench::wait_for_link(std::string_view state, Duration limit) const {
  return eventually(limit,
                    [this, state] { return get(admin_port, "/v1/link").text({"state"}) == state; });
}

json::value EdgeBench::admin(const std::string& path) const {
  return get(admin_port, path).value();
}

std::vector<std::string> EdgeBench::journal(std::string_view kind) const {
  std::vector<std::string> found;
  const json::value rows = admin("/v1/journal?limit=100000");
  if (!rows.is_array()) return found;
  for (const json::value& row : rows.get_array()) {
    if (text_in(row, {"kind"}) == kind) found.push_back(text_in(row, {"subject"}));
  }
  return found;
}

Answer EdgeBench::ask_server(Ask question) const {
  if (question.bearer.empty()) question.bearer = admin_token;
  return ask(server_port, question);
}

Answer EdgeBench::get_on_server(const std::string& target) const {
  return ask_server({.target = target});
}

void EdgeBench::make_node() {
  const Answer space = ask_server({.method = http::Method::post,
                                   .target = "/api/v1/namespaces",
                                   .body = R"({"metadata":{"name":"ns"}})"});
  ASSERT_EQ(space.status, 201) << space.body;
  const Answer node = ask_server(
      {.method = http::Method::post, .target = nodes, .body = R"({"metadata":{"name":"edge-a"}})"});
  ASSERT_EQ(node.status, 201) << node.body;
}

void EdgeBench::make_pod(const std::string& name) {
  const Answer pod = ask_server({.method = http::Method::post,
                                 .target = "/api/v1/namespaces/ns/pods",
                                 .body = R"({"metadata":{"name":")" + name +
                                         R"("},"spec":{"nodeName":"edge-a","containers":)"
                                         R"([{"name":"c","image":"i"}]}})"});
  ASSERT_EQ(pod.status, 201) << pod.body;
}

void EdgeBench::warm(const std::vector<std::string>& paths) const {
  for (const std::string& path : paths) {
    const std::string target = path + (path.find('?') == path.npos ? "?" : "&");
    const auto port = agent_port;
    EXPECT_TRUE(eventually(20s, [port, target] {
      return get(port, target + "resourceVersion=0").status == 200;
    })) << path;
  }
}

}  // namespace holdfast::test
