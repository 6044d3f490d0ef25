#include "platform/config/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "platform/check.h"
#include "platform/config/yaml_file.h"
#include "platform/text.h"
#include "platform/version.h"

namespace holdfast::config {
namespace {

using Words = std::vector<std::string>;

// Parses an option's words into its field. The error says only what is wrong with them; the caller
// adds the flag's name or the file and line.
using Setter = std::function<Status(const Words&)>;

struct Option {
  Setter set;
  CLI::Option* flag = nullptr;
};

// For options that take exactly one word, which `read` turns into a value.
template <class T, class Read>
Setter one_word(T& field, Read read) {
  return [&field, read](const Words& words) -> Status {
    if (words.size() != 1) return fail(Errc::invalid, "one value expected");
    TRY(field, read(words.front()));
    return {};
  };
}

template <class T>
Result<T> read_integer(const std::string& word) {
  const auto value = parse_int<T>(word);
  if (!value) return fail(Errc::invalid, "not a whole number: \"" + word + "\"");
  return *value;
}

Result<double> read_double(const std::string& word) {
  double value = 0;
  const auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (ec == std::errc{} && end == word.data() + word.size()) return value;
  return fail(Errc::invalid, "not a number: \"" + word + "\"");
}

Result<bool> read_bool(const std::string& word) {
  if (word == "true" || word == "false") return word == "true";
  return fail(Errc::invalid, "neither true nor false: \"" + word + "\"");
}

Result<std::string> read_text(const std::string& word) { return word; }

Result<Duration> read_duration(const std::string& word) { return parse_duration(word); }

// The arguments without the program's name, in reverse order, as CLI11 expects them. CLI11 reports
// the value of "--flag=" as missing, so it is passed on as "--flag" and an empty word. Words after
// "--" are not flags.
// Errors: invalid for "--switch=" when it is one of `switches`, because CLI11 accepts the value of
// a switch only in the same word.
Result<Words> words_of(int argc, const char* const* argv, const std::set<std::string>& switches) {
  Words words;
  bool flags = true;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    flags = flags && word != "--";
    const bool empty = flags && word.starts_with("--") && word.find('=') == word.size() - 1;
    if (empty) word.pop_back();
    if (empty && switches.contains(word)) return fail(word, read_bool("").error());
    words.push_back(std::move(word));
    if (empty) words.emplace_back();
  }
  std::reverse(words.begin(), words.end());
  return words;
}

Status set_list(Words& field, const Words& words) {
  field.clear();
  for (const std::string& word : words) {
    for (const std::string_view part : split(word, ',')) {
      if (!trim(part).empty()) field.emplace_back(trim(part));
    }
  }
  return {};
}

}  // namespace

struct Options::Impl {
  Impl(std::string program, std::string description)
      : app(std::move(description), std::move(program)), current(&app) {
    app.set_version_flag("--version", std::string(version));
    app.add_option("--config", config_file, "YAML file with the same names as the flags");
  }

  using Group = std::map<std::string, Option>;

  void add(const std::string& name, std::string shown, std::string help, Setter set,
           bool is_list = false) {
    CLI::Option* flag = current->add_option_function<Words>(
        "--" + name, [](const Words&) {}, std::move(help));
    flag->default_str(std::move(shown))->expected(1);
    flag->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    // Otherwise CLI11 also takes the arguments without a flag that follow the value.
    flag->allow_extra_args(is_list);
    groups[current->get_name()][name] = {std::move(set), flag};
  }

  // CLI11 leaves an option with an empty group out of the help.
  void retire(const std::string& name, std::string advice) {
    CLI::Option* flag = current->add_option_function<Words>("--" + name, [](const Words&) {});
    flag->expected(0, 1)->group("");
    flag->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    const Setter refuse = [advice = std::move(advice)](const Words&) -> Status {
      return fail(Errc::invalid, advice);
    };
    groups[current->get_name()][name] = {refuse, flag};
  }

  // As klog's -v, a flag of one letter has a short form.
  void ignore(const std::string& name, bool takes_value, Words& given) {
    const std::string shown = "--" + name;
    const std::string names = name.size() == 1 ? "-" + name + "," + shown : shown;
    CLI::Option* flag =
        takes_value
            ? current->add_option_function<Words>(names, [](const Words&) {})->expected(0, 1)
            : current->add_flag(names);
    flag->group("");
    flag->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (takes_value) flag->allow_extra_args(false);
    const Setter note = [&given, shown](const Words&) -> Status {
      given.push_back(shown);
      return {};
    };
    groups[current->get_name()][name] = {note, flag};
  }

  // `help` is const because CLI11 would take a mutable string for the variable that the flag sets.
  void add_switch(const std::string& name, bool shown, const std::string& help, Setter set) {
    CLI::Option* flag = current->add_flag("--" + name, help);
    flag->default_str(shown ? "true" : "false");
    switches.insert("--" + name);
    groups[current->get_name()][name] = {std::move(set), flag};
  }

  // The option groups that apply when `command` is run: the program's own and the subcommand's.
  std::vector<const Group*> groups_of(const std::string& command) {
    std::vector<const Group*> found{&groups[app.get_name()]};
    if (!command.empty()) found.push_back(&groups[command]);
    return found;
  }

  Status apply_file(const std::vector<const Group*>& chosen);
  static Status apply_flags(const std::vector<const Group*>& chosen);

  CLI::App app;
  CLI::App* current;
  std::string config_file;
  std::map<std::string, Group> groups;  // by the program's or the subcommand's name
  std::set<std::string> switches;       // "--name" of each boolean option
};

Status Options::Impl::apply_file(const std::vector<const Group*>& chosen) {
  if (config_file.empty()) return {};
  TRY(const std::vector<FileEntry> entries, read_yaml_file(config_file));
  for (const FileEntry& entry : entries) {
    const std::string where = config_file + ":" + std::to_string(entry.line) + ": ";
    const Option* option = nullptr;
    for (const Group* group : chosen) {
      const auto at = group->find(entry.key);
      if (at != group->end()) option = &at->second;
    }
    if (option == nullptr) return fail(Errc::invalid, where + "unknown key \"" + entry.key + "\"");
    if (auto set = option->set(entry.values); !set) return fail(where + entry.key, set.error());
  }
  return {};
}

Status Options::Impl::apply_flags(const std::vector<const Group*>& chosen) {
  for (const Group* group : chosen) {
    for (const auto& [name, option] : *group) {
      if (option.flag->count() == 0) continue;
      if (auto set = option.set(option.flag->reduced_results()); !set) {
        return fail("--" + name, set.error());
      }
    }
  }
  return {};
}

Options::Options(std::string program, std::string description)
    : impl_(std::make_unique<Impl>(std::move(program), std::move(description))) {}
Options::~Options() = default;

void Options::begin_command(const std::string& name, std::string description) {
  impl_->app.require_subcommand(1);
  impl_->current = impl_->app.add_subcommand(name, std::move(description));
  impl_->current->fallthrough();
}

void Options::add(const std::string& name, std::string& field, std::string help) {
  impl_->add(name, field, std::move(help), one_word(field, read_text));
}
void Options::add(const std::string& name, bool& field, const std::string& help) {
  impl_->add_switch(name, field, help, one_word(field, read_bool));
}
void Options::add(const std::string& name, int& field, std::string help) {
  impl_->add(name, std::to_string(field), std::move(help), one_word(field, read_integer<int>));
}
void Options::add(const std::string& name, std::int64_t& field, std::string help) {
  impl_->add(name, std::to_string(field), std::move(help),
             one_word(field, read_integer<std::int64_t>));
}
void Options::add(const std::string& name, double& field, std::string help) {
  impl_->add(name, CLI::detail::to_string(field), std::move(help), one_word(field, read_double));
}
void Options::add(const std::string& name, Duration& field, std::string help) {
  impl_->add(name, format_duration(field), std::move(help), one_word(field, read_duration));
}
void Options::add(const std::string& name, Words& field, std::string help) {
  impl_->add(
      name, join(field, ","), std::move(help),
      [&field](const Words& words) { return set_list(field, words); }, true);
}

void Options::retire(const std::string& name, std::string advice) {
  impl_->retire(name, std::move(advice));
}

void Options::ignore(const std::string& name, Takes takes, Words& given) {
  impl_->ignore(name, takes == Takes::value, given);
}

void Options::add_positional(const std::string& name, std::string& field, std::string help) {
  impl_->current->add_option(name, field, std::move(help))->required();
}

void Options::add_rest(const std::string& name, Words& field, std::string help) {
  impl_->current->add_option(name, field, std::move(help))->expected(0, 1 << 16);
}

Result<Parsed> Options::parse(int argc, const char* const* argv) {
  CLI::App& app = impl_->app;
  Parsed parsed;
  TRY(Words words, words_of(argc, argv, impl_->switches));
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const auto commands = app.get_subcommands();
    parsed.to_print = commands.empty() ? app.help() : commands.front()->help();
    return parsed;
  } catch (const CLI::CallForVersion&) {
    parsed.to_print = app.get_name() + " " + std::string(version) + "\n";
    return parsed;
  } catch (const CLI::ParseError& error) {
    return fail(Errc::invalid, error.what());
  }
  const auto commands = app.get_subcommands();
  if (!commands.empty()) parsed.command = commands.front()->get_name();
  const auto chosen = impl_->groups_of(parsed.command);
  if (auto applied = impl_->apply_file(chosen); !applied) return fail(applied.error());
  if (auto applied = Impl::apply_flags(chosen); !applied) return fail(applied.error());
  return parsed;
}

Status Options::set(const std::string& name, const Words& values) {
  const Impl::Group& own = impl_->groups[impl_->app.get_name()];
  const auto found = own.find(name);
  if (found == own.end()) return fail(Errc::not_found, "there is no option --" + name);
  return found->second.set(values);
}

Words Options::names() const {
  Words names;
  for (const auto& [name, option] : impl_->groups[impl_->app.get_name()]) {
    const bool is_hidden = option.flag->get_group().empty();
    if (!is_hidden) names.push_back(name);
  }
  return names;
}

}  // namespace holdfast::config
