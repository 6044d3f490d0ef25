#include "agent/lab/up/command.h"

#include <algorithm>
#include <cstdio>

#include "agent/lab/control/local_service.h"
#include "agent/lab/up/screen.h"
#include "platform/terminal.h"

namespace holdfast::agent::lab::up {
namespace {

using config::Options;

constexpr Duration client_limit = std::chrono::seconds(60);  // a process may have to start

struct CommandKind {
  const char* name;
  const char* action;  // of the request; nullptr: status
  const char* description;
  const char* words;
  std::vector<const char*> flags;
};

const std::vector<CommandKind>& command_kinds() {
  static const std::vector<CommandKind> kinds = {
      {"cut",
       "cut",
       "cut the links of nodes of the running `up`",
       "sites, nodes, cloud or all",
       {"direction", "kind", "for"}},
      {"heal", "heal", "end what damages links", "sites, nodes, cloud or all", {}},
      {"degrade",
       "degrade",
       "give links another quality",
       "sites, nodes or all, and then ethernet, 4g, satellite or nb-iot",
       {"for"}},
      {"kill",
       "kill",
       "kill a process; it is started again, at once or after --for",
       "sites, nodes or all; or cloud or api-server",
       {"process", "for"}},
      {"pause",
       "pause",
       "stop a process (SIGSTOP) until `resume`, or for --for",
       "sites, nodes or all; or cloud or api-server",
       {"process", "for"}},
      {"resume",
       "resume",
       "let a paused process continue",
       "sites, nodes or all; or cloud or api-server",
       {"process"}},
      {"power-loss",
       "power-loss",
       "end everything on nodes at once; they boot again after --for",
       "sites, nodes or all",
       {"for"}},
      {"clock",
       "clock-step",
       "set the wall clock of nodes forward or back",
       "sites, nodes or all, and then by how much: +1h",
       {"by"}},
      {"disk-full", "disk-full", "fill the disks of nodes", "sites, nodes or all", {"for"}},
      {"status", nullptr, "show the running `up` once", nullptr, {"output"}},
  };
  return kinds;
}

struct ClientFlag {
  const char* name;
  std::string ClientSettings::*field;
  const char* help;
};

constexpr ClientFlag client_flags[] = {
    {"direction", &ClientSettings::direction, "up, down or both; empty: both"},
    {"kind", &ClientSettings::kind, "black-hole, refuse or reset; empty: black-hole"},
    {"for", &ClientSettings::duration, "how long it lasts, such as 47m; empty: see above"},
    {"process", &ClientSettings::process, "edge or node-agent; empty: edge"},
    {"by", &ClientSettings::by, "how far the clock jumps, such as --by=-1h"},
    {"output", &ClientSettings::output, "json: print JSON instead of a table"}};

const CommandKind* kind_of(std::string_view name) {
  const auto& kinds = command_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [name](const CommandKind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

void add_client_command(Options& options, const CommandKind& kind, ClientSettings& settings) {
  options.begin_command(kind.name, kind.description);
  if (kind.words != nullptr) options.add_rest("names", settings.words, kind.words);
  for (const char* wanted : kind.flags) {
    for (const ClientFlag& flag : client_flags) {
      if (std::string_view(flag.name) == wanted)
        options.add(flag.name, settings.*flag.field, flag.help);
    }
  }
  options.add("control", settings.control, "address of the running `up`");
}

// Takes the last word, if the flag was not given: "4g" of `degrade a 4g`.
Status take_last(std::vector<std::string>& words, std::string& value, const std::string& what) {
  if (!value.empty()) return {};
  if (words.size() < 2) return fail(Errc::invalid, what);
  value = std::move(words.back());
  words.pop_back();
  return {};
}

LocalServer server_at(const ClientSettings& settings) {
  return {"holdfast-lab up", "--control", settings.control};
}

asio::awaitable<Status> show_status(ClientSettings settings, const Clock& clock) {
  if (!settings.output.empty() && settings.output != "json") {
    co_return fail(Errc::invalid, "-o " + settings.output + ": only json is known");
  }
  const bool as_json = settings.output == "json";
  const bool colours = shows_colours(Terminal::of_stdout());
  std::string target = "/v1/view";
  if (!as_json) target += colours ? "?form=text&colours=true" : "?form=text";
  LocalServer server = server_at(settings);
  CO_TRY(const std::string text, co_await call_local(std::move(server), std::move(target), {},
                                                     clock.mono() + client_limit));
  (void)std::fputs(text.c_str(), stdout);
  Status done;
  co_return done;
}

asio::awaitable<Status> send_request(Request request, ClientSettings settings, const Clock& clock) {
  LocalServer server = server_at(settings);
  std::string body = json_of(request);
  CO_TRY(const std::string text, co_await call_local(std::move(server), "/v1/commands",
                                                     std::move(body), clock.mono() + client_limit));
  CO_TRY(const sync::json::value answer, sync::wire::parse_json(text));
  const auto* object = answer.if_object();
  const auto* done = object == nullptr ? nullptr : object->if_contains("done");
  if (done == nullptr || !done->is_array()) {
    co_return fail(Errc::corrupt, "not an answer of holdfast-lab up");
  }
  for (const sync::json::value& line : done->get_array()) {
    if (!line.is_string()) continue;
    const std::string shown = escape_for_terminal(std::string_view(line.get_string())) + "\n";
    (void)std::fputs(shown.c_str(), stdout);
  }
  Status sent;
  co_return sent;
}

}  // namespace

void add_up_commands(Options& options, UpCommands& commands) {
  add_up_command(options, commands.up);
  for (const CommandKind& kind : command_kinds()) {
    add_client_command(options, kind, commands.client);
  }
}

bool is_up_command(std::string_view name) { return name == "up" || kind_of(name) != nullptr; }

Result<Request> request_of(const std::string& command, const ClientSettings& settings) {
  const CommandKind* kind = kind_of(command);
  if (kind == nullptr || kind->action == nullptr) {
    return fail(Errc::invalid, "\"" + command + "\" is no command to a running cluster");
  }
  Request request{.action = kind->action, .targets = settings.words, .fields = {}};
  const auto set = [&request](const char* key, const std::string& value) {
    if (!value.empty()) request.fields[key] = value;
  };
  if (command == "degrade") {
    std::string link;
    const Status taken = take_last(request.targets, link,
                                   "degrade: name nodes and then the quality of their links, such "
                                   "as `degrade edge-1 4g`");
    if (!taken) return fail(taken.error());
    set("link", link);
  }
  std::string by = settings.by;
  if (command == "clock") {
    const Status taken = take_last(request.targets, by,
                                   "clock: name nodes and then by how much their clocks jump, such "
                                   "as `clock edge-1 +1h`");
    if (!taken) return fail(taken.error());
    if (by.starts_with('+')) by.erase(0, 1);
  }
  if (request.targets.empty()) {
    return fail(Errc::invalid, command + ": name " + std::string(kind->words));
  }
  set("direction", settings.direction);
  set("kind", settings.kind);
  set("process", settings.process);
  set("for", settings.duration);
  set("by", by);
  return request;
}

asio::awaitable<Status> run_up_command(std::string name, UpCommands commands, loop::Stop& stop,
                                       const Clock& clock) {
  if (name == "up") co_return co_await run_up(std::move(commands.up), stop, clock);
  if (name == "status") co_return co_await show_status(std::move(commands.client), clock);
  CO_TRY(Request request, request_of(name, commands.client));
  co_return co_await send_request(std::move(request), std::move(commands.client), clock);
}

}  // namespace holdfast::agent::lab::up
