// The simulated API server of a case: it holds the objects, answers requests with the faults that
// the case defines, and counts the requests.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/result.h"
#include "test/cases/fields.h"

namespace holdfast::cases {

// A change of one object, as a watch would deliver it. A new object has no `before`, a deleted one
// no `after`.
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

class SimulatedApiServer {
 public:
  explicit SimulatedApiServer(bool graceful_deletion) : graceful_(graceful_deletion) {}

  // The steps of a case that change objects. They throw Malformed if the rules could not read the
  // object afterwards; update() and remove() also if it does not exist. For an object without a
  // uid, replace() makes a new one and set() keeps the old.
  void set(const json::object& object);
  void update(const json::value& item);
  void remove(const json::object& item);
  void replace(const json::object& object);
  void add_fault(const json::object& fault);

  // Counts the request. Returns the error of a fault that applies to it, not_found if the object
  // does not exist, or nullopt if the caller may now perform the request.
  std::optional<Errc> ask(const Request& request);

  // The object, or nullptr. The pointer is valid until the object is changed.
  [[nodiscard]] const json::object* find_object(const std::string& kind, const std::string& space,
                                                const std::string& name) const;
  void store(json::object object);
  // Deletes an existing pod, or with graceful deletion marks it as being deleted at `now`.
  void delete_pod(const std::string& space, const std::string& name, const std::string& now);

  // The changes since the last call.
  [[nodiscard]] std::vector<Change> take_changes();
  // All objects, as if they were new.
  [[nodiscard]] std::vector<Change> everything() const;

  // The number of write requests by "verb resource[/subresource]".
  [[nodiscard]] const std::map<std::string, int>& writes() const { return writes_; }
  // The number of DELETE requests by "namespace/name".
  [[nodiscard]] const std::map<std::string, int>& delete_attempts() const { return attempts_; }
  [[nodiscard]] const std::vector<std::string>& pods_deleted() const { return deleted_; }

 private:
  struct Fault {
    json::object what;
    double left;
  };

  void patch(const json::object& item);
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
