// A run of the lab in a cluster that others use, too: what its objects are called, and the marks by
// which they are found again. Pure, except for make().

#pragma once

#include <optional>
#include <string>

#include "platform/result.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab::guest {

// The label of every object of a run; its value is the run's name. Nodes have a taint of this key,
// too, which keeps away the pods of others.
inline constexpr std::string_view run_label = "holdfast.dev/lab-run";
// An annotation of every object that is not in a namespace of the run: the process that made it.
inline constexpr std::string_view owner_annotation = "holdfast.dev/lab-owner";

// Which process of which machine a run is.
struct Owner {
  std::string host;
  std::string process;  // boot, pid and start, for this program only
  std::string data;     // its directory

  // Of this process.
  [[nodiscard]] static Owner self(std::string data);
  // Errors: invalid.
  [[nodiscard]] static Result<Owner> read(const std::string& annotation);
  [[nodiscard]] std::string text() const { return host + "/" + process + "/" + data; }

  [[nodiscard]] bool is_here() const;
  // Whether the process runs; it must be of this machine.
  [[nodiscard]] bool is_alive() const;
};

struct Guest {
  std::string run;    // "lab-x7k2p": begins the name of every object
  std::string owner;  // the annotation

  // A new name; the owner is not known yet.
  [[nodiscard]] static Guest make();

  // The names in the cluster of a scenario's nodes, namespaces and others. Errors of check_names():
  // invalid, naming one that is too long.
  [[nodiscard]] std::string name(const std::string& bare) const { return run + "-" + bare; }
  [[nodiscard]] std::string space(const std::string& bare) const {
    return name(bare.empty() ? "default" : bare);
  }
  [[nodiscard]] Status check_name(const std::string& bare) const;
  // The scenario's name; as it is if it is not one of this run.
  [[nodiscard]] std::string bare(const std::string& name) const;

  // "labelSelector=..." as a part of a query.
  [[nodiscard]] std::string query() const;
  // "holdfast.dev/lab-run=lab-x7k2p"
  [[nodiscard]] std::string selector() const { return std::string(run_label) + "=" + run; }

  // Adds label and annotation.
  void mark(sync::json::object& metadata) const;
  // Lets the pods of a template (or a pod) run on the run's nodes, and only there. `pods` has
  // `metadata` and `spec`.
  void confine(sync::json::object& pods) const;
};

}  // namespace holdfast::agent::lab::guest
