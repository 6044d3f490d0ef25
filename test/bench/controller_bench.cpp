#include "test/bench/controller_bench.h"

#include <unistd.h>

#include <boost/asio/this_coro.hpp>
#include <cstdio>
#include <filesystem>

#include "agent/lab/cluster/children.h"
#include "platform/fs/file.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "test/bench/fleet.h"
#include "test/bench/table.h"
#include "test/support/kubeconfig.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr Duration settling = 20s;  // two rounds of lease renewals before the measurement
constexpr Duration measuring = 60s;
// As in kube-controller-manager 1.20, whose figures are printed for comparison.
constexpr Duration grace = 40s;

struct Run {
  FleetSize size;
  double memory_budget;  // MB, resident
  double cpu_budget;     // seconds a minute
  Duration marking_budget;
  const char* memory_theirs;
  const char* cpu_theirs;
  const char* marking_theirs;
};

// For comparison: kube-controller-manager 1.20.2 running only nodelifecycle.
constexpr Run runs[] = {
    {{1000, 2000, 300}, 20, 0.25, 1s, "139 MB", "1.16 s", "9 s after the first"},
    {{5000, 20'000, 1500}, 60, 1.5, 3s, "416 MB", "11 s", "over 100 s: 14 a second"}};

struct Usage {
  double resident = 0;  // MB
  double peak = 0;
  double cpu = 0;  // seconds since the process started
};

double field_of(const std::string& status, std::string_view name) {
  const std::size_t at = status.find(name);
  if (at == std::string::npos) return 0;
  const std::string_view rest = trim(std::string_view(status).substr(at + name.size()));
  const auto kib = parse_int<std::int64_t>(rest.substr(0, rest.find(' ')));
  return static_cast<double>(kib.value_or(0)) * 1024 / 1e6;
}

Result<Usage> usage_of(int pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  TRY(const std::string status, fs::read_all(folder + "/status", 1 << 16));
  TRY(const std::string stat, fs::read_all(folder + "/stat", 1 << 16));
  // After the name in brackets; utime and stime are fields 14 and 15 of the whole line.
  const auto fields = split(std::string_view(stat).substr(stat.rfind(')') + 2), ' ');
  if (fields.size() < 13) return fail(Errc::invalid, folder);
  const auto user = parse_int<std::int64_t>(fields[11]).value_or(0);
  const auto system = parse_int<std::int64_t>(fields[12]).value_or(0);
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return Usage{field_of(status, "VmRSS:"), field_of(status, "VmHWM:"),
               static_cast<double>(user + system) / ticks};
}

std::string number(const char* format, double value) {
  char text[64];
  (void)std::snprintf(text, sizeof text, format, value);
  return text;
}

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

// The processes of one run: an API server and a controller.
class Stage {
 public:
  explicit Stage(std::filesystem::path data)
      : data_(std::move(data)),
        children_(std::filesystem::read_symlink("/proc/self/exe").parent_path(), data_, clock_) {}

  asio::awaitable<Result<std::uint16_t>> start_server() {
    auto started = children_.start("apiserver", "holdfast-lab",
                                   {"apiserver", "--listen=127.0.0.1:0", "--controllers=false",
                                    "--data=" + (data_ / "server").string()});
    if (!started) co_return fail(started.error());
    const MonoTime deadline = SystemClock().mono() + 20s;
    CO_TRY(const std::string address,
           co_await children_.logged("apiserver", "apiserver listening", "address", deadline));
    const auto port = parse_int<std::uint16_t>(address.substr(address.rfind(':') + 1));
    if (!port) co_return fail(Errc::invalid, "no port in \"" + address + "\"");
    (void)test::write_kubeconfig(data_ / "kubeconfig", "http://127.0.0.1:" + std::to_string(*port));
    co_return *port;
  }

  asio::awaitable<Status> start_controller() {
    auto started = children_.start("cloud", "holdfast-cloud",
                                   {"--kubeconfig=" + (data_ / "kubeconfig").string(),
                                    "--node-monitor-grace-period=40s", "--secure-port=0"});
    if (!started) co_return fail(started.error());
    const MonoTime deadline = SystemClock().mono() + 60s;
    const auto logged = co_await children_.logged("cloud", "started", "nodes", deadline);
    Status done;
    if (!logged) co_return fail(logged.error());
    co_return done;
  }

  [[nodiscard]] Result<Usage> usage() const { return usage_of(children_.pid("cloud")); }
  asio::awaitable<void> end() { (void)co_await children_.end_all(SystemClock().mono() + 10s); }

 private:
  std::filesystem::path data_;
  SystemClock clock_;
  agent::lab::cluster::Children children_;
};

// Returns whether all budgets were kept.
asio::awaitable<Result<bool>> measure(Stage& stage, Fleet& fleet, const Run& run) {
  Status done = co_await fleet.create();
  if (!done) co_return fail("create objects", done.error());
  fleet.start();
  done = co_await stage.start_controller();
  if (!done) co_return fail(done.error());
  co_await loop::wait_for(settling);
  CO_TRY(const Usage before, stage.usage());
  const int renewals = fleet.renewals();
  co_await loop::wait_for(measuring);
  CO_TRY(const Usage after, stage.usage());
  const double rate = (fleet.renewals() - renewals) / seconds(measuring);
  const MonoTime silent = co_await fleet.silence();
  CO_TRY(const Fleet::Marked marked, co_await fleet.wait_until_marked(silent + grace + 80s));
  CO_TRY(const Usage end, stage.usage());

  const double cpu = (after.cpu - before.cpu) / seconds(measuring) * 60;
  const std::string scale =
      std::to_string(run.size.nodes) + " nodes, " + std::to_string(run.size.pods) + " pods: ";
  print(scale + "memory", number("%.1f MB", after.resident) + number(" (peak %.1f)", after.peak),
        number("%.0f MB", run.memory_budget), run.memory_theirs);
  print(scale + "CPU a minute", number("%.2f s", cpu), number("%.2f s", run.cpu_budget),
        run.cpu_theirs);
  const std::string them = std::to_string(run.size.silent) + " silent: ";
  print(them + "first Unknown after", number("%.1f s", seconds(marked.first - silent)),
        number("%.0f s and a pass", seconds(grace)), "30 to 42 s");
  const std::string budget = number("%.0f s", seconds(run.marking_budget));
  print(them + "last status, after the first",
        number("%.2f s", seconds(marked.last_status - marked.first)), budget, "");
  print(them + "last taint, after the first status",
        number("%.2f s", seconds(marked.last_taint - marked.first)), budget, run.marking_theirs);
  print(them + "status to taint of one node, at most",
        number("%.2f s", seconds(marked.longest_untainted)), "", "");
  print(them + "memory and CPU of these transitions",
        number("%.1f MB", end.resident) + number(", %.2f s", end.cpu - after.cpu), "", "");
  // The actual load: if the server did not keep up, the figures above do not count.
  const double wanted = run.size.nodes / 10.0;
  print(scale + "renewals a second", number("%.0f", rate), number("%.0f", wanted), "");
  if (fleet.failures() > 0)
    print("renewals that failed", std::to_string(fleet.failures()), "0", "");
  const bool fast = marked.last_taint - marked.first <= run.marking_budget;
  const bool small = after.resident <= run.memory_budget;
  const bool cheap = cpu <= run.cpu_budget;
  const bool kept = fast && small && cheap && rate >= wanted * 0.98;
  co_return kept;
}

asio::awaitable<Result<bool>> perform(asio::any_io_executor executor, std::filesystem::path data,
                                      const Run& run) {
  Stage stage(std::move(data));
  const auto port = co_await stage.start_server();
  if (!port) {
    co_await stage.end();
    co_return fail(port.error());
  }
  Fleet fleet(executor, *port, run.size);
  auto kept = co_await measure(stage, fleet, run);
  co_await fleet.stop();
  co_await stage.end();
  co_return kept;
}

}  // namespace

asio::awaitable<int> measure_controller(loop::Stop&) {
  print("what", "holdfast-cloud", "budget", "kube-controller-manager 1.20.2");
  int code = 0;
  for (const Run& run : runs) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "holdfast-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) co_return 1;
    const auto executor = co_await asio::this_coro::executor;
    const auto kept = co_await perform(executor, pattern, run);
    std::error_code ignored;
    std::filesystem::remove_all(pattern, ignored);
    if (!kept) {
      (void)std::fprintf(stderr, "holdfast-bench: %s\n", kept.error().what.c_str());
      co_return 1;
    }
    if (!*kept) code = 1;
  }
  co_return code;
}

}  // namespace holdfast::bench
