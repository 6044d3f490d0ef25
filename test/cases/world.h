// The API server of a case: its objects, the faults it is told to have, and a record of requests.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/result.h"
#include "test/cases/fields.h"

namespace holdfast::cases {

// A change of one object, as a watch would deliver it.
struct Change {
  std::string kind;
  std::string name;  // without namespace
  std::optional<json::object> before;
  std::optional<json::object> after;
};

struct Request {
  std::string verb;         // get, update, patch, delete
  std::string resource;     // nodes, pods
  std::string subresource;  // status, or empty
  std::string namespace_name;
  std::string name;
};

class World {
 public:
  explicit World(bool graceful_deletion) : graceful_(graceful_deletion) {}

  // The steps of a case. Errors name what is wrong with the case.
  void set(const json::object& object);
  [[nodiscard]] Status update(const json::object& item);
  [[nodiscard]] Status remove(const json::object& item);
  void replace(const json::object& object);
  void add_fault(const json::object& fault) {
    faults_.push_back({fault, number(fault, "times", 1e9)});
  }

  // Counts the request and answers with the fault it is to suffer, or nothing.
  std::optional<Errc> ask(const Request& request);

  // nullptr when there is none. Borrowed until the next change.
  [[nodiscard]] const json::object* find_object(const std::string& kind, const std::string& space,
                                                const std::string& name) const;
  void store(json::object object);
  // What DELETE does to a pod that is there.
  void delete_pod(const std::string& space, const std::string& name, const std::string& now);

  // Since the last call.
  [[nodiscard]] std::vector<Change> take_changes();
  // Everything, as if new.
  [[nodiscard]] std::vector<Change> everything() const;

  // "verb resource[/subresource]" to its number, reads not counted.
  [[nodiscard]] const std::map<std::string, int>& writes() const { return writes_; }
  // "namespace/name" to its number of DELETE requests.
  [[nodiscard]] const std::map<std::string, int>& delete_attempts() const { return attempts_; }
  [[nodiscard]] const std::vector<std::string>& pods_deleted() const { return deleted_; }

 private:
  struct Fault {
    json::object what;
    double left;
  };

  void put(json::object object, bool fresh);
  void erase(const std::string& key);

  bool graceful_;
  std::map<std::string, json::object> objects_;
  std::vector<Fault> faults_;
  std::vector<Change> changes_;
  std::map<std::string, int> writes_;
  std::map<std::string, int> attempts_;
  std::vector<std::string> deleted_;
  int version_ = 0;
};

}  // namespace holdfast::cases
