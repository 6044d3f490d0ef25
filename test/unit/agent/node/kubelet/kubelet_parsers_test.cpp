// What callers of the kubelet's API send: paths, options, messages, headers of streams; and which
// container they mean.

#include "agent/node/kubelet/container_choice.h"
#include "agent/node/kubelet/exec_protocol.h"
#include "agent/node/kubelet/kubelet_call.h"
#include "agent/node/kubelet/pod_ports.h"
#include "agent/node/kubelet/port_forward.h"
#include "agent/node/kubelet/spdy_exec.h"

#include <gtest/gtest.h>

namespace holdfast::agent::node {
namespace {

using sync::runtime::Attempt;
using sync::runtime::AttemptState;
using sync::runtime::ContainerExit;

TEST(KubeletCall, IsParsedFromThePath) {
  const struct {
    const char* target;
    const char* call;  // the parts, or the status
  } rows[] = {
      {"/containerLogs/ns/pod/c?follow=true", "containerLogs ns pod c"},
      {"/exec/ns/pod/c?command=ls", "exec ns pod c"},
      {"/portForward/ns/pod", "portForward ns pod "},
      {"/exec/ns/a%2Fb/c", "exec ns a/b c"},
      {"/exec/ns/pod", "404"},
      {"/exec/ns/pod/uid/c", "404"},
      {"/portForward/ns/pod/c", "404"},
      {"/run/ns/pod/c", "404"},
      {"/", "404"},
      {"*", "404"},
      {"", "404"},
      {"/exec/ns/%zz/c", "400"},
      {"/exec/ns/pod/c?a=%zz", "400"},
  };
  for (const auto& row : rows) {
    const auto call = parse_kubelet_call({.target = row.target});
    const std::string seen =
        call ? call->verb + " " + call->name_space + " " + call->pod + " " + call->container
             : std::to_string(call.error().status);
    EXPECT_EQ(seen, row.call) << row.target;
  }
}

TEST(KubeletCall, SpdyNeedsItsProtocol) {
  const auto status = [](http::Headers headers) {
    const auto checked = check_spdy({.headers = std::move(headers)}, "x");
    return checked ? 101 : checked.error().status;
  };
  EXPECT_EQ(status({}), 400);
  EXPECT_EQ(status({{"Upgrade", "h2c"}}), 400);
  EXPECT_EQ(status({{"Upgrade", "SPDY/3.1"}}), 403);
  EXPECT_EQ(status({{"Upgrade", "SPDY/3.1"}, {"X-Stream-Protocol-Version", "y"}}), 403);
  EXPECT_EQ(status({{"Upgrade", "SPDY/3.1"}, {"X-Stream-Protocol-Version", "y, x"}}), 101);
}

TEST(ExecOptionsOf, NeedACommandAndAStream) {
  const auto text = [](const char* query) {
    const auto read = parse_exec_options(*Query::parse(query));
    if (!read) return std::to_string(read.error().status) + " " + read.error().message;
    std::string shown;
    for (const std::string& word : read->command) shown += word + " ";
    if (read->input) shown += "i";
    if (read->output) shown += "o";
    if (read->error) shown += "e";
    if (read->terminal) shown += "t";
    return shown;
  };
  EXPECT_EQ(text("command=sh&command=-c&command=a+b&output=1&error=1"), "sh -c a b oe");
  EXPECT_EQ(text("command=sh&input=1&output=1&error=1&tty=1"), "sh iot");
  EXPECT_EQ(text("command=sh"), "400 you must specify at least 1 of stdin, stdout, stderr");
  EXPECT_EQ(text("output=1"), "400 you must specify a command");
  EXPECT_EQ(text("command=&output=1"), "400 you must specify a command");
}

TEST(ExecMessages, AreReadByChannel) {
  using enum ExecInput::Kind;
  using namespace std::string_literals;
  const struct {
    std::string message;
    ExecInput input;
  } rows[] = {
      {"\0abc"s, {.kind = bytes, .bytes = "abc"}},
      {"\0"s, {}},
      {"\xff\0"s, {.kind = end}},
      {"\xff\1"s, {}},
      {"\xff"s, {}},
      {"\4{\"Width\":80,\"Height\":24}", {.kind = resize, .size = {80, 24}}},
      {"\4{}", {.kind = resize}},
      {"\4", {}},
  };
  for (const auto& row : rows) {
    const auto read = parse_exec_message(row.message);
    ASSERT_TRUE(read) << row.message;
    EXPECT_EQ(*read, row.input) << row.message;
  }
  for (const std::string& broken : {""s, "\1x"s, "\3x"s, "\x63x"s, "\4x"s, "\4[]"s,
                                    "\4{\"Width\":99999}"s, "\4{\"Height\":-1}"s}) {
    EXPECT_FALSE(parse_exec_message(broken)) << broken;
  }
}

TEST(ExecStatus, HasTheExitCodeAsTheKubeletSaysIt) {
  const ExecOptions options{.command = {"sh", "-c", "exit 3"}};
  EXPECT_EQ(exit_status_json(options, {false, 0}), R"({"metadata":{},"status":"Success"})");
  const std::string failed = exit_status_json(options, {false, 3});
  EXPECT_NE(failed.find(R"("reason":"NonZeroExitCode")"), std::string::npos) << failed;
  EXPECT_NE(failed.find(R"({"reason":"ExitCode","message":"3"})"), std::string::npos) << failed;
  EXPECT_NE(exit_status_json(options, {true, 9}).find("exit code 137"), std::string::npos);
}

TEST(ExecSizes, AreTakenOneAfterTheOther) {
  std::string text = R"({"Width":1,"Height":2}{"Width":3,"Height":4}
{"Wid)";
  const auto sizes = take_sizes(text);
  ASSERT_TRUE(sizes);
  EXPECT_EQ(*sizes, (std::vector<TerminalSize>{{1, 2}, {3, 4}}));
  EXPECT_EQ(text, "\n{\"Wid");
  text = std::string(2000, ' ');
  EXPECT_FALSE(take_sizes(text)) << "without an end";
  text = "x}";
  EXPECT_FALSE(take_sizes(text));
}

TEST(ForwardStreams, AreKnownByTheirHeaders) {
  const auto text = [](const http::Headers& headers) {
    const auto read = parse_forward_stream(headers);
    if (!read) return read.error().what;
    return std::string(read->is_error ? "error " : "data ") + std::to_string(read->port) + " " +
           read->request;
  };
  EXPECT_EQ(text({{"streamtype", "error"}, {"port", "80"}, {"requestid", "7"}}), "error 80 7");
  EXPECT_EQ(text({{"streamtype", "data"}, {"port", "65535"}}), "data 65535 ");
  EXPECT_EQ(text({{"port", "80"}}), "streamType \"\" is not error or data");
  EXPECT_EQ(text({{"streamtype", "x"}, {"port", "80"}}), "streamType \"x\" is not error or data");
  for (const char* port : {"", "0", "-1", "65536", "8x"}) {
    EXPECT_EQ(text({{"streamtype", "data"}, {"port", port}}),
              "port \"" + std::string(port) + "\" is not from 1 to 65535");
  }
}

TEST(PodPorts, AreFoundInTheKernelsTables) {
  constexpr std::string_view ipv4 =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "101 1 0\n"
      "   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "102 1 0\n"
      "   2: 0200007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "103 1 0\n"
      "   3: 0100007F:1F90 0100007F:1234 01 00000000:00000000 00:00000000 00000000     0        0 "
      "104 1 0\n"
      "   4: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "105 1 0\n"
      "   5: 0A00000A:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "106 1 0\n"
      "   6: broken\n"
      "   7: 0100007F 00000000:0000 0A x x x x x x\n";
  EXPECT_EQ(
      listening_sockets(ipv4, 8080),
      (std::vector<ListeningSocket>{{"127.0.0.1", 101}, {"127.0.0.1", 102}, {"127.0.0.2", 103}}));
  constexpr std::string_view ipv6 =
      "   0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 00:00000000 00000000     0        0 201 1 0\n"
      "   1: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 00:00000000 00000000     0        0 202 1 0\n";
  EXPECT_EQ(listening_sockets(ipv6, 8080),
            (std::vector<ListeningSocket>{{"::1", 201}, {"::1", 202}}));
  EXPECT_EQ(listening_sockets("", 8080), std::vector<ListeningSocket>());
  EXPECT_EQ(address_of_listener(1, {}), std::nullopt);
}

// The attempt that is chosen, or the refusal.
std::string text_of(const KubeletAnswer<std::int32_t>& chosen) {
  return chosen ? std::to_string(*chosen)
                : std::to_string(chosen.error().status) + " " + chosen.error().message;
}

Attempt attempt(std::int32_t number, AttemptState state,
                ContainerExit exit = {ContainerExit::Kind::code, 0, ""}) {
  Attempt made;
  made.number = number;
  made.state = state;
  made.exit = std::move(exit);
  return made;
}

TEST(ContainerChoice, IsTheRunThatTheKubeletWouldShow) {
  using enum AttemptState;
  const ContainerExit failed{ContainerExit::Kind::failed, 0, ""};
  const ContainerExit code_1{ContainerExit::Kind::code, 1, ""};
  const std::string waiting =
      "400 container \"c\" in pod \"p\" is waiting to start: ContainerCreating";
  const std::string none = "400 previous terminated container \"c\" in pod \"p\" not found";
  const std::string gone = "500 container not found (\"c\")";
  const struct {
    const char* policy;
    sync::runtime::Attempts attempts;
    std::string log;
    std::string previous;
    std::string running;
  } rows[] = {
      {"Always", {}, waiting, none, gone},
      {"Always", {attempt(0, created)}, waiting, none, gone},
      {"Always", {attempt(0, ended, failed)}, waiting, none, gone},
      {"Always", {attempt(0, running)}, "0", none, "0"},
      {"Always", {attempt(0, ended), attempt(1, running)}, "1", "0", "1"},
      {"Always",
       {attempt(0, ended), attempt(1, ended, failed), attempt(2, running)},
       "2",
       "0",
       "2"},
      {"Always", {attempt(0, ended), attempt(1, ended)}, "1", "1", gone},
      {"Never", {attempt(0, ended)}, "0", none, gone},
      {"OnFailure", {attempt(0, ended, code_1)}, "0", "0", gone},
      {"OnFailure", {attempt(0, ended, code_1), attempt(1, ended)}, "1", "0", gone},
  };
  for (const auto& row : rows) {
    sync::Pod pod;
    pod.metadata.name = "p";
    pod.spec.restart_policy = row.policy;
    pod.spec.containers.emplace_back().name = "c";
    const sync::runtime::ObservedPod observed = {{"c", row.attempts}};
    const std::string where = std::string(row.policy) + std::to_string(row.attempts.size());
    EXPECT_EQ(text_of(choose_log(pod, &observed, "c", false)), row.log) << where;
    EXPECT_EQ(text_of(choose_log(pod, &observed, "c", true)), row.previous) << where;
    EXPECT_EQ(text_of(choose_running(pod, &observed, "c")), row.running) << where;
    EXPECT_EQ(text_of(choose_log(pod, &observed, "x", false)),
              "404 container \"x\" not found in pod \"p\"");
  }
  EXPECT_EQ(text_of(choose_running({}, nullptr, "c")), "404 container not found (\"c\")");
}

}  // namespace
}  // namespace holdfast::agent::node
