// A recorded session with a real kube-apiserver, and the comparison of our answers with it.
//
// Values that a server chooses (uids, versions, generated names, continue tokens, cluster IPs) are
// learnt when they first appear in an answer and must stay the same from then on.

#pragma once

#include <boost/json.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

struct Exchange {
  std::size_t number = 0;  // index of the line in the file, from 0
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

// Loads `file` from test/data/apiserver.
std::vector<Exchange> load_exchanges(const std::string& file = "exchanges.jsonl");

// A difference between our answer and the recorded one.
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
  // The text of a request, with recorded values replaced by ours.
  [[nodiscard]] std::string to_ours(std::string text) const;

  // All differences between `recorded` and `ours`. Learns the values that the servers chose.
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
