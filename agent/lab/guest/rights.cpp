// What the user of a kubeconfig must be allowed to do.

#include <vector>

#include "agent/lab/guest/host.h"
#include "sync/identity/csr.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab::guest {
namespace {

namespace json = sync::json;

constexpr Duration review_limit = std::chrono::seconds(10);
constexpr const char* review_path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

struct Right {
  std::string_view verb;
  std::string_view group;
  std::string_view resource;
  std::string_view subresource = {};
  std::string_view space = {};  // a namespace; empty: all
  std::string_view name = {};
};

// Includes what find_runs() and remove_run() request: every run looks for what others have left,
// also for priority classes.
std::vector<Right> needed_rights(const Host& host, bool with_priorities) {
  std::vector<Right> all = {{"create", "", "namespaces"},
                            {"delete", "", "namespaces"},
                            {"list", "", "namespaces"},
                            {"create", "", "nodes"},
                            {"delete", "", "nodes"},
                            {"list", "", "nodes"},
                            {"watch", "", "nodes"},
                            {"patch", "", "nodes"},
                            {"list", "", "pods"},
                            {"watch", "", "pods"},
                            {"delete", "", "pods"},
                            {"create", "", "pods", "eviction"},
                            {"list", "", "events"},
                            {"watch", "", "events"},
                            {"create", "apps", "deployments"},
                            {"create", "apps", "daemonsets"},
                            {"create", "apps", "statefulsets"},
                            {"create", "batch", "jobs"},
                            {"delete", "", "events", "", "default"}};
  all.push_back({"list", "coordination.k8s.io", "leases", "", "kube-node-lease"});
  all.push_back({"delete", "coordination.k8s.io", "leases", "", "kube-node-lease"});
  all.push_back({"list", "scheduling.k8s.io", "priorityclasses"});
  for (const std::string_view verb : {"create", "delete", "list"}) {
    all.push_back({verb, "certificates.k8s.io", "certificatesigningrequests"});
  }
  for (const std::string_view verb : {"create", "delete"}) {
    if (with_priorities) all.push_back({verb, "scheduling.k8s.io", "priorityclasses"});
  }
  if (!host.access.tls) return all;
  all.push_back({"get", "certificates.k8s.io", "certificatesigningrequests"});
  all.push_back({"update", "certificates.k8s.io", "certificatesigningrequests", "approval"});
  all.push_back({.verb = "approve",
                 .group = "certificates.k8s.io",
                 .resource = "signers",
                 .name = sync::identity::signer_of(sync::identity::CertificateUse::client)});
  return all;
}

std::string text_of(const Right& right) {
  std::string text = std::string(right.verb) + " " + std::string(right.resource);
  if (!right.subresource.empty()) text += "/" + std::string(right.subresource);
  if (!right.group.empty()) text += "." + std::string(right.group);
  if (!right.name.empty()) text += " " + std::string(right.name);
  if (!right.space.empty()) text += " in " + std::string(right.space);
  return text;
}

std::string review_of(const Right& right) {
  json::object about = {{"verb", right.verb}, {"group", right.group}, {"resource", right.resource}};
  if (!right.subresource.empty()) about["subresource"] = right.subresource;
  if (!right.space.empty()) about["namespace"] = right.space;
  if (!right.name.empty()) about["name"] = right.name;
  return sync::wire::serialize(json::object{{"apiVersion", "authorization.k8s.io/v1"},
                                            {"kind", "SelfSubjectAccessReview"},
                                            {"spec", json::object{{"resourceAttributes", about}}}});
}

bool is_allowed(const std::string& answer) {
  const auto value = sync::wire::parse_json(answer);
  const json::value* allowed = value && value->is_object()
                                   ? sync::wire::dig(value->get_object(), {"status", "allowed"})
                                   : nullptr;
  return allowed != nullptr && *allowed == json::value(true);
}

}  // namespace

asio::awaitable<Status> check_rights(const Host& host, ApiClient& client, const Clock& clock,
                                     bool with_priorities) {
  const std::string where = "--kubeconfig: " + host.file + ": " + host.access.server.text();
  std::string missing;
  for (const Right& right : needed_rights(host, with_priorities)) {
    ApiRequest request{
        .method = http::Method::post, .target = review_path, .body = review_of(right)};
    const auto answer = co_await client.call(std::move(request), clock.mono() + review_limit);
    const bool is_refused = !answer && answer.error().code == Errc::denied;
    if (is_refused) co_return fail(where + " does not accept the credentials", answer.error());
    if (!answer) co_return fail(where, answer.error());
    if (!is_allowed(*answer)) missing += (missing.empty() ? "" : ", ") + text_of(right);
  }
  Status done;
  if (!missing.empty()) {
    done = fail(Errc::denied, where + ": the user may not: " + missing);
  }
  co_return done;
}

}  // namespace holdfast::agent::lab::guest
