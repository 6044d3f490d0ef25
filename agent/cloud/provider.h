// Asks the infrastructure provider whether the machine of a node still exists: one HTTP GET to the
// URL of --node-exists-url.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "platform/http/client.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent {

namespace asio = boost::asio;

class Provider {
 public:
  // `url` is http:// or https:// (with the system's roots) and has {name}, {providerID} or both in
  // its path or query; they are replaced percent-encoded. `clock` outlives it.
  // Errors: invalid, saying what is wrong with the URL.
  [[nodiscard]] static Result<std::unique_ptr<Provider>> make(std::string_view url,
                                                              const Clock& clock);

  // 200: it exists. 404: it does not. Errors: any other answer, or none within 5 s; invalid when
  // the URL wants the providerID and the node has none.
  asio::awaitable<Result<bool>> exists(std::string node, std::string provider_id);

 private:
  Provider(http::Endpoint endpoint, std::string target, const Clock& clock);

  http::Client http_;
  std::string target_;  // with the placeholders still in it
  const Clock& clock_;
};

}  // namespace holdfast::agent
