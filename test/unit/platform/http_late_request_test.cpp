// A request over HTTP/2 that was given up while the link was broken does not reach the server when
// the link returns. For HTTP/1.1 see http_pool_test.cpp.

#include <optional>

#include "platform/http/client.h"
#include "platform/loop/tasks.h"
#include "test/support/run.h"
#include "test/unit/platform/http2_pair.h"

namespace holdfast::http {
namespace {

asio::awaitable<void> asking_slowly(Client& client, std::string& told) {
  Request request{.target = "/slow"};
  const auto answer = co_await client.send(std::move(request), MonoTime::max());
  told = answer ? "answered" : to_string(answer.error().code);
}

enum class GivenUp { at_its_deadline, by_its_caller, after_a_change_of_the_path };

struct LateRow {
  const char* what;
  GivenUp given_up;
  bool has_watch = false;  // another request uses the connection
};

class LateRequest : public ::testing::TestWithParam<LateRow> {
 protected:
  LateRequest() {
    auto listener = net::Listener::open(time_.executor(), at_, server_tls({"h2"})).value();
    server_.listen(std::move(listener));
    client_.emplace(Endpoint{
        .at = at_,
        .tls = tls::Context::for_client({.ca_pem = authority().certificate_pem()}).value()});
  }
  ~LateRequest() override {
    tasks_.cancel();
    for (const auto& watch : watches_) watch->cancel();
    client_.reset();
    time_.complete(server_.stop(time_.clock().mono() + 1s));
    time_.finish();
  }

  // Runs until the request has been answered or has failed.
  std::string ask(Request request) {
    std::string told;
    time_.complete(asking(std::move(request), told));
    return told;
  }

  asio::awaitable<void> asking(Request request, std::string& told) {
    const auto answer = co_await client_->open(std::move(request), time_.clock().mono() + 2s);
    told = answer ? std::to_string(answer->status) : std::string(to_string(answer.error().code));
    if (answer && answer->stream) stream_ = answer->stream;
  }

  asio::awaitable<Response> answer(const Request& request) {
    heard_.push_back(request.target);
    Response response;
    if (request.target == "/watch") {
      watches_.push_back(std::make_shared<Watch>(time_.executor(), false));
      response.stream = watches_.back();
    }
    co_return response;
  }

  test::VirtualTime time_;
  net::HostPort at_{"127.0.0.1", 443};
  loop::Tasks tasks_{time_.executor()};
  Server server_{time_.executor(), {}, [this](const Request& request) { return answer(request); }};
  std::optional<Client> client_;
  std::shared_ptr<BodyStream> stream_;
  std::vector<std::shared_ptr<Watch>> watches_;
  std::vector<std::string> heard_;
};

TEST_P(LateRequest, NeverArrives) {
  std::vector<std::string> expected{"/first"};
  EXPECT_EQ(ask({.target = "/first"}), "200");
  if (GetParam().has_watch) {
    EXPECT_EQ(ask({.target = "/watch"}), "200");
    expected.push_back("/watch");
  }
  time_.network().set_link(at_, {.is_silent = true});
  std::string told;
  tasks_.spawn("late", asking({.method = Method::patch, .target = "/late", .body = "{}"}, told));
  time_.run(1s);
  if (GetParam().given_up == GivenUp::by_its_caller) tasks_.cancel();
  if (GetParam().given_up == GivenUp::after_a_change_of_the_path) client_->forget_connections();
  time_.run(30s);
  EXPECT_EQ(told, GetParam().given_up == GivenUp::by_its_caller ? "" : "timeout");
  time_.network().set_link(at_, {});
  time_.run(10min);
  EXPECT_EQ(heard_, expected);

  expected.push_back("/next");
  EXPECT_EQ(ask({.target = "/next"}), "200");
  EXPECT_EQ(heard_, expected);
}

INSTANTIATE_TEST_SUITE_P(
    , LateRequest,
    ::testing::Values(LateRow{"AloneAtItsDeadline", GivenUp::at_its_deadline},
                      LateRow{"AloneByItsCaller", GivenUp::by_its_caller},
                      LateRow{"AloneAfterAChange", GivenUp::after_a_change_of_the_path},
                      LateRow{"SharedAtItsDeadline", GivenUp::at_its_deadline, true},
                      LateRow{"SharedByItsCaller", GivenUp::by_its_caller, true},
                      LateRow{"SharedAfterAChange", GivenUp::after_a_change_of_the_path, true}),
    [](const auto& row) { return std::string(row.param.what); });

// A caller who leaves does not cost the others the connection that they share.
TEST(GivingUp, OnAWorkingLinkKeepsTheSharedConnection) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Pair pair(context);
    Client client(pair.endpoint());
    loop::Tasks tasks(context.get_executor());
    for (int round = 0; round < 3; ++round) {
      std::string told;
      tasks.spawn("slow", asking_slowly(client, told));
      co_await loop::wait_for(1s);
      tasks.cancel();
      co_await loop::wait_for(10s);
      EXPECT_EQ(told, "");
      Request request{.target = "/next"};
      const auto next = co_await client.send(std::move(request), now(context) + 1s);
      EXPECT_EQ(next ? next->status : 0, 200);
    }
    EXPECT_EQ(client.traffic().connections, 1u);
    client.forget_connections();
    pair.go_on.notify_all();
    co_await pair.server.stop(now(context) + 1s);
  });
}

}  // namespace
}  // namespace holdfast::http
