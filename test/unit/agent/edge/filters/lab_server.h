// The lab's API server without its headers, whose type Version conflicts with that of the edge
// agent.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <filesystem>
#include <memory>

#include "platform/http/message.h"
#include "platform/time.h"

namespace holdfast::test {

class LabServer {
 public:
  LabServer(const boost::asio::any_io_executor& executor, const Clock& clock,
            std::filesystem::path data);
  ~LabServer();

  [[nodiscard]] http::Handler handler();
  boost::asio::awaitable<void> run();
  void stop();

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace holdfast::test
