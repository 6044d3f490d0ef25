#include "agent/lab/guest/guest.h"

#include <unistd.h>

#include <array>

#include "platform/proc/identity.h"
#include "platform/random.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab::guest {
namespace {

namespace json = sync::json;

constexpr std::size_t name_max = 63;  // of a namespace, and of a label's value
// As Kubernetes' generated names: without vowels, and without what looks alike.
constexpr std::string_view name_letters = "bcdfghjklmnpqrstvwxz2456789";

std::string own_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

json::object& object_in(json::object& from, const char* key) {
  json::value& found = from[key];
  if (!found.is_object()) found = json::object();
  return found.as_object();
}

}  // namespace

Owner Owner::self(std::string data) {
  Owner owner{own_host(), "unknown", std::move(data)};
  const auto identity = proc::identify(getpid());
  if (!identity) return owner;
  owner.process = identity->boot_id + "." + std::to_string(identity->pid) + "." +
                  std::to_string(identity->start_ticks);
  return owner;
}

Result<Owner> Owner::read(const std::string& annotation) {
  const std::size_t host = annotation.find('/');
  const std::size_t process = host == annotation.npos ? host : annotation.find('/', host + 1);
  if (host == 0 || process == annotation.npos || process == host + 1) {
    return fail(Errc::invalid, "\"" + annotation + "\" names no process");
  }
  return Owner{annotation.substr(0, host), annotation.substr(host + 1, process - host - 1),
               annotation.substr(process + 1)};
}

bool Owner::is_here() const { return host == own_host(); }

bool Owner::is_alive() const {
  const auto words = split(process, '.');
  if (words.size() != 3) return false;
  const auto pid = parse_int<pid_t>(words[1]);
  const auto started = parse_int<std::uint64_t>(words[2]);
  if (!pid || !started) return false;
  return proc::is_alive({*pid, *started, std::string(words[0])});
}

Guest Guest::make() {
  return {.run = "lab-" + Random::from_entropy().text(5, name_letters), .owner = {}};
}

Status Guest::check_name(const std::string& bare) const {
  if (name(bare).size() <= name_max) return {};
  return fail(Errc::invalid, "\"" + bare + "\" is too long: with the prefix " + run + "- it has " +
                                 std::to_string(name(bare).size()) + " characters, at most " +
                                 std::to_string(name_max) + " are possible");
}

std::string Guest::bare(const std::string& name) const {
  const std::string prefix = run + "-";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::string Guest::query() const { return "labelSelector=holdfast.dev%2Flab-run%3D" + run; }

void Guest::mark(json::object& metadata) const {
  object_in(metadata, "labels")[run_label] = run;
  object_in(metadata, "annotations")[owner_annotation] = owner;
}

void Guest::confine(json::object& pods) const {
  object_in(object_in(pods, "metadata"), "labels")[run_label] = run;
  json::object& spec = object_in(pods, "spec");
  object_in(spec, "nodeSelector")[run_label] = run;
  json::value& tolerations = spec["tolerations"];
  if (!tolerations.is_array()) tolerations = json::array();
  tolerations.as_array().push_back(json::object{
      {"key", run_label}, {"operator", "Equal"}, {"value", run}, {"effect", "NoSchedule"}});
}

}  // namespace holdfast::agent::lab::guest
