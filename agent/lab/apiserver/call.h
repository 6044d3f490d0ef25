// One parsed request (Call), the state that requests work on (Backend), and the functions that
// serve the verbs.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/apiserver/audit.h"
#include "agent/lab/apiserver/editor.h"
#include "agent/lab/apiserver/registry.h"
#include "agent/lab/apiserver/request_metrics.h"
#include "agent/lab/apiserver/view.h"
#include "agent/lab/apiserver/watch.h"
#include "agent/lab/rules/answer.h"
#include "agent/lab/rules/decode.h"
#include "agent/lab/rules/identity.h"
#include "agent/lab/rules/pod_connect.h"
#include "platform/http/message.h"
#include "platform/random.h"
#include "platform/time.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent::lab {

class KubeletClient;

// The state that all verbs work on. The references outlive every call.
struct Backend {
  Registry& registry;
  Editor& editor;
  WatchHub& watches;
  const Clock& clock;
  Random& random;
  TokenTable& tokens;
  bool secured;                    // false: all callers but nodes may do everything, see decide()
  bool refuses_anonymous = false;  // anonymous callers get 401 instead of 403
  bool node_authorizer = true;     // nodes have only the rights of a real node
  bool rbac = false;               // roles decide about all callers but system:masters
  std::optional<AuditLog> audit = {};
  RequestMetrics* metrics = nullptr;  // borrowed
  KubeletClient* kubelets = nullptr;  // borrowed; null: kubelets cannot be asked
};

struct Call {
  const http::Request& request;
  Query query;
  sync::objects::RequestInfo info;
  Identity caller;
  View view;  // resource, version and form of the answer
  sync::wire::Accept accept = {};
  const sync::printing::Subresource* subresource = nullptr;
  bool dry_run = false;
  std::string field_manager = {};
  FieldValidation validation = FieldValidation::warn;
  // Set by a verb that a kubelet answers; its own answer is then ignored.
  std::optional<NodeRequest>* onward = nullptr;

  [[nodiscard]] const sync::printing::Resource& resource() const { return *view.resource; }
  // The resource under which the objects are stored. It differs for events of events.k8s.io.
  [[nodiscard]] const sync::printing::Resource& stored() const;
  // The namespace of the request; "" if there is none.
  [[nodiscard]] std::string_view name_space() const;
  [[nodiscard]] Target target() const { return {name_space(), info.name}; }
  // Who writes, for managedFields. An apply has recorded that already.
  [[nodiscard]] Author author(bool applies = false) const;
};

using Reply = Answer<http::Response>;

// Decodes the body as `kind`. The caller checks the object's name.
[[nodiscard]] Answer<boost::json::object> read_as(const Call& call, const sync::StructType& type,
                                                  std::string_view kind);

// A response with a JSON body.
[[nodiscard]] http::Response reply_json(int status, std::string body);
// A response with a Status, and Retry-After if the status has one.
[[nodiscard]] http::Response reply_status(const sync::wire::ApiStatus& status);
// A response with one object in the requested form.
[[nodiscard]] http::Response reply_object(int status, const Call& call, const Stored& stored,
                                          WallTime now);
// Adds a Warning header for each warning.
void add_warnings(http::Response& response, const std::vector<std::string>& warnings);
// For a CustomResourceDefinition that was written: adds the warnings of definition_warnings().
void add_definition_warnings(http::Response& response, const Call& call, const Stored& stored);

// Whether the request is a server-side apply.
[[nodiscard]] bool is_apply(const Call& call);
[[nodiscard]] bool is_apply_request(const sync::objects::RequestInfo& info,
                                    const http::Request& request);
[[nodiscard]] Reply apply(Backend& backend, const Call& call);

// The verbs.
[[nodiscard]] Reply get(Backend& backend, const Call& call);
[[nodiscard]] Reply list(Backend& backend, const Call& call);
[[nodiscard]] Reply watch(Backend& backend, const Call& call);
[[nodiscard]] Reply create(Backend& backend, const Call& call);
[[nodiscard]] Reply update(Backend& backend, const Call& call);
[[nodiscard]] Reply patch(Backend& backend, const Call& call);
[[nodiscard]] Reply remove(Backend& backend, const Call& call);
[[nodiscard]] Reply remove_collection(Backend& backend, const Call& call);

// The subresources. The subresource status is served by update() and patch().
[[nodiscard]] Reply get_scale(Backend& backend, const Call& call);
[[nodiscard]] Reply change_scale(Backend& backend, const Call& call);  // update and patch
[[nodiscard]] Reply bind(Backend& backend, const Call& call);
[[nodiscard]] Reply evict(Backend& backend, const Call& call);
[[nodiscard]] Reply issue_token(Backend& backend, const Call& call);
[[nodiscard]] Reply finalize(Backend& backend, const Call& call);

// Token reviews and access reviews, which store nothing.
[[nodiscard]] Reply review(Backend& backend, const Call& call);

// Reads the options of a deletion from the query and the body.
[[nodiscard]] Answer<DeleteOptions> read_delete_options(const Call& call);

}  // namespace holdfast::agent::lab
