// The lab's certificate authority: who may request and approve certificates, what it signs, and
// what the certificates permit.

#include <boost/json.hpp>

#include "platform/text.h"
#include "platform/tls/jws.h"
#include "platform/tls/signer.h"
#include "sync/wire/read.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::agent::lab {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using sync::wire::dig_text;
using test::ApiServerFixture;
using test::TestRequest;

const std::string path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
constexpr const char* node_client = "kubernetes.io/kube-apiserver-client-kubelet";
constexpr const char* node_serving = "kubernetes.io/kubelet-serving";
constexpr const char* any_client = "kubernetes.io/kube-apiserver-client";

const tls::Identity& authority() {
  static const tls::Identity made = tls::Signer::make_authority(
      "lab", ApiServerFixture::start() - 24h, ApiServerFixture::start() + 100'000h);
  return made;
}

ApiServerOptions options() {
  ApiServerOptions made;
  made.authority = authority();
  made.controllers = false;
  made.tokens =
      "admin,admin,1,system:masters\n"
      "boot,system:bootstrap:boot,2,system:bootstrappers\n"
      "joinid.joinsecret,system:bootstrap:joinid,4,system:bootstrappers\n"
      "other.token,alice,5,system:masters\n"
      "node-a,system:node:a,3,system:nodes\n";
  return made;
}

const tls::Names node_a{.common_name = "system:node:a", .organizations = {"system:nodes"}};
const tls::Names node_a_serves{.common_name = "system:node:a",
                               .organizations = {"system:nodes"},
                               .alternatives = {"DNS:a", "IP:192.0.2.1"}};

class CertificatesTest : public testing::Test {
 protected:
  test::TestResponse as(const std::string& token, const std::string& method,
                        const std::string& target, const json::object& body = {}) {
    return rig_.ask({.method = method,
                     .target = target,
                     .body = body.empty() ? "" : json::serialize(body),
                     .token = token});
  }

  static json::object csr(const std::string& name, const std::string& signer,
                          const std::string& request, const std::string& usage) {
    return {{"kind", "CertificateSigningRequest"},
            {"apiVersion", "certificates.k8s.io/v1"},
            {"metadata", json::object{{"name", name}}},
            {"spec", json::object{{"request", base64_encode(request)},
                                  {"signerName", signer},
                                  {"usages", json::array{"digital signature", usage}}}}};
  }
  static json::object csr(const std::string& name, const std::string& signer,
                          const tls::Names& names) {
    const char* usage = signer == node_serving ? "server auth" : "client auth";
    return csr(name, signer, tls::make_request_pem(tls::make_key_pem(), names).value(), usage);
  }

  // The condition that a table shows for the request, after the signing loop has run.
  std::string condition(const std::string& name) {
    rig_.advance(1s);
    const test::TestResponse response =
        rig_.ask({.target = path + "/" + name,
                  .accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
                  .token = "admin"});
    return std::string(response.object().at("rows").at(0).at("cells").at(5).as_string());
  }
  std::string why_failed(const std::string& name) {
    const json::object response = as("admin", "GET", path + "/" + name).object();
    std::string text;
    for (const json::value& each : sync::wire::dig_list(response, {"status", "conditions"})) {
      if (dig_text(each.as_object(), {"type"}) == "Failed") {
        text = dig_text(each.as_object(), {"message"});
      }
    }
    return text;
  }
  // Approves or denies as `kubectl certificate approve` and `deny` do.
  int decide(const std::string& token, const std::string& name, const std::string& type) {
    json::object changed = as("admin", "GET", path + "/" + name).object();
    json::array& conditions =
        sync::wire::make_object(changed, {"status"})["conditions"].emplace_array();
    conditions.push_back(json::object{{"type", type}, {"status", "True"}, {"reason", "Me"}});
    return as(token, "PUT", path + "/" + name + "/approval", changed).status;
  }

  ApiServerFixture rig_{options()};
};

TEST_F(CertificatesTest, ABootstrapperGetsANodesCertificate) {
  const test::TestResponse made = as("boot", "POST", path, csr("c", node_client, node_a));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(dig_text(made.object(), {"spec", "username"}), "system:bootstrap:boot");
  EXPECT_EQ(condition("c"), "Approved,Issued");
  const json::object issued = as("boot", "GET", path + "/c").object();
  const std::string pem = base64_decode(dig_text(issued, {"status", "certificate"})).value();
  const tls::Certificate certificate = tls::read_certificate(pem).value();
  EXPECT_EQ(certificate.names, node_a);
  EXPECT_LT(certificate.not_before, rig_.clock().wall());
  EXPECT_EQ(certificate.not_after, rig_.clock().wall() + 24h * 365);
  EXPECT_TRUE(tls::check_signed_by(pem, authority().certificate_pem));
}

TEST_F(CertificatesTest, ANodeRenewsItsOwnAndServes) {
  EXPECT_EQ(as("node-a", "POST", path, csr("c", node_client, node_a)).status, 201);
  EXPECT_EQ(condition("c"), "Approved,Issued");
  EXPECT_EQ(as("node-a", "POST", path, csr("s", node_serving, node_a_serves)).status, 201);
  EXPECT_EQ(condition("s"), "Approved,Issued");
  const json::object issued = as("node-a", "GET", path + "/s").object();
  const auto pem = base64_decode(dig_text(issued, {"status", "certificate"}));
  EXPECT_EQ(tls::read_certificate(*pem)->names, node_a_serves);
}

TEST_F(CertificatesTest, APersonDecidesTheRest) {
  struct Case {
    const char* token;
    const char* signer;
    tls::Names names;
  };
  const Case cases[] = {
      {"node-a", node_client, {.common_name = "system:node:b", .organizations = {"system:nodes"}}},
      {"boot", node_serving, node_a_serves},
      {"node-a", any_client, {.common_name = "alice"}},
      {"admin", node_client, node_a},
  };
  int number = 0;
  for (const Case& c : cases) {
    const std::string name = "c" + std::to_string(number++);
    ASSERT_EQ(as(c.token, "POST", path, csr(name, c.signer, c.names)).status, 201);
    EXPECT_EQ(condition(name), "Pending") << name;
    EXPECT_EQ(decide("node-a", name, "Approved"), 403) << "not by the requester itself";
    EXPECT_EQ(decide("admin", name, "Approved"), 200);
    EXPECT_EQ(condition(name), "Approved,Issued") << name << why_failed(name);
  }
  ASSERT_EQ(as("node-a", "POST", path, csr("no", any_client, node_a)).status, 201);
  EXPECT_EQ(decide("admin", "no", "Denied"), 200);
  EXPECT_EQ(condition("no"), "Denied");
  ASSERT_EQ(as("node-a", "POST", path, csr("other", "example.org/signer", node_a)).status, 201);
  EXPECT_EQ(decide("admin", "other", "Approved"), 200);
  EXPECT_EQ(condition("other"), "Approved") << "another signer is responsible";
}

TEST_F(CertificatesTest, WhatMustNotBeSignedFails) {
  const std::string pem = tls::make_request_pem(tls::make_key_pem(), node_a).value();
  struct Case {
    json::object csr;
    const char* why;
  };
  const tls::Names no_organization{.common_name = "system:node:a"};
  const tls::Names no_node{.common_name = "a", .organizations = {"system:nodes"}};
  const Case cases[] = {
      {csr("c0", node_client, no_organization), "organization in the subject"},
      {csr("c1", node_client, no_node), "subject common name"},
      {csr("c2", node_client, node_a_serves), "subjectAltNames are not allowed"},
      {csr("c3", node_serving, node_a), "DNS or IP subjectAltName is required"},
      {csr("c4", node_client, pem, "server auth"), "usages did not include client auth"},
      {csr("c5", any_client, "nonsense", "client auth"), "certificate request: "},
  };
  int number = 0;
  for (const Case& c : cases) {
    const std::string name = "c" + std::to_string(number++);
    ASSERT_EQ(as("node-a", "POST", path, c.csr).status, 201) << name;
    EXPECT_EQ(condition(name), "Pending") << name;
    EXPECT_EQ(decide("admin", name, "Approved"), 200);
    EXPECT_EQ(condition(name), "Approved,Failed") << name;
    EXPECT_TRUE(why_failed(name).starts_with(c.why)) << name << ": " << why_failed(name);
  }
}

TEST_F(CertificatesTest, WhoAsksIsNotForTheRequestToSay) {
  json::object lie = csr("c", node_client, node_a);
  lie["spec"].as_object()["username"] = "system:node:a";
  lie["spec"].as_object()["groups"] = json::array{"system:masters"};
  lie["status"] = json::object{{"certificate", base64_encode("mine")}};
  const json::object made = as("admin", "POST", path, lie).object();
  EXPECT_EQ(dig_text(made, {"spec", "username"}), "admin");
  EXPECT_EQ(dig_text(made, {"status", "certificate"}), "");
  EXPECT_EQ(condition("c"), "Pending");
}

TEST_F(CertificatesTest, BootstrappersAndStrangersMayDoLittleElse) {
  EXPECT_EQ(as("boot", "GET", "/api/v1/pods").status, 403);
  EXPECT_EQ(as("boot", "GET", path).status, 200);
  EXPECT_EQ(as("boot", "DELETE", path + "/c").status, 403);
  EXPECT_EQ(as("node-a", "GET", "/api/v1/pods").status, 403);
  EXPECT_EQ(as("node-a", "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Da").status, 200);
  EXPECT_EQ(
      as("node-a", "POST", "/api/v1/namespaces", {{"metadata", json::object{{"name", "mine"}}}})
          .status,
      403);
  EXPECT_EQ(as("wrong", "GET", path).status, 401);
  const std::string info = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
  const test::TestResponse read = as("", "GET", info);
  EXPECT_EQ(read.status, 200) << read.body;
  EXPECT_NE(read.body.find(base64_encode(authority().certificate_pem)), std::string::npos);
  EXPECT_EQ(as("", "DELETE", info).status, 403);
  EXPECT_EQ(as("", "GET", "/api/v1/namespaces/kube-public/configmaps/other").status, 403);
}

TEST_F(CertificatesTest, ClusterInfoIsSignedWithEachBootstrapToken) {
  const test::TestResponse read =
      as("", "GET", "/api/v1/namespaces/kube-public/configmaps/cluster-info");
  const json::object data = read.object().at("data").as_object();
  EXPECT_EQ(data.at("jws-kubeconfig-joinid").as_string(),
            tls::detached_jws(data.at("kubeconfig").as_string(), "joinid", "joinsecret"));
  EXPECT_EQ(data.size(), 2u) << "no other token signs it";
}

TEST(Strangers, FromOtherMachinesAreUnknown) {
  ApiServerOptions made = options();
  made.refuses_anonymous = true;
  ApiServerFixture fixture(made);
  const auto status = [&fixture](const std::string& token, const std::string& target) {
    return fixture.ask({.target = target, .token = token}).status;
  };
  EXPECT_EQ(status("", "/api/v1/pods"), 401);
  EXPECT_EQ(status("wrong", "/api/v1/pods"), 401);
  EXPECT_EQ(status("admin", "/api/v1/pods"), 200);
  EXPECT_EQ(status("boot", "/api/v1/pods"), 403);
  EXPECT_EQ(status("", "/healthz"), 200);
  EXPECT_EQ(status("", "/api/v1/namespaces/kube-public/configmaps/cluster-info"), 200);
}

TEST_F(CertificatesTest, TheyAreListedAndWatchedByName) {
  ASSERT_EQ(as("boot", "POST", path, csr("c", node_client, node_a)).status, 201);
  const json::object list = as("boot", "GET", path + "?fieldSelector=metadata.name%3Dc").object();
  EXPECT_EQ(list.at("items").as_array().size(), 1u);
  const std::string version(dig_text(list, {"metadata", "resourceVersion"}));
  const test::TestResponse stream = rig_.ask(
      {.target = path + "?watch=true&fieldSelector=metadata.name%3Dc&resourceVersion=" + version,
       .token = "boot"});
  EXPECT_EQ(condition("c"), "Approved,Issued");
  EXPECT_EQ(rig_.lines_now(stream).size(), 2u) << "approved, then issued";
}

TEST_F(CertificatesTest, ABadAuthorityIsRefusedAtTheStart) {
  ApiServerOptions bad = options();
  bad.authority->key_pem = tls::make_key_pem();
  const test::ScratchDir dir;
  bad.data = dir.path();
  test::VirtualTime time;
  const auto opened = ApiServer::open(time.executor(), rig_.clock(), Random(1), bad);
  ASSERT_FALSE(opened);
  EXPECT_TRUE(opened.error().what.starts_with("authority: ")) << opened.error().what;
}

}  // namespace
}  // namespace holdfast::agent::lab
