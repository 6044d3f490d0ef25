#include "agent/client/exec_credential.h"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "platform/http/grammar.h"
#include "platform/text.h"
#include "platform/tls/certificate.h"
#include "sync/wire/json.h"

namespace holdfast::agent {
namespace {

namespace json = boost::json;

constexpr std::string_view exec_versions[] = {"client.authentication.k8s.io/v1",
                                              "client.authentication.k8s.io/v1beta1"};
constexpr sync::wire::JsonLimits output_limits{.bytes = 1UL << 20, .depth = 16, .values = 1000};

[[nodiscard]] tl::unexpected<Error> bad_output(const std::string& what) {
  return fail(Errc::invalid, "its output: " + what);
}

// A member that is a string, or "" if it is missing or null.
Result<std::string> text_of(const json::object& from, std::string_view name) {
  const json::value* found = from.if_contains(name);
  if (found == nullptr || found->is_null()) return std::string();
  if (!found->is_string()) return bad_output(std::string(name) + " is not a string");
  return std::string(found->get_string());
}

Result<ExecCredential> read_status(const json::object& status) {
  ExecCredential made;
  TRY(made.token, text_of(status, "token"));
  TRY(made.identity.certificate_pem, text_of(status, "clientCertificateData"));
  TRY(made.identity.key_pem, text_of(status, "clientKeyData"));
  TRY(const std::string until, text_of(status, "expirationTimestamp"));
  if (!until.empty()) {
    const auto time = parse_rfc3339(until);
    if (!time) return bad_output("expirationTimestamp is not a time");
    made.until = *time;
  }
  if (!http::is_field_value(made.token)) {
    return bad_output("the token has characters that HTTP forbids");
  }
  const bool has_certificate = !made.identity.certificate_pem.empty();
  if (has_certificate != !made.identity.key_pem.empty()) {
    return bad_output("clientCertificateData and clientKeyData go together");
  }
  if (made.token.empty() && !has_certificate)
    return bad_output("neither a token nor a certificate");
  if (has_certificate && !tls::check_pair(made.identity)) {
    return bad_output("the client certificate and key are not a valid pair");
  }
  return made;
}

}  // namespace

bool is_exec_version(std::string_view api_version) {
  return api_version == exec_versions[0] || api_version == exec_versions[1];
}

std::string exec_info(std::string_view api_version, const ExecCluster* cluster) {
  json::object spec;
  if (cluster != nullptr) {
    json::object about;
    about["server"] = cluster->server;
    if (!cluster->tls_server_name.empty()) about["tls-server-name"] = cluster->tls_server_name;
    if (cluster->insecure) about["insecure-skip-tls-verify"] = true;
    if (!cluster->ca_pem.empty()) {
      about["certificate-authority-data"] = base64_encode(cluster->ca_pem);
    }
    if (!cluster->proxy_url.empty()) about["proxy-url"] = cluster->proxy_url;
    if (cluster->disable_compression) about["disable-compression"] = true;
    spec["cluster"] = std::move(about);
  }
  spec["interactive"] = false;
  json::object info;
  info["kind"] = "ExecCredential";
  info["apiVersion"] = api_version;
  info["spec"] = std::move(spec);
  return sync::wire::serialize(info);
}

Result<ExecCredential> parse_exec_credential(std::string_view output,
                                             std::string_view api_version) {
  const auto parsed = sync::wire::parse_json(output, output_limits);
  if (!parsed || !parsed->is_object()) return bad_output("not a JSON object");
  const json::object& object = parsed->get_object();
  TRY(const std::string kind, text_of(object, "kind"));
  if (kind != "ExecCredential") return bad_output("its kind is not ExecCredential");
  TRY(const std::string version, text_of(object, "apiVersion"));
  if (version != api_version)
    return bad_output("its apiVersion is not " + std::string(api_version));
  const json::value* status = object.if_contains("status");
  if (status == nullptr || !status->is_object()) return bad_output("it has no status");
  return read_status(status->get_object());
}

}  // namespace holdfast::agent
