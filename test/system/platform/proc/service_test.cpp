#include "platform/proc/service.h"

#include "platform/log.h"

namespace holdfast::proc {
namespace {

// A service that stops by itself as soon as it runs.
struct Brief final : Service {
  Brief(loop::Stop& end, Status begin, Status finish)
      : stop_(end), started_(std::move(begin)), final_status_(std::move(finish)) {}

  Status start() override {
    if (started_) stop_.request();
    return started_;
  }
  asio::awaitable<void> stop(MonoTime /*deadline*/) override {
    ++stopped;
    co_return;
  }
  [[nodiscard]] Status final_status() const override { return final_status_; }

  inline static int stopped = 0;

 private:
  loop::Stop& stop_;
  Status started_;
  Status final_status_;
};

struct Run {
  std::vector<const char*> flags = {};
  Status check = {};
  Status make = {};
  Status start = {};
  Status final_status = {};
};

int exit_code(const Run& run) {
  std::string level = "off";
  std::vector<const char*> arguments = run.flags;
  arguments.insert(arguments.begin(), "brief");
  const ServiceMain main{
      .name = "brief",
      .description = "Ends at once.",
      .log_level = &level,
      .add_options = [&level](config::Options& options) { options.add("log-level", level, ""); },
      .check = [&run] { return run.check; },
      .make = [&run](asio::any_io_executor, loop::Stop& stop,
                     const Clock&) -> Result<std::unique_ptr<Service>> {
        if (!run.make) return fail(run.make.error());
        return std::make_unique<Brief>(stop, run.start, run.final_status);
      }};
  Brief::stopped = 0;
  const int code =
      run_service(main, SystemClock(), static_cast<int>(arguments.size()), arguments.data());
  set_log_level(LogLevel::info);
  return code;
}

TEST(ServiceMain, ItsExitCodeSaysHowItWent) {
  const Status bad = fail(Errc::invalid, "bad");
  EXPECT_EQ(exit_code({}), 0);
  EXPECT_EQ(Brief::stopped, 1);
  EXPECT_EQ(exit_code({.flags = {"--help"}}), 0);
  EXPECT_EQ(exit_code({.flags = {"--no-such-flag"}}), 2);
  EXPECT_EQ(exit_code({.flags = {"--log-level=loud"}}), 2);
  EXPECT_EQ(exit_code({.check = bad}), 2);
  EXPECT_EQ(exit_code({.make = bad}), 2);
  EXPECT_EQ(Brief::stopped, 0);
  EXPECT_EQ(exit_code({.start = bad}), 2);
  EXPECT_EQ(Brief::stopped, 1);
  EXPECT_EQ(exit_code({.final_status = bad}), 1);
  EXPECT_EQ(Brief::stopped, 1);
}

}  // namespace
}  // namespace holdfast::proc
