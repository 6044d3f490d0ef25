// The path to the API servers: it sends every request to the cloud and runs the UplinkMachine,
// which judges link and servers by the outcomes.
//
// A repeatable request whose server fails is sent to the next one. A stream stays with its server
// until that is taken out of rotation.
//
// Threading: the loop's thread only. An Uplink must outlive its calls.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>

#include "agent/client/api_client.h"
#include "agent/edge/forward/owners.h"
#include "agent/edge/forward/uplink_bytes.h"
#include "agent/edge/forward/uplink_settings.h"
#include "agent/edge/forward/uplink_streams.h"
#include "agent/edge/route/deadlines.h"
#include "platform/loop/event.h"
#include "platform/random.h"
#include "sync/autonomy/uplink.h"

namespace holdfast::agent {

// Observes answers for what they reveal about the agent's own identity and the time.
class UplinkObserver {
 public:
  virtual ~UplinkObserver() = default;
  // An API server answered, with whatever status.
  virtual void answered(const http::Response& response) = 0;
  // An API server answered 401 to our own credentials.
  virtual void unauthorized() = 0;
};

// What a missing answer is evidence of.
enum class TimeoutMeaning : std::uint8_t {
  of_link,     // the link or the server may be down
  of_request,  // only this request is slow, for example because its server waits for another one
};

// How a client gets the body of a forwarded request's answer.
enum class Delivery : std::uint8_t {
  whole,              // once it has arrived; 507 above AnswerLimits
  whole_if_it_moves,  // the same, up to a minute as long as bytes arrive
  whole_if_it_fits,   // the same, but what is larger is passed on while it arrives
  moving,             // while it arrives, if it is large or takes long (PassOn)
  streamed,           // while it arrives, from the first byte on
};

class Uplink {
 public:
  // Uses the servers that `client` has now.
  Uplink(asio::any_io_executor executor, const UplinkSettings& settings, ApiClient& client,
         const Clock& clock, Random& random);

  // Sets the observer. It must outlive this.
  void observe(UplinkObserver& observer) { observer_ = &observer; }

  [[nodiscard]] const sync::autonomy::Link& link() const { return machine_.link(); }
  // Notified whenever the link's state changes.
  [[nodiscard]] loop::Event& changed() { return changed_; }
  [[nodiscard]] const sync::autonomy::ServerPool& servers() const { return machine_.servers(); }
  // "10.0.0.1:6443"
  [[nodiscard]] std::string server_name(std::size_t server) const;

  // Forwards a local client's request and returns the answer, decompressed unless it is streamed.
  // `limit` is for all tries together, but not for a body that is passed on while it arrives
  // (passed_on_silence), and for each piece of one that is whole_if_it_moves. Without
  // `timeout_is_evidence`, a timeout is no evidence against link and server, because the server
  // itself waits for somebody else. Errors: the transport's (the cloud was not reached); denied,
  // for a caller with a certificate and no token, who gets none of our credentials; exhausted, if
  // the byte budget stays spent for longer than `limit` or other answers use all memory; corrupt,
  // if the body was broken off or is damaged.
  asio::awaitable<Result<http::Response>> forward(http::Request request, Delivery delivery,
                                                  Duration limit, bool timeout_is_evidence = true);
  // Sends a request of the agent's own. `limit` is for each try and starts when the byte budget
  // allows it; of an answer that may be large, it limits the time between two pieces. Errors: as
  // ApiClient::call().
  asio::awaitable<Result<std::string>> call(ApiRequest request, Duration limit);
  // The same, but returns the answer whatever its status. Errors: also exhausted, for an answer
  // above AnswerLimits.
  asio::awaitable<Result<http::Response>> send(
      ApiRequest request, bool streamed, Duration limit,
      TimeoutMeaning timeout_meaning = TimeoutMeaning::of_link);
  // Whether to ask for a compressed answer to a client's request. The client asks for one itself,
  // or the path is slow.
  [[nodiscard]] bool compresses(bool client_asks) const;
  // The same as call() for a heartbeat: the limit of each try is what earlier heartbeats to its
  // server have taken (see PathTime).
  asio::awaitable<Result<std::string>> heartbeat(ApiRequest request);

  // Probes the servers that are out of rotation with a GET of `target`, one at a time. Runs until
  // cancelled.
  asio::awaitable<void> probe_servers(std::string target);

  // Whether a request that failed with `error` may still succeed at another server.
  [[nodiscard]] bool may_succeed_elsewhere(const Error& error) const {
    return machine_.may_succeed_elsewhere(error);
  }

  // Reports that a write was accepted here. The link then only becomes connected through a rejoin,
  // which sends the write.
  void accepted_locally() { take(sync::autonomy::uplink::WriteAccepted{}); }
  // Reports that a probe begins.
  void probing() { take(sync::autonomy::uplink::ProbeBegins{}); }
  // Requests a probe of the link now, for example after the machine slept.
  void probe_now() { take(sync::autonomy::uplink::ProbeWanted{}); }
  // Hastens the next probe whenever this machine's network has become better. Runs until cancelled.
  asio::awaitable<void> follow_network();
  // How often that has happened. changed() tells of it.
  [[nodiscard]] std::uint64_t network_changes() const { return machine_.network_changes(); }
  // A rejoin is about to end: until it has, writes that would be accepted here wait, because each
  // would keep it from its end.
  void set_closing(bool closing) { is_closing_ = closing; }
  [[nodiscard]] bool is_closing() const { return is_closing_; }
  // Reports that a renewal of the lease was granted that was sent at `sent`.
  void renewed(MonoTime sent) { take(sync::autonomy::uplink::LeaseRenewed{sent}); }
  // Report how a rejoin ended.
  void rejoined() { take(sync::autonomy::uplink::Rejoined{}); }
  void rejoin_failed(const Error& why) { take(sync::autonomy::uplink::RejoinFailed{why}); }

  // How long the next heartbeat may take; see PathTime::limit().
  [[nodiscard]] Duration heartbeat_limit() const { return path(client_.preferred()).limit(); }
  // How long a write waits that can be answered here instead: deadlines.read, or longer where even
  // a heartbeat may take longer, up to deadlines.write.
  [[nodiscard]] Duration limit_with_fallback(const Deadlines& deadlines) const;
  // Whether even heartbeats take longer than a read waits that the cache can answer.
  [[nodiscard]] bool answers_late() const { return path(client_.preferred()).answers_late(); }
  // How long heartbeats to a server take.
  [[nodiscard]] const sync::autonomy::PathTime& path(std::size_t server) const {
    return machine_.path(server);
  }

  // The current fault; nothing if the last evidence was an answer.
  [[nodiscard]] std::optional<sync::autonomy::LinkFault> fault() const { return machine_.fault(); }
  // How often each fault occurred since the start.
  [[nodiscard]] const sync::autonomy::UplinkMachine::Faults& faults() const {
    return machine_.faults();
  }

  // The current outage, for OutageReport.
  [[nodiscard]] const sync::autonomy::Outage& outage() const { return machine_.outage(); }
  [[nodiscard]] sync::autonomy::Outage& outage() { return machine_.outage(); }
  // sync::autonomy::describe() of the outage now; "" while the link is connected.
  [[nodiscard]] std::string describe_outage() const;

  // Which callers the API server has accepted.
  [[nodiscard]] const Owners& owners() const { return owners_; }

  [[nodiscard]] http::Traffic traffic() const { return client_.traffic(); }
  [[nodiscard]] const UplinkBytes& bytes() const { return *bytes_; }

 private:
  // A request under way.
  struct SentRequest {
    sync::autonomy::uplink::Try attempt;
    std::string target;  // for messages and for judging the answer
    sync::autonomy::UplinkClass traffic = sync::autonomy::UplinkClass::reads;
    bool may_be_large = false;  // the limit is for each piece of the body
    Delivery delivery = Delivery::whole;
    std::uint64_t received_before = 0;  // UplinkBytes::received_from() when it was sent

    [[nodiscard]] MonoTime deadline() const { return attempt.began + attempt.limit; }
  };

  // Sends to one server, and reads the answer unless it is to be streamed. A problem with an
  // answer's body is no evidence about its server.
  asio::awaitable<Result<ReadAnswer>> forward_to(const SentRequest& sent, http::Request request);
  asio::awaitable<Result<ReadAnswer>> send_to(const SentRequest& sent, ApiRequest request);
  asio::awaitable<Result<ReadAnswer>> read(const SentRequest& sent, Result<http::Response> outcome);
  // Without `limit` it is a heartbeat's.
  asio::awaitable<Result<http::Response>> send_within(std::optional<Duration> limit,
                                                      ApiRequest request, bool streamed,
                                                      TimeoutMeaning timeout_meaning);
  // Judges the answer's head, also if its body is incomplete.
  Result<ReadAnswer> record_read(const SentRequest& sent, Result<ReadAnswer> outcome);

  // Judges the outcome of a request as evidence about server and link. An answer that does not come
  // from an API server (a captive portal's page) becomes an error.
  Result<http::Response> record_outcome(const SentRequest& sent, Result<http::Response> outcome);
  // Passes the machine an input, and performs the effects.
  void take(const sync::autonomy::uplink::Input& input);
  void perform(const sync::autonomy::uplink::WakeLink& wake);
  void perform(const sync::autonomy::uplink::WakeServers& wake);
  void perform(const sync::autonomy::uplink::Prefer& prefer);
  void perform(const sync::autonomy::uplink::Sever& sever);
  void perform(const sync::autonomy::uplink::ForgetConnections& forget);
  void perform(const sync::autonomy::uplink::RenewCredentials& renew);
  void perform(const sync::autonomy::uplink::ReportHealth& report);
  void perform(const sync::autonomy::uplink::ReportTime& report);
  // After `tries` tries, the last one at `server`: the server to try next, or nothing.
  std::optional<std::size_t> next_server(bool repeatable, std::size_t server, std::size_t tries);

  ApiClient& client_;
  const Clock& clock_;
  sync::autonomy::UplinkMachine machine_;
  UplinkStreams streams_;
  Owners owners_;
  AnswerReader answers_;
  std::shared_ptr<UplinkBytes> bytes_;  // shared with the streams
  loop::Event changed_;
  loop::Event servers_changed_;
  UplinkObserver* observer_ = nullptr;
  bool is_closing_ = false;
};

}  // namespace holdfast::agent
