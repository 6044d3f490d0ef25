// A program's settings: flags and a YAML file, bound to the fields of one documented struct.
//
//   Options options("holdfast-edge", "keeps the pods of an edge node alive");
//   options.add("node-name", settings.node_name, "name of this node");
//   TRY(const Parsed parsed, options.parse(argc, argv));
//
// Every option is a flag (`--node-name=a`) and a key of the file that `--config` names
// (`node-name: a`). Flags win. The default is what the field holds when it is added; --help prints
// it. Unknown keys and bad values are refused by name, file and line.

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

  // Options added after this belong to the subcommand. One of them must be given.
  void begin_command(const std::string& name, std::string description);

  // The field must outlive parse(), which overwrites it when the option is given.
  void add(const std::string& name, std::string& field, std::string help);
  void add(const std::string& name, bool& field, const std::string& help);
  void add(const std::string& name, int& field, std::string help);
  void add(const std::string& name, std::int64_t& field, std::string help);
  void add(const std::string& name, double& field, std::string help);
  void add(const std::string& name, Duration& field, std::string help);
  // Repeatable, and split at commas.
  void add(const std::string& name, std::vector<std::string>& field, std::string help);

  // An option that was removed: it is not in --help, and giving it is an error with this advice.
  void retire(const std::string& name, std::string advice);

  // Words without a flag: one, or as many as are left.
  void add_positional(const std::string& name, std::string& field, std::string help);
  void add_rest(const std::string& name, std::vector<std::string>& field, std::string help);

  // Errors: invalid, saying which flag or which line of the file is wrong, and why.
  [[nodiscard]] Result<Parsed> parse(int argc, const char* const* argv);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::config
