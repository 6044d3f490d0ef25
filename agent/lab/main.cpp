// holdfast-lab: a control plane small enough for a laptop, and what is played with it.

#include <cstdio>

#include "agent/lab/apiserver/serve.h"
#include "agent/lab/demo/demo.h"
#include "platform/config/options.h"
#include "platform/log.h"
#include "platform/loop/program.h"

namespace {

using holdfast::agent::demo::DemoSettings;
using holdfast::agent::lab::ServeSettings;
using holdfast::config::Options;

int failed(const holdfast::Error& error) {
  (void)std::fprintf(stderr, "holdfast-lab: %s\n", error.what.c_str());
  return 1;
}

boost::asio::awaitable<int> run_apiserver(ServeSettings settings, holdfast::loop::Stop& stop) {
  const holdfast::Status served = co_await holdfast::agent::lab::serve(std::move(settings), stop);
  if (served) co_return 0;
  const int code = failed(served.error());
  co_return code;
}

void add_apiserver(Options& options, ServeSettings& settings) {
  options.begin_command("apiserver", "serves the Kubernetes API from one SQLite file");
  options.add("listen", settings.listen, "address and port to listen on");
  options.add("data", settings.data, "directory of the database");
  options.add("tls-dir", settings.tls_dir,
              "directory with server.crt, server.key, ca.crt for client certificates and ca.key to "
              "sign nodes' certificates with; in an empty one they are made");
  options.add("certificate-lifetime", settings.certificate_lifetime,
              "of the certificates that are signed");
  options.add(
      "token-file", settings.token_file,
      "lines of token,user,uid,\"groups\"; without it everybody may do everything, and only "
      "loopback addresses are served");
  options.add("node-authorizer", settings.node_authorizer,
              "with --token-file: nodes may do what Kubernetes 1.36 lets them, and no more (Node "
              "authorizer, NodeRestriction); false lets them read everything");
  options.add("audit-log-path", settings.audit_log_path,
              "file to which a line is added for every request; empty: none");
  options.add("controllers", settings.controllers,
              "run the built-in controllers: deployments, daemon sets, scheduling, cleaning up");
  options.add("scheduler", settings.scheduler,
              "with them: place the pods of default-scheduler; false leaves them to holdfast-cloud "
              "--controllers=scheduler --scheduler-name=default-scheduler");
}

void add_demo(Options& options, DemoSettings& settings) {
  options.begin_command("demo",
                        "cuts the link between a cloud and its nodes, and shows what stays");
  options.add("report", settings.report, "the page that is written at the end");
  options.add("data", settings.data, "directory for data and logs; empty: a temporary one");
}

int serve(const ServeSettings& settings) {
  if (settings.data.empty()) return failed({holdfast::Errc::invalid, "--data is missing", {}});
  return holdfast::loop::run(
      [&settings](holdfast::loop::Stop& stop) { return run_apiserver(settings, stop); });
}

}  // namespace

int main(int argc, char** argv) {
  ServeSettings apiserver;
  DemoSettings demo;
  Options options("holdfast-lab", "a control plane for a laptop, and what is played with it");
  add_apiserver(options, apiserver);
  add_demo(options, demo);
  const auto parsed = options.parse(argc, argv);
  if (!parsed) return failed(parsed.error());
  if (!parsed->to_print.empty()) {
    (void)std::fputs(parsed->to_print.c_str(), stdout);
    return 0;
  }
  if (parsed->command == "demo") {
    return holdfast::loop::run([&demo](holdfast::loop::Stop& stop) {
      return holdfast::agent::demo::run_demo(demo, stop);
    });
  }
  return serve(apiserver);
}
