#include "test/bench/bench_processes.h"

#include <signal.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "platform/fs/file.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "test/support/certificates.h"
#include "test/support/kubeconfig.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

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

BenchProcesses::BenchProcesses(std::filesystem::path data, bool tls)
    : data_(std::move(data)), tls_(tls), children_(own_folder(), data_, clock_) {}

Status BenchProcesses::write_certificates() {
  const test::Authority authority("bench");
  const tls::Identity identity =
      authority.sign({.common_name = "server", .names = {"IP:127.0.0.1"}});
  authority_pem_ = authority.certificate_pem();
  std::error_code ec;
  std::filesystem::create_directories(data_ / "tls", ec);
  std::ofstream(data_ / "ca.crt") << authority_pem_;
  std::ofstream(data_ / "tls" / "server.crt") << identity.certificate_pem;
  std::ofstream key(data_ / "tls" / "server.key");
  key << identity.key_pem;
  if (!key.flush()) return fail(Errc::unavailable, "write certificates");
  return {};
}

asio::awaitable<Result<std::uint16_t>> BenchProcesses::port_of(std::string child,
                                                               std::string message,
                                                               std::string field) {
  CO_TRY(const std::string value,
         co_await children_.logged(std::move(child), std::move(message), std::move(field),
                                   SystemClock().mono() + 20s));
  const std::size_t colon = value.rfind(':');
  const auto port =
      parse_int<std::uint16_t>(colon == std::string::npos ? value : value.substr(colon + 1));
  if (!port) co_return fail(Errc::invalid, "no port in \"" + value + "\"");
  co_return *port;
}

asio::awaitable<Status> BenchProcesses::start(int pods) {
  std::vector<std::string> arguments{"apiserver", "--listen=127.0.0.1:0",
                                     "--data=" + (data_ / "server").string()};
  if (tls_) {
    const Status written = write_certificates();
    if (!written) co_return written;
    arguments.push_back("--tls-dir=" + (data_ / "tls").string());
  }
  auto started = children_.start("apiserver", "holdfast-lab", std::move(arguments));
  if (!started) co_return fail(started.error());
  CO_TRY(const std::uint16_t port, co_await port_of("apiserver", "apiserver listening", "address"));
  http::Endpoint endpoint = loopback(port);
  if (tls_) {
    const tls::ClientSettings settings{.ca_pem = authority_pem_};
    CO_TRY(endpoint.tls, tls::Context::for_client(settings));
  }
  server_ = std::make_unique<http::Client>(std::move(endpoint));
  (void)test::write_kubeconfig(
      data_ / "kubeconfig",
      (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port),
      tls_ ? "certificate-authority: " + (data_ / "ca.crt").string() : std::string());
  Status done = co_await create("/api/v1/nodes",
                                R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"bench"}})");
  for (int number = 0; done && number < pods; ++number) {
    done = co_await create("/api/v1/namespaces/default/pods", pod(number));
  }
  if (!done) co_return done;
  co_return co_await restart_agent();
}

asio::awaitable<Status> BenchProcesses::restart_agent() {
  auto started =
      children_.start("edge", "holdfast-edge",
                      {"--node-name=bench", "--kubeconfig=" + (data_ / "kubeconfig").string(),
                       "--data-dir=" + (data_ / "edge").string(), "--listen=127.0.0.1:0",
                       "--admin-listen=127.0.0.1:0", "--cache-agents=*", "--rejoin-jitter=1ms"});
  if (!started) co_return fail(started.error());
  CO_TRY(const std::uint16_t port, co_await port_of("edge", "serving", "proxy_port"));
  CO_TRY(const std::uint16_t admin, co_await port_of("edge", "serving", "admin_port"));
  agent_ = std::make_unique<http::Client>(loopback(port));
  admin_ = std::make_unique<http::Client>(loopback(admin));
  Status done;
  co_return done;
}

asio::awaitable<Result<std::string>> BenchProcesses::admin(std::string target) {
  http::Request request{.target = std::move(target)};
  CO_TRY(http::Response answer,
         co_await admin_->send(std::move(request), SystemClock().mono() + 10s));
  if (answer.status != 200) co_return fail(Errc::unavailable, answer.body);
  co_return std::move(answer.body);
}

asio::awaitable<Status> BenchProcesses::create(std::string target, std::string body) {
  http::Request request{.method = http::Method::post, .target = std::move(target)};
  request.headers.add("Content-Type", "application/json");
  request.body = std::move(body);
  CO_TRY(const http::Response answer,
         co_await server_->send(std::move(request), SystemClock().mono() + 10s));
  Status done;
  if (answer.status != 201) co_return fail(Errc::invalid, answer.body);
  co_return done;
}

asio::awaitable<Result<Latency>> BenchProcesses::ask(http::Client& client, std::string target,
                                                     int count) {
  Latency latency;
  for (int i = 0; i < count; ++i) {
    http::Request request{.target = target};
    const MonoTime began = SystemClock().mono();
    CO_TRY(const http::Response answer,
           co_await client.send(std::move(request), SystemClock().mono() + 10s));
    latency.add(SystemClock().mono() - began);
    if (answer.status != 200) co_return fail(Errc::unavailable, target + ": " + answer.body);
  }
  co_return latency;
}

asio::awaitable<Result<Latency>> BenchProcesses::ask_server(std::string target, int count) {
  return ask(*server_, std::move(target), count);
}

asio::awaitable<Result<Latency>> BenchProcesses::ask_agent(std::string target, int count) {
  return ask(*agent_, std::move(target), count);
}

asio::awaitable<Status> BenchProcesses::wait_for_agent(std::string target, MonoTime deadline) {
  for (;;) {
    const auto asked = co_await ask(*agent_, target, 1);
    Status done;
    if (asked) co_return done;
    if (SystemClock().mono() >= deadline) co_return fail("wait", asked.error());
    co_await loop::wait_for(1ms);
  }
}

void BenchProcesses::freeze_server() { (void)::kill(children_.pid("apiserver"), SIGSTOP); }

Result<std::uintmax_t> BenchProcesses::agent_binary() {
  for (const char* name : {"stripped/holdfast-edge", "holdfast-edge"}) {
    std::error_code ec;
    const std::uintmax_t bytes = std::filesystem::file_size(own_folder() / name, ec);
    if (!ec) return bytes;
  }
  return fail(Errc::not_found, "holdfast-edge");
}

Result<std::int64_t> kib_of(const std::string& file, std::string_view label) {
  TRY(const std::string text, fs::read_all(file, 1 << 16));
  const std::size_t at = text.find("\n" + std::string(label));
  if (at == std::string::npos) return fail(Errc::invalid, file);
  const std::string_view rest = std::string_view(text).substr(at + 1 + label.size());
  const auto kib = parse_int<std::int64_t>(trim(rest.substr(0, rest.find("kB"))));
  if (!kib) return fail(Errc::invalid, file);
  return *kib;
}

Result<std::int64_t> memory_of(int pid) {
  return kib_of("/proc/" + std::to_string(pid) + "/smaps_rollup", "Pss:");
}

Result<std::int64_t> BenchProcesses::memory() const { return memory_of(children_.pid("edge")); }

Result<std::int64_t> BenchProcesses::peak_memory() const {
  return kib_of("/proc/" + std::to_string(children_.pid("edge")) + "/status", "VmHWM:");
}

Result<std::size_t> BenchProcesses::agent_connections() const {
  std::set<std::string> sockets;  // "socket:[4711]"
  const std::string process = "/proc/" + std::to_string(children_.pid("edge"));
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator(process + "/fd", ec)) {
    sockets.insert(std::filesystem::read_symlink(entry, ec).string());
  }
  // sl local remote state queues timer retransmits uid timeout inode ...
  std::ifstream table(process + "/net/tcp");
  char port[8];
  (void)std::snprintf(port, sizeof port, ":%04X", unsigned{server_->endpoint().at.port});
  std::size_t count = 0;
  for (std::string line; std::getline(table, line);) {
    std::istringstream columns(line);
    const std::vector<std::string> fields{std::istream_iterator<std::string>(columns), {}};
    if (fields.size() < 10) continue;
    const bool there = fields[2].ends_with(port) && fields[3] == "01";  // established
    if (there && sockets.contains("socket:[" + fields[9] + "]")) ++count;
  }
  if (sockets.empty()) return fail(Errc::not_found, process);
  return count;
}

asio::awaitable<void> BenchProcesses::end() {
  (void)co_await children_.end_all(SystemClock().mono() + 5s);
}

}  // namespace holdfast::bench
