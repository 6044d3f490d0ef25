#include "agent/lab/demo/demo.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <filesystem>

#include "agent/lab/demo/constants.h"
#include "agent/lab/demo/report.h"
#include "agent/lab/demo/script.h"
#include "platform/fs/file.h"
#include "platform/log.h"
#include "platform/proc/notify.h"
#include "platform/text.h"

namespace holdfast::agent::demo {
namespace {

Result<std::filesystem::path> make_data_dir(const std::string& wanted) {
  if (!wanted.empty()) {
    if (auto made = fs::ensure_dir(wanted); !made) return fail(made.error());
    return std::filesystem::absolute(wanted);
  }
  const std::string tmp = proc::system_environment("TMPDIR").value_or("/tmp");
  std::string name = tmp + "/holdfast-demo-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return fail(Errc::unavailable, "no directory in " + tmp);
  return std::filesystem::path(name);
}

std::string listed(const Flags& flags) { return join(as_arguments(flags), " "); }

void introduce(Screen& screen, const std::filesystem::path& data) {
  screen.title("Holdfast demo: cut the link and the pods stay");
  screen.why("Every process is real; time constants are shortened:");
  screen.why("holdfast-edge   " + listed(edge_constants()));
  screen.why("holdfast-node   " + listed(node_constants()));
  screen.why("holdfast-cloud  " + listed(cloud_constants()));
  screen.why("the Deployment's pods tolerate an unreachable node for " +
             std::string(eviction_patience) + "s");
  screen.why("logs and data: " + data.string());
}

Status write_report(const std::filesystem::path& file, const std::string& page) {
  const auto folder = std::filesystem::absolute(file).parent_path();
  if (auto made = fs::ensure_dir(folder, 0755); !made) return made;
  return fs::atomic_write(file, page, 0644);
}

int conclude(Screen& screen, const Recorder& recorder, const DemoSetup& setup, const Status& played,
             const DemoSettings& settings) {
  auto results = run_checks(recorder.history(), setup);
  results.push_back(
      {"The demo runs to its end", played.has_value(), played ? "" : played.error().what});
  screen.title("Results");
  for (const CheckResult& result : results) screen.result(result);
  const Status written =
      write_report(settings.report, report_page(recorder.history(), setup, results));
  const bool held = std::all_of(results.begin(), results.end(),
                                [](const CheckResult& result) { return result.held; });
  screen.title(held ? "Every promise held." : "A promise was broken.");
  if (written) {
    screen.why("report: " + std::filesystem::absolute(settings.report).string());
  } else {
    screen.why("report not written: " + written.error().what);
  }
  return held && written ? 0 : 1;
}

}  // namespace

boost::asio::awaitable<int> run_demo(DemoSettings settings, loop::Stop& stop, const Clock& clock) {
  set_log_level(LogLevel::error);  // Only errors: the screen shows the script.
  const auto executor = co_await boost::asio::this_coro::executor;
  Screen screen;
  const auto data = make_data_dir(settings.data);
  if (!data) {
    screen.why(data.error().what);
    co_return 1;
  }
  introduce(screen, *data);
  DemoSetup setup;
  Recorder recorder(executor);
  DemoProcesses processes(executor, *data, setup, clock, recorder);
  DemoScript script(setup, processes, recorder, screen, stop);
  const Status played = co_await script.play();
  if (!played) screen.say(recorder.now(), "FAILED: " + played.error().what);
  co_await processes.stop_watching();
  recorder.history().left_running = co_await processes.end();
  recorder.history().abnormal_exits = processes.abnormal_exits();
  screen.say(recorder.now(), "all processes have ended");
  const int code = conclude(screen, recorder, setup, played, settings);
  if (code == 0 && settings.data.empty()) {
    (void)fs::remove_tree(*data);
  } else {
    screen.why("logs and data are kept: " + data->string());
  }
  co_return code;
}

}  // namespace holdfast::agent::demo
