// holdfastctl: shows the status, cache and journal of an edge agent, running or stopped.

#include <cstdio>
#include <string_view>
#include <vector>

#include "agent/ctl/rekey.h"
#include "agent/ctl/show.h"
#include "agent/ctl/source.h"
#include "platform/config/options.h"
#include "platform/log.h"
#include "platform/loop/program.h"
#include "platform/terminal.h"

namespace holdfast::agent {
namespace {

struct Settings {
  std::string data_dir = "/var/lib/holdfast";
  std::string cache_key_file;
  std::string resource = "pods";
  std::string subject;
  std::string kind;
  std::string name;  // NAMESPACE/NAME
  bool json = false;
  std::string output;  // "json" or ""
  RekeySettings rekey;
};

int refuse(const Error& error) {
  const std::string what = escape_for_terminal(error.what, LineEnds::kept);
  (void)std::fprintf(stderr, "holdfastctl: %s\n", what.c_str());
  return error.code == Errc::invalid ? 2 : 1;
}

int print(const Result<std::string>& text) {
  if (!text) return refuse(text.error());
  const std::string safe = escape_for_terminal(*text, LineEnds::kept);
  (void)std::fputs(safe.c_str(), stdout);
  return 0;
}

asio::awaitable<Result<std::string>> explain(Source& source, std::string name) {
  const std::size_t slash = name.find('/');
  const std::string space = slash == std::string::npos ? "default" : name.substr(0, slash);
  if (slash != std::string::npos) name.erase(0, slash + 1);
  CO_TRY(const std::string status, co_await source.status());
  CO_TRY(const std::string pods, co_await source.objects("pods"));
  std::string subject = "pods/" + space + "/" + name;
  CO_TRY(const std::string journal, co_await source.journal(std::move(subject)));
  co_return explain_pod(space, name, {.status = status, .pods = pods, .journal = journal});
}

asio::awaitable<Result<std::string>> answer(Source& source, const std::string& command,
                                            const Settings& settings) {
  if (command == "explain") co_return co_await explain(source, settings.name);
  if (command == "status") {
    CO_TRY(std::string status, co_await source.status());
    if (settings.json) co_return show_json(status);
    co_return show_status(status);
  }
  if (command == "objects") {
    CO_TRY(std::string objects, co_await source.objects(settings.resource));
    if (settings.json) co_return show_json(objects);
    co_return show_objects(objects);
  }
  CO_TRY(std::string journal, co_await source.journal(settings.subject));
  if (settings.json) co_return show_json(journal);
  co_return show_journal(journal);
}

// Returns the exit code: 0 all pods would come back, 1 some would not, 2 unknown.
asio::awaitable<int> serve_ready(const Settings& settings, const Clock& clock) {
  auto source = open_source(settings.data_dir, settings.cache_key_file, clock);
  Result<std::string> document = fail(Errc::cancelled, "");
  if (source) {
    document = co_await (*source)->ready();
  } else {
    document = fail(source.error());
  }
  Result<std::string> text = document;
  if (document) text = settings.json ? show_json(*document) : show_ready(*document);
  (void)print(text);
  co_return text ? exit_code_of_ready(*document) : 2;
}

asio::awaitable<int> serve(const std::string& command, const Settings& settings,
                           const Clock& clock) {
  auto source = open_source(settings.data_dir, settings.cache_key_file, clock);
  if (!source) co_return refuse(source.error());
  const auto text = co_await answer(**source, command, settings);
  co_return print(text);
}

// Replaces kubectl's "-o json" by the long flag, because Options has no short flags.
std::vector<const char*> with_long_output(int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  for (const char*& word : words) {
    if (std::string_view(word) == "-o") word = "--output";
    if (std::string_view(word) == "-ojson") word = "--output=json";
  }
  return words;
}

int run(const Clock& clock, int argc, const char* const* argv) {
  Settings settings;
  config::Options options(
      "holdfastctl", "Shows the status, cache and journal of an edge agent, running or stopped.");
  options.add("data-dir", settings.data_dir, "the agent's data directory");
  options.add("cache-key-file", settings.cache_key_file,
              "key file of an encrypted cache; needed if the agent does not run");
  options.add("json", settings.json, "print the document instead of a table");
  options.begin_command("status", "state of the link, the outbox and the cache");
  options.begin_command("objects", "list cached objects");
  options.add("resource", settings.resource, "resource to list: pods, nodes, configmaps, ...");
  options.begin_command("journal", "list the agent's decisions and their reasons");
  options.add("subject", settings.subject, "only entries about one object: pods/NAMESPACE/NAME");
  options.begin_command("explain", "explain the state of a pod");
  options.add_positional("kind", settings.kind, "pod");
  options.add_positional("name", settings.name, "NAMESPACE/NAME");
  options.begin_command("ready",
                        "list the pods that would come back after a reboot without the cloud; exit "
                        "code 0: all, 1: not all, 2: unknown");
  options.add("output", settings.output, "-o json: print the document instead of a table");
  options.begin_command("rekey", "re-encrypt the cache of a stopped agent with another key");
  options.add("old-key-file", settings.rekey.old_key_file,
              "current key of the cache; empty: encrypt only data that is not encrypted yet");
  options.add("new-key-file", settings.rekey.new_key_file,
              "new key: file of 32 bytes, raw or in base64");
  const std::vector<const char*> words = with_long_output(argc, argv);
  const auto parsed = options.parse(static_cast<int>(words.size()), words.data());
  if (!parsed) return refuse(parsed.error());
  if (!parsed->to_print.empty()) return print(parsed->to_print);
  if (settings.data_dir.empty()) return refuse({Errc::invalid, "--data-dir is empty", {}});
  if (parsed->command == "explain" && settings.kind != "pod") {
    return refuse({Errc::invalid, "only pods can be explained, not \"" + settings.kind + "\""});
  }
  if (!settings.output.empty() && settings.output != "json") {
    return refuse({Errc::invalid, "--output: \"" + settings.output + "\" is not json"});
  }
  settings.json = settings.json || settings.output == "json";
  set_log_level(LogLevel::warn);
  const std::string command = parsed->command;
  if (command == "rekey") {
    settings.rekey.data_dir = settings.data_dir;
    return print(rekey(settings.rekey));
  }
  if (command == "ready") {
    return loop::run(clock,
                     [&settings, &clock](loop::Stop&) { return serve_ready(settings, clock); });
  }
  return loop::run(clock, [&command, &settings, &clock](loop::Stop&) {
    return serve(command, settings, clock);
  });
}

}  // namespace
}  // namespace holdfast::agent

int main(int argc, char** argv) {
  const holdfast::SystemClock clock;
  return holdfast::agent::run(clock, argc, argv);
}
