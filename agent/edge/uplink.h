// The way to the cloud: every request that goes there, which of several API servers it goes to,
// and what each tells about the link and about its server.
//
// The link is as good as its best server. A request whose server fails, and that may be repeated,
// goes on to the next one; a stream stays with its server until that is taken out of rotation.
//
// Threading: the loop's thread only. Outlive the calls.

#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>

#include "agent/client/api_client.h"
#include "agent/edge/owners.h"
#include "agent/edge/uplink_bytes.h"
#include "agent/edge/uplink_settings.h"
#include "agent/edge/uplink_streams.h"
#include "platform/loop/event.h"
#include "platform/random.h"
#include "sync/autonomy/fault.h"
#include "sync/autonomy/outage.h"

namespace holdfast::agent {

// Who wants to know what answers tell besides.
class UplinkObserver {
 public:
  virtual ~UplinkObserver() = default;
  // An API server's answer, whatever its status.
  virtual void answered(const http::Response& response) = 0;
  // It does not know us by our own credentials.
  virtual void unauthorized() = 0;
};

// What a missing answer is evidence of.
enum class Silence : std::uint8_t {
  of_link,     // the link, or its server, may be down
  of_request,  // this request alone is slow, for example because its server waits for another one
};

class Uplink {
 public:
  // The servers are those that `client` has now.
  Uplink(asio::any_io_executor executor, const UplinkSettings& settings, ApiClient& client,
         const Clock& clock, Random& random);

  // `observer` outlives the calls.
  void observe(UplinkObserver& observer) { observer_ = &observer; }

  [[nodiscard]] const sync::Link& link() const { return link_; }
  // Notified whenever the link's state changes.
  [[nodiscard]] loop::Event& changed() { return changed_; }
  [[nodiscard]] const sync::ServerRota& servers() const { return servers_; }
  // "10.0.0.1:6443"
  [[nodiscard]] std::string server_name(std::size_t server) const;

  // Passes a local client's request on. Errors are the transport's: the cloud was not reached; and
  // denied, for a caller who is known by a certificate and brings no token: he gets no credentials
  // of ours; exhausted: the budget is spent for longer than that. `limit` is for all tries
  // together. An answer that is larger than AnswerLimits allow becomes a 507. Without
  // `silence_tells` a missing answer is no evidence against link and server: they wait for somebody
  // else.
  asio::awaitable<Result<http::Response>> forward(http::Request request, bool streamed,
                                                  Duration limit, bool silence_tells = true);
  // A request of our own; errors as ApiClient::call(). `limit` is for each try,
  // once the budget lets it go.
  asio::awaitable<Result<std::string>> call(ApiRequest request, Duration limit);
  // The same as it was answered, whatever the status. Errors: exhausted, too, for an answer
  // that AnswerLimits do not allow.
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed, Duration limit,
                                               Silence silence = Silence::of_link);

  // Probes the servers that are out of rotation with a GET of `target`, one at a time and for at
  // most `limit` each. Runs until cancelled.
  asio::awaitable<void> keep_servers(std::string target, Duration limit);

  // Whether what failed just now, for want of its server, may go to another one.
  [[nodiscard]] bool has_another_way(const Error& error) const;

  // A write was accepted here: the link comes back by a rejoin, which sends it.
  void accepted_locally() { link_.accepted_locally(); }
  void probing() { link_.probing(clock_.mono()); }
  // What was true a moment ago may not be now: the machine slept.
  void doubt();
  void rejoined();
  void rejoin_failed(std::string_view reason);

  // What is wrong now; nothing: the last thing heard was an answer.
  [[nodiscard]] std::optional<sync::LinkFault> fault() const { return fault_; }
  // How often each was met since the start.
  using Faults = std::array<std::uint64_t, sync::link_faults>;
  [[nodiscard]] const Faults& faults() const { return faults_; }

  // The outage that is under way, for those who tell people of it; see OutageReport.
  [[nodiscard]] const sync::Outage& outage() const { return outage_; }
  [[nodiscard]] sync::Outage& outage() { return outage_; }
  // sync::describe() of it, as of now: "" while the link is connected.
  [[nodiscard]] std::string describe_outage() const;

  // Which callers the API server has accepted.
  [[nodiscard]] const Owners& owners() const { return owners_; }

  [[nodiscard]] http::Traffic traffic() const { return client_.traffic(); }
  [[nodiscard]] const UplinkBytes& bytes() const { return *bytes_; }

 private:
  // A request on its way.
  struct Sent {
    MonoTime began;
    std::size_t server = 0;
    bool own_credentials = false;
    std::string target;  // for messages and to judge the answer by
    sync::UplinkClass traffic = sync::UplinkClass::reads;
    bool silence_tells = true;
  };

  // Sends to one server, and reads the answer unless it is to be streamed. What is wrong with the
  // body of an answer says nothing about its server.
  asio::awaitable<Result<ReadAnswer>> forward_to(const Sent& sent, http::Request request,
                                                 bool streamed, MonoTime deadline);
  asio::awaitable<Result<ReadAnswer>> send_to(const Sent& sent, ApiRequest request, bool streamed,
                                              MonoTime deadline);
  asio::awaitable<Result<ReadAnswer>> read(const Sent& sent, Result<http::Response> outcome,
                                           bool streamed, MonoTime deadline);
  // Judges the answer's head, also of one whose body is not whole.
  Result<ReadAnswer> judge_read(const Sent& sent, Result<ReadAnswer> outcome);

  // Judges what came of a request. An answer that no API server gives (a captive portal's page) is
  // turned into an error.
  Result<http::Response> judge(const Sent& sent, Result<http::Response> outcome);
  // The same for where it came from alone: an error, if that is no API server.
  [[nodiscard]] Result<http::Response> check_origin(const Sent& sent,
                                                    Result<http::Response> outcome);
  void note(std::optional<sync::LinkFault> fault);
  void hear_server(const Sent& sent, sync::Evidence evidence, const std::string& reason);
  // After `tries` tries, the last one at `server`: which one is to be asked instead; nothing: none.
  std::optional<std::size_t> try_another(bool repeatable, std::size_t server, std::size_t tries);
  void announce();
  void tell_outage(std::optional<sync::LinkFault> fault, std::string_view reason);

  ApiClient& client_;
  const Clock& clock_;
  sync::Link link_;
  sync::ServerRota servers_;
  UplinkStreams streams_;
  Owners owners_;
  AnswerReader answers_;
  std::shared_ptr<UplinkBytes> bytes_;  // shared with the streams
  loop::Event changed_;
  loop::Event servers_changed_;
  UplinkObserver* observer_ = nullptr;
  std::optional<sync::LinkFault> fault_;
  Faults faults_{};
  sync::Outage outage_;
};

}  // namespace holdfast::agent
