// A program's settings: command line flags and a YAML file, bound to the fields of one struct.
//
//   Options options("holdfast-edge", "keeps the pods of an edge node alive");
//   options.add("node-name", settings.node_name, "name of this node");
//   TRY(const Parsed parsed, options.parse(argc, argv));
//
// Every option is a flag (`--node-name=a`) and a key of the file that `--config` names (`node-name:
// a`). A flag overrides the file. The default is the value that the field has when it is added;
// --help prints it. An unknown key or a bad value is an error that names the flag, or the file and
// line.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::config {

// What the command line asked for.
struct Parsed {
  std::string command = {};   // the subcommand, or ""
  std::string to_print = {};  // --help or --version: print it and exit with 0
};

class Options {
 public:
  Options(std::string program, std::string description);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  // Options that are added after this call belong to the subcommand `name`. A program that has
  // subcommands must be called with one of them.
  void begin_command(const std::string& name, std::string description);

  // Adds an option. The field must outlive parse(), which overwrites it when the option is given.
  void add(const std::string& name, std::string& field, std::string help);
  void add(const std::string& name, bool& field, const std::string& help);
  void add(const std::string& name, int& field, std::string help);
  void add(const std::string& name, std::int64_t& field, std::string help);
  void add(const std::string& name, double& field, std::string help);
  void add(const std::string& name, Duration& field, std::string help);
  // The option may be repeated, and each value is split at commas.
  void add(const std::string& name, std::vector<std::string>& field, std::string help);

  // Declares a removed option: it is not in --help, and using it is an error whose text is
  // `advice`.
  void retire(const std::string& name, std::string advice);

  // Accepts an option without any effect, so that the command line of another program can be kept.
  // It is not in --help, and a missing value is no error. If it is given, its name is appended to
  // `given`, which must outlive parse().
  enum class Takes : std::uint8_t { value, nothing };
  void ignore(const std::string& name, Takes takes, std::vector<std::string>& given);

  // Arguments without a flag: one required word, or all remaining words.
  void add_positional(const std::string& name, std::string& field, std::string help);
  void add_rest(const std::string& name, std::vector<std::string>& field, std::string help);

  // Reads the flags and the file, and sets the fields.
  // Errors: invalid, naming the flag or the line of the file that is wrong, and why.
  [[nodiscard]] Result<Parsed> parse(int argc, const char* const* argv);

  // Sets one of the program's own options, not one of a subcommand, as an entry of the file does.
  // Errors: not_found (no such option); invalid (the value; the text does not name the option).
  [[nodiscard]] Status set(const std::string& name, const std::vector<std::string>& values);

  // The names of the options that set() knows, sorted, without those that are not in --help.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::config
