#include "test/bench/scene.h"

#include <fstream>

#include "platform/fs/file.h"
#include "platform/loop/timer.h"
#include "platform/text.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

MonoTime in(Duration duration) { return loop::BootClock::now() + duration; }

http::Endpoint loopback(std::uint16_t port) { return {.at = {"127.0.0.1", port}}; }

std::filesystem::path own_folder() {
  std::error_code ec;
  return std::filesystem::read_symlink("/proc/self/exe", ec).parent_path();
}

std::string pod(int number) {
  const std::string name = "pod-" + std::to_string(number);
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","labels":{"app":"bench"}},"spec":{"nodeName":"bench","containers":[{"name":"main",)" +
         R"("image":"registry.k8s.io/pause:3.9","env":[{"name":"A","value":"b"}],)" +
         R"("resources":{"requests":{"cpu":"10m","memory":"16Mi"}}}]}})";
}

}  // namespace

Scene::Scene(std::filesystem::path data) : data_(std::move(data)), children_(own_folder(), data_) {}

asio::awaitable<Result<std::uint16_t>> Scene::port_of(std::string child, std::string message,
                                                      std::string field) {
  CO_TRY(const std::string value, co_await children_.logged(std::move(child), std::move(message),
                                                            std::move(field), in(20s)));
  const std::size_t colon = value.rfind(':');
  const auto port =
      parse_int<std::uint16_t>(colon == std::string::npos ? value : value.substr(colon + 1));
  if (!port) co_return fail(Errc::invalid, "no port in \"" + value + "\"");
  co_return *port;
}

asio::awaitable<Status> Scene::start(int pods) {
  auto started = children_.start(
      "apiserver", "holdfast-lab",
      {"apiserver", "--listen=127.0.0.1:0", "--data=" + (data_ / "server").string()});
  if (!started) co_return fail(started.error());
  CO_TRY(const std::uint16_t port, co_await port_of("apiserver", "apiserver listening", "address"));
  server_ = std::make_unique<http::Client>(loopback(port));
  std::ofstream(data_ / "kubeconfig")
      << "current-context: c\ncontexts: [{name: c, context: {cluster: c}}]\n"
      << "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:" << port << "'}}]\n";
  Status done = co_await create("/api/v1/nodes",
                                R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"bench"}})");
  for (int number = 0; done && number < pods; ++number) {
    done = co_await create("/api/v1/namespaces/default/pods", pod(number));
  }
  if (!done) co_return done;
  co_return co_await restart_agent();
}

asio::awaitable<Status> Scene::restart_agent() {
  auto started =
      children_.start("edge", "holdfast-edge",
                      {"--node-name=bench", "--kubeconfig=" + (data_ / "kubeconfig").string(),
                       "--data-dir=" + (data_ / "edge").string(), "--listen=127.0.0.1:0",
                       "--admin-listen=127.0.0.1:0", "--cache-agents=*", "--rejoin-jitter=1ms"});
  if (!started) co_return fail(started.error());
  CO_TRY(const std::uint16_t port, co_await port_of("edge", "serving", "proxy_port"));
  agent_ = std::make_unique<http::Client>(loopback(port));
  Status done;
  co_return done;
}

asio::awaitable<Status> Scene::create(std::string target, std::string body) {
  http::Request request{.method = http::Method::post, .target = std::move(target)};
  request.headers.add("Content-Type", "application/json");
  request.body = std::move(body);
  CO_TRY(const http::Response answer, co_await server_->send(std::move(request), in(10s)));
  Status done;
  if (answer.status != 201) co_return fail(Errc::invalid, answer.body);
  co_return done;
}

asio::awaitable<Result<Latency>> Scene::ask(http::Client& client, std::string target, int count) {
  Latency latency;
  for (int i = 0; i < count; ++i) {
    http::Request request{.target = target};
    const MonoTime began = loop::BootClock::now();
    CO_TRY(const http::Response answer, co_await client.send(std::move(request), in(10s)));
    latency.add(loop::BootClock::now() - began);
    if (answer.status != 200) co_return fail(Errc::unavailable, target + ": " + answer.body);
  }
  co_return latency;
}

asio::awaitable<Result<Latency>> Scene::ask_server(std::string target, int count) {
  return ask(*server_, std::move(target), count);
}

asio::awaitable<Result<Latency>> Scene::ask_agent(std::string target, int count) {
  return ask(*agent_, std::move(target), count);
}

asio::awaitable<Status> Scene::wait_for_agent(std::string target, MonoTime deadline) {
  for (;;) {
    const auto asked = co_await ask(*agent_, target, 1);
    Status done;
    if (asked) co_return done;
    if (loop::BootClock::now() >= deadline) co_return fail("wait", asked.error());
    co_await loop::sleep_until(in(1ms));
  }
}

Result<std::int64_t> Scene::memory() const {
  const std::string file = "/proc/" + std::to_string(children_.pid("edge")) + "/smaps_rollup";
  TRY(const std::string text, fs::read_all(file, 1 << 16));
  const std::size_t at = text.find("\nPss:");
  const std::string_view rest = std::string_view(text).substr(at + 5);
  const std::string_view number = trim(rest.substr(0, rest.find("kB")));
  const auto kib = parse_int<std::int64_t>(number);
  if (at == std::string::npos || !kib) return fail(Errc::invalid, file);
  return *kib;
}

asio::awaitable<void> Scene::end() { (void)co_await children_.end_all(in(5s)); }

}  // namespace holdfast::bench
