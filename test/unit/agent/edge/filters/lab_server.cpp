#include "test/unit/agent/edge/filters/lab_server.h"

#include "agent/lab/apiserver/apiserver.h"

namespace holdfast::test {

struct LabServer::Inside {
  std::unique_ptr<agent::lab::ApiServer> server;
};

LabServer::LabServer(const boost::asio::any_io_executor& executor, const Clock& clock,
                     std::filesystem::path data)
    : inside_(std::make_unique<Inside>()) {
  agent::lab::ApiServerOptions options;
  options.data = std::move(data);
  options.controllers = false;
  inside_->server = agent::lab::ApiServer::open(executor, clock, Random(7), options).value();
}

LabServer::~LabServer() = default;

http::Handler LabServer::handler() { return inside_->server->handler(); }

boost::asio::awaitable<void> LabServer::run() { return inside_->server->run(); }

void LabServer::stop() { inside_->server->stop(); }

}  // namespace holdfast::test
