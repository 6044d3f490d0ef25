// A recorded conversation with a real kube-apiserver, and how our answers compare to it.
//
// What a server chooses (uids, versions, generated names, continue tokens, cluster IPs) is learnt
// the first time it appears in an answer and must stay the same from then on.

#pragma once

#include <boost/json.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

struct Exchange {
  std::size_t number = 0;  // from 0, as the lines of the file
  std::string note;
  std::string method;
  std::string target;
  std::string accept;
  std::string content_type;
  std::string body;
  int status = 0;
  std::map<std::string, std::string> headers;
  boost::json::value response;
};

// `file` in test/data/apiserver.
std::vector<Exchange> load_exchanges(const std::string& file = "exchanges.jsonl");

// How an answer of ours differs from what was recorded.
struct Difference {
  std::string path;  // "/spec/containers/0/image"
  std::string recorded;
  std::string ours;

  [[nodiscard]] std::string text() const {
    return path + "\n  recorded " + recorded + "\n  ours     " + ours;
  }
};

class Translation {
 public:
  // The request with what was recorded replaced by what is ours.
  [[nodiscard]] std::string to_ours(std::string text) const;

  // Everything in which `ours` is not `recorded`; learns on the way.
  std::vector<Difference> compare(const boost::json::value& recorded,
                                  const boost::json::value& ours);

 private:
  void values(const std::string& path, std::string_view key, const boost::json::value& recorded,
              const boost::json::value& ours);
  void objects(const std::string& path, const boost::json::object& recorded,
               const boost::json::object& ours);
  void texts(const std::string& path, std::string_view key, const std::string& recorded,
             const std::string& ours);

  std::map<std::string, std::string> names_;     // uids, names, tokens, addresses
  std::map<std::string, std::string> versions_;  // resourceVersions
  std::vector<Difference> found_;
};

}  // namespace holdfast::test
