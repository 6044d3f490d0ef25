// The CertificateManager with a fake CsrClient, in virtual time.

#include "agent/edge/identity/certificate_manager.h"

#include <boost/asio/co_spawn.hpp>
#include <fstream>

#include "platform/loop/tasks.h"
#include "platform/text.h"
#include "platform/tls/signer.h"
#include "sync/wire/object_header.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
using sync::identity::rotate::Credentials;

// Signs the requests, or fails, as the test says.
class FakeCsrClient final : public CsrClient {
 public:
  explicit FakeCsrClient(const Clock& clock)
      : clock_(clock),
        signer_(tls::Signer::make(tls::Signer::make_authority("ca", clock.wall() - 1000h,
                                                              clock.wall() + 100'000h))
                    .value()) {}

  asio::awaitable<Result<std::string>> call(Credentials with, ApiRequest request) override {
    Result<std::string> answer = answer_to(with, request);
    co_return answer;
  }

  std::vector<Credentials> asked;  // the credentials of each request
  std::optional<Error> error;      // instead of an answer
  bool decided = true;
  bool for_another = false;  // issues a certificate that was not requested
  Duration lifetime = 1000h;

 private:
  Result<std::string> answer_to(Credentials with, const ApiRequest& request) {
    if (request.method == http::Method::post) asked.push_back(with);
    if (error) return fail(*error);
    if (request.method == http::Method::get) {
      EXPECT_EQ(request.target, std::string(sync::identity::csr_path) + "/csr-1");
      return object();
    }
    const auto encoded = sync::wire::text_at(request.body, {"spec", "request"}).value();
    request_ = base64_decode(*encoded).value();
    return object();
  }

  std::string object() {
    std::string body = R"({"kind":"CertificateSigningRequest","metadata":{"name":"csr-1"})";
    if (!decided) return body + "}";
    const tls::Grant grant{
        .not_before = clock_.wall(), .not_after = clock_.wall() + lifetime, .for_client = true};
    std::string request = request_;
    if (for_another)
      request = tls::make_request_pem(tls::make_key_pem(), {.common_name = "x"}).value();
    return body + R"(,"status":{"certificate":")" +
           base64_encode(signer_.sign(request, grant).value()) + R"("}})";
  }

  const Clock& clock_;
  tls::Signer signer_;
  std::string request_;
};

class CertificateManagerTest : public testing::Test {
 protected:
  // Starts the agent: a new manager on the same files.
  void start(const std::vector<std::string>& names = {}) {
    stop();
    manager_.emplace(time_.executor(),
                     CertificateManager::Spec{sync::identity::CertificateUse::client,
                                              {.common_name = "system:node:a",
                                               .organizations = {"system:nodes"},
                                               .alternatives = names}},
                     pki_, csr_client_, time_.clock(), random_);
    manager_->on_change([this](const tls::Identity& identity, const tls::Certificate&) {
      changes_.push_back(identity.certificate_pem);
    });
    tasks_ = std::make_unique<loop::Tasks>(time_.executor());
    tasks_->spawn("certificate manager", manager_->run());
  }
  void stop() {
    if (!tasks_) return;
    tasks_->cancel();
    time_.complete(tasks_->join());
    tasks_.reset();
    manager_.reset();
  }
  ~CertificateManagerTest() override { stop(); }

  bool run_until_changes(std::size_t count, Duration limit) {
    return time_.run_until(limit, [this, count] { return changes_.size() >= count; });
  }

  test::ScratchDir dir_;
  test::VirtualTime time_;
  Random random_{1};
  PkiDir pki_ = PkiDir::open(dir_.path()).value();
  FakeCsrClient csr_client_{time_.clock()};
  std::optional<CertificateManager> manager_;
  std::unique_ptr<loop::Tasks> tasks_;
  std::vector<std::string> changes_;
};

TEST_F(CertificateManagerTest, ANewNodeGetsItsCertificateAndKeepsItOverARestart) {
  start();
  EXPECT_FALSE(manager_->held());
  ASSERT_TRUE(run_until_changes(1, 10s));
  EXPECT_EQ(csr_client_.asked, std::vector{Credentials::bootstrap});
  EXPECT_EQ(manager_->certificate()->names.common_name, "system:node:a");
  EXPECT_TRUE(tls::check_pair(*manager_->held()));
  start();
  ASSERT_TRUE(manager_->held());
  EXPECT_TRUE(tls::check_pair(*manager_->held()));
  time_.run(1h);
  EXPECT_EQ(csr_client_.asked.size(), 1u) << "it has a certificate";
}

TEST_F(CertificateManagerTest, OneThatLacksANameServesUntilAnotherHasIt) {
  start({"DNS:a"});
  ASSERT_TRUE(run_until_changes(1, 10s));
  start({"DNS:a", "IP:fd00:0::2:1"});
  EXPECT_TRUE(manager_->held()) << "it serves until a better one is issued";
  ASSERT_TRUE(run_until_changes(2, 10s));
  EXPECT_EQ(manager_->certificate()->names.alternatives.size(), 2u);
  start({"IP:fd00::2:1"});
  time_.run(1h);
  EXPECT_EQ(csr_client_.asked.size(), 2u) << "its certificate has all names, and more";
}

TEST_F(CertificateManagerTest, ItIsRenewedInTimeWithWhatIsHeldAndANewKey) {
  csr_client_.lifetime = 10h;
  start();
  ASSERT_TRUE(run_until_changes(1, 10s));
  const WallTime first = time_.clock().wall();
  const std::string key = manager_->held()->key_pem;
  ASSERT_TRUE(run_until_changes(2, 20h));
  EXPECT_EQ(csr_client_.asked.back(), Credentials::own);
  EXPECT_GE(time_.clock().wall() - first, 6h + 59min);
  EXPECT_LE(time_.clock().wall() - first, 9h + 1min);
  EXPECT_NE(manager_->held()->key_pem, key);
}

TEST_F(CertificateManagerTest, WhenRenewalFailsTheOldOneStaysAndBootstrapsOnceExpired) {
  csr_client_.lifetime = 10h;
  start();
  ASSERT_TRUE(run_until_changes(1, 10s));
  const std::string held = manager_->held()->certificate_pem;
  csr_client_.error = Error{Errc::unavailable, "away", {}};
  time_.run(12h);
  EXPECT_EQ(manager_->held()->certificate_pem, held);
  EXPECT_EQ(csr_client_.asked.back(), Credentials::bootstrap);
  start();
  ASSERT_TRUE(manager_->held()) << "an expired certificate is still used";
  csr_client_.error.reset();
  ASSERT_TRUE(run_until_changes(2, 20min));
  EXPECT_NE(manager_->held()->certificate_pem, held);
}

TEST_F(CertificateManagerTest, WhatItCannotUseIsNotTaken) {
  csr_client_.for_another = true;
  start();
  time_.run(1min);
  EXPECT_FALSE(manager_->held());
  EXPECT_EQ(csr_client_.asked.size(), 1u) << "it does not ask again at once";
  csr_client_.for_another = false;
  ASSERT_TRUE(run_until_changes(1, 30min));
}

TEST_F(CertificateManagerTest, ADamagedFileOrAnothersIsReplaced) {
  const fs::Path file = dir_.path() / "pki/client-current.pem";
  std::ofstream(file) << "damaged";
  start();
  EXPECT_FALSE(manager_->held());
  ASSERT_TRUE(run_until_changes(1, 10s));
  const std::string key = tls::make_key_pem();
  const tls::Identity other = tls::make_self_signed({.common_name = "system:node:b"},
                                                    {.not_before = time_.clock().wall(),
                                                     .not_after = time_.clock().wall() + 1h})
                                  .value();
  ASSERT_TRUE(pki_.store(sync::identity::CertificateUse::client, other));
  start();
  EXPECT_FALSE(manager_->held());
  ASSERT_TRUE(run_until_changes(2, 10s));
  EXPECT_EQ(manager_->certificate()->names.common_name, "system:node:a");
}

TEST_F(CertificateManagerTest, AServerThatRefusesUsIsAskedAnew) {
  start();
  ASSERT_TRUE(run_until_changes(1, 10s));
  time_.run(1min);
  manager_->refused();
  ASSERT_TRUE(run_until_changes(2, 10s));
  EXPECT_EQ(csr_client_.asked.back(), Credentials::bootstrap);
}

TEST_F(CertificateManagerTest, WhatNobodyDecidesIsWaitedForWithoutASecondRequest) {
  csr_client_.decided = false;
  start();
  time_.run(6h);
  EXPECT_EQ(csr_client_.asked.size(), 1u);
  csr_client_.decided = true;
  ASSERT_TRUE(run_until_changes(1, 31s));
}

}  // namespace
}  // namespace holdfast::agent
