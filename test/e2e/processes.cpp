#include "test/e2e/processes.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>

#include "platform/check.h"
#include "platform/fs/file.h"
#include "platform/http/client.h"
#include "platform/proc/process.h"
#include "test/support/system_loop.h"

namespace holdfast::test {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> send_into(http::Client& client, http::Request request, MonoTime deadline,
                                std::optional<Result<http::Response>>& into) {
  into = co_await client.send(std::move(request), deadline);
}

}  // namespace

void print_end(const std::filesystem::path& file) {
  constexpr std::size_t shown = 6000;
  const auto bytes = fs::read_all(file.string(), 64 << 20);
  if (!bytes) return;
  const std::size_t from = bytes->size() > shown ? bytes->size() - shown : 0;
  std::cerr << "---- " << file.filename().string() << "\n" << bytes->substr(from) << "\n";
}

std::string text_in(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* at = &value;
  for (const std::string_view name : path) {
    const json::object* object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(name);
    if (at == nullptr) return {};
  }
  return at->is_string() ? std::string(at->get_string()) : sync::wire::serialize(*at);
}

std::vector<std::string> processes_naming(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& pid : fs::list_dir("/proc").value_or(std::vector<std::string>())) {
    auto line = fs::read_all("/proc/" + pid + "/cmdline", 1UL << 20).value_or("");
    std::replace(line.begin(), line.end(), '\0', ' ');
    if (line.find(text) != std::string::npos) found.push_back(std::move(line));
  }
  return found;
}

MonoTime now() { return SystemClock().mono(); }

bool eventually(Duration limit, const std::function<bool()>& done) {
  const MonoTime deadline = now() + limit;
  for (;;) {
    if (done()) return true;
    if (now() >= deadline) return false;
    (void)poll(nullptr, 0, 5);
  }
}

Process::Process(std::vector<std::string> argv, std::string log) {
  if (argv[0].find('/') == std::string::npos) argv[0] = HOLDFAST_BIN_DIR "/" + argv[0];
  auto spawned = proc::spawn({.argv = std::move(argv), .log = std::move(log)});
  CHECK(spawned);
  identity_ = *spawned;
}

Process::~Process() { kill(); }

void Process::signal(int number) const {
  if (!reaped_) (void)::kill(identity_.pid, number);
}

void Process::kill() {
  if (reaped_) return;
  signal(SIGKILL);
  (void)waitpid(identity_.pid, nullptr, 0);
  reaped_ = true;
}

std::optional<int> Process::wait(Duration limit) {
  int status = 0;
  if (reaped_) return status;
  const pid_t pid = identity_.pid;
  const bool ended =
      eventually(limit, [pid, &status] { return waitpid(pid, &status, WNOHANG) == pid; });
  if (!ended) return std::nullopt;
  reaped_ = true;
  return status;
}

json::value Answer::value() const {
  auto parsed = sync::wire::parse_json(body);
  return parsed ? *std::move(parsed) : json::value(nullptr);
}

std::string Answer::text(std::initializer_list<std::string_view> path) const {
  return text_in(value(), path);
}

http::Request to_request(const Ask& ask) {
  http::Request request{.method = ask.method, .target = ask.target, .body = ask.body};
  request.headers.add("Accept", "application/json");
  request.headers.add("User-Agent", ask.user_agent);
  if (!ask.bearer.empty()) request.headers.add("Authorization", "Bearer " + ask.bearer);
  const bool patch = ask.method == http::Method::patch;
  const std::string plain = patch ? "application/strategic-merge-patch+json" : "application/json";
  if (!ask.body.empty()) {
    request.headers.add("Content-Type", ask.content_type.empty() ? plain : ask.content_type);
  }
  for (const http::Header& header : ask.headers) request.headers.set(header.name, header.value);
  return request;
}

Answer to_answer(Result<http::Response> response) {
  if (!response) return {.status = 0, .body = response.error().what};
  return {.status = response->status, .body = response->body, .headers = response->headers};
}

Answer ask(const net::HostPort& at, const Ask& ask) {
  SystemLoop context;
  http::Client client({.at = at});
  std::optional<Result<http::Response>> response;
  asio::co_spawn(context, send_into(client, to_request(ask), now() + ask.limit, response),
                 asio::detached);
  context.run();
  return to_answer(*std::move(response));
}

Answer ask(std::uint16_t port, const Ask& question) {
  return ask(net::HostPort{"127.0.0.1", port}, question);
}

Answer get(std::uint16_t port, const std::string& target) { return ask(port, {.target = target}); }

std::string kubeconfig_for(std::uint16_t port, const std::string& name, const std::string& token) {
  const std::string user =
      token.empty() ? "" : "    user: u\nusers:\n- name: u\n  user:\n    token: " + token + "\n";
  return "apiVersion: v1\nkind: Config\ncurrent-context: " + name + "\nclusters:\n- name: " + name +
         "\n  cluster:\n    server: http://127.0.0.1:" + std::to_string(port) +
         "\ncontexts:\n- name: " + name + "\n  context:\n    cluster: " + name + "\n" + user;
}

}  // namespace holdfast::test
