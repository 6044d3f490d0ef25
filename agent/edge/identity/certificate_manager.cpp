#include "agent/edge/identity/certificate_manager.h"

#include "platform/log.h"
#include "platform/text.h"
#include "sync/wire/object_header.h"

namespace holdfast::agent {

namespace rotate = sync::identity::rotate;

CertificateManager::CertificateManager(asio::any_io_executor executor, Spec spec, const PkiDir& pki,
                                       CsrClient& csr_client, const Clock& clock, Random& random)
    : spec_(std::move(spec)),
      pki_(pki),
      csr_client_(csr_client),
      clock_(clock),
      woken_(std::move(executor)) {
  load();
  std::optional<sync::identity::Validity> validity;
  // A certificate that lacks one of the wanted names stays in use, but a new one is requested.
  const bool fits = certificate_ && tls::covers(certificate_->names, spec_.names);
  if (fits) validity = {certificate_->not_before, certificate_->not_after};
  rotation_.emplace(spec_.rotation, random, validity, clock_.mono());
}

void CertificateManager::load() {
  auto stored = pki_.load(spec_.use);
  if (!stored) {
    log_error("certificate unusable", {{"for", to_string(spec_.use)}, {"error", stored.error()}});
    return;
  }
  if (!*stored) return;
  auto certificate = tls::read_certificate((*stored)->certificate_pem);
  if (!certificate || certificate->names.common_name != spec_.names.common_name) {
    log_error("certificate is not this node's", {{"for", to_string(spec_.use)}});
    return;
  }
  held_ = *std::move(*stored);
  certificate_ = *std::move(certificate);
  log_info("certificate", {{"for", to_string(spec_.use)},
                           {"until", format_rfc3339(certificate_->not_after)},
                           {"expired", clock_.wall() >= certificate_->not_after}});
}

asio::awaitable<void> CertificateManager::run() {
  for (;;) {
    feed(rotate::TimePassed{});
    while (!actions_.empty()) {
      rotate::Action action = std::move(actions_.front());
      actions_.pop_front();
      co_await perform(std::move(action));
    }
    const MonoTime deadline = rotation_->deadline();
    if (clock_.mono() < deadline) (void)co_await woken_.wait_until(deadline);
  }
}

void CertificateManager::feed(rotate::Input input) {
  for (rotate::Action& action : rotation_->step(clock_.mono(), clock_.wall(), std::move(input))) {
    actions_.push_back(std::move(action));
  }
}

void CertificateManager::refused() {
  feed(rotate::Refused{});
  woken_.notify_all();
}

asio::awaitable<void> CertificateManager::perform(rotate::Action action) {
  if (const auto* wanted = std::get_if<rotate::SubmitRequest>(&action)) {
    co_await submit_request(wanted->with);
  } else if (const auto* looked = std::get_if<rotate::PollRequest>(&action)) {
    co_await poll_request(*looked);
  } else if (const auto* issued = std::get_if<rotate::Adopt>(&action)) {
    adopt(issued->certificate_pem);
  } else if (const auto* warn = std::get_if<rotate::Warn>(&action)) {
    log_warn("no new certificate", {{"for", to_string(spec_.use)}, {"why", warn->what}});
  }
}

asio::awaitable<void> CertificateManager::submit_request(rotate::Credentials with) {
  key_pem_ = tls::make_key_pem();
  const auto request = tls::make_request_pem(key_pem_, spec_.names);
  if (!request) {
    feed(rotate::NotSubmitted{request.error()});
    co_return;
  }
  ApiRequest post{.method = http::Method::post,
                  .target = std::string(sync::identity::csr_path),
                  .body = sync::identity::csr_body(spec_.use, *request)};
  const auto answer = co_await csr_client_.call(with, std::move(post));
  const auto state = answer ? sync::identity::read_csr(*answer)
                            : Result<sync::identity::CsrState>(fail(answer.error()));
  if (!state) {
    feed(rotate::NotSubmitted{state.error()});
    co_return;
  }
  log_info("certificate requested", {{"for", to_string(spec_.use)},
                                     {"request", state->name},
                                     {"bootstrap", with == rotate::Credentials::bootstrap}});
  feed(rotate::Submitted{state->name});
}

asio::awaitable<void> CertificateManager::poll_request(rotate::PollRequest poll_request) {
  ApiRequest get{.target = std::string(sync::identity::csr_path) + "/" +
                           percent_encode(poll_request.name)};
  const auto answer = co_await csr_client_.call(poll_request.with, std::move(get));
  const auto state = answer ? sync::identity::read_csr(*answer)
                            : Result<sync::identity::CsrState>(fail(answer.error()));
  if (state) {
    feed(rotate::Polled{*state});
  } else {
    feed(rotate::PollFailed{state.error()});
  }
}

void CertificateManager::adopt(const std::string& certificate_pem) {
  auto taken = take(certificate_pem);
  if (!taken) {
    feed(rotate::Unusable{taken.error()});
    return;
  }
  certificate_ = *std::move(taken);
  log_info("certificate issued",
           {{"for", to_string(spec_.use)}, {"until", format_rfc3339(certificate_->not_after)}});
  if (on_change_) on_change_(*held_, *certificate_);
  feed(rotate::Adopted{{certificate_->not_before, certificate_->not_after}});
}

// Checks the certificate and stores it in the file before it is used.
Result<tls::Certificate> CertificateManager::take(const std::string& certificate_pem) {
  const tls::Identity issued{.certificate_pem = certificate_pem, .key_pem = key_pem_};
  if (auto pair = tls::check_pair(issued); !pair) return fail(pair.error());
  TRY(tls::Certificate certificate, tls::read_certificate(certificate_pem));
  if (certificate.names.common_name != spec_.names.common_name) {
    return fail(Errc::invalid, "it is for \"" + certificate.names.common_name + "\"");
  }
  if (auto stored = pki_.store(spec_.use, issued); !stored) {
    // The certificate is usable anyway. After a restart, another one is requested.
    log_error("certificate not stored", {{"error", stored.error()}});
  }
  held_ = issued;
  return certificate;
}

}  // namespace holdfast::agent
