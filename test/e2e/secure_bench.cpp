#include "test/e2e/secure_bench.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fstream>

#include "platform/fs/file.h"
#include "test/support/system_loop.h"

namespace holdfast::test {
namespace {

WallTime today() { return SystemClock().wall(); }

asio::awaitable<void> send_once_into(http::Client& client, http::Request request, MonoTime deadline,
                                     std::optional<Result<http::Response>>& into) {
  into = co_await client.send(std::move(request), deadline);
  client.forget_connections();  // a kept connection would keep the loop running
}

}  // namespace

SecureBench::SecureBench()
    : authority_(tls::Signer::make_authority("lab", today() - 24h, today() + 240h)),
      signer_(tls::Signer::make(authority_).value()) {
  const std::filesystem::path tls_dir = dir() / "tls";
  std::filesystem::create_directory(tls_dir);
  const tls::Identity server_identity =
      certificate({.common_name = "server", .alternatives = {"IP:127.0.0.1"}});
  std::ofstream(tls_dir / "ca.crt") << authority_.certificate_pem;
  std::ofstream(tls_dir / "ca.key") << authority_.key_pem;
  std::ofstream(tls_dir / "server.crt") << server_identity.certificate_pem;
  std::ofstream(tls_dir / "server.key") << server_identity.key_pem;
  std::ofstream(dir() / "tokens")
      << "admin-token,admin,1,\"system:masters\"\n"
         "alice-token,alice,2,\"system:masters\"\n"
         "boot.token,system:bootstrap:boot,3,\"system:bootstrappers\"\n";
}

tls::Identity SecureBench::certificate(const tls::Names& names) const {
  tls::Identity made{.certificate_pem = {}, .key_pem = tls::make_key_pem()};
  const std::string request = tls::make_request_pem(made.key_pem, names).value();
  made.certificate_pem = signer_
                             .sign(request, {.not_before = today() - 1h,
                                             .not_after = today() + 24h,
                                             .for_client = true,
                                             .for_server = true})
                             .value();
  return made;
}

std::string SecureBench::ca_hash() const {
  return "sha256:" + tls::read_certificate(authority_.certificate_pem)->public_key_sha256;
}

void SecureBench::start_tls_server(const std::vector<std::string>& more) {
  std::vector<std::string> argv{"holdfast-lab",
                                "apiserver",
                                "--listen=127.0.0.1:" + std::to_string(server_port),
                                "--data=" + (dir() / "server").string(),
                                "--tls-dir=" + (dir() / "tls").string(),
                                "--token-file=" + (dir() / "tokens").string(),
                                "--controllers=false"};
  argv.insert(argv.end(), more.begin(), more.end());
  server = std::make_unique<Process>(argv, (dir() / "server.log").string());
  const auto ready = [this] {
    return ask_over_tls(server_port, {.target = "/readyz", .limit = 1s}).status == 200;
  };
  ASSERT_TRUE(eventually(30s, ready));
  const Answer space =
      as_admin(http::Method::post, "/api/v1/namespaces", R"({"metadata":{"name":"ns"}})");
  ASSERT_TRUE(space.status == 201 || space.status == 409) << space.body;
  const Answer node = as_admin(http::Method::post, nodes, R"({"metadata":{"name":"edge-a"}})");
  ASSERT_TRUE(node.status == 201 || node.status == 409) << node.body;
}

std::vector<std::string> SecureBench::secure_argv(const std::vector<std::string>& way) const {
  std::vector<std::string> argv = agent_argv(way);
  std::erase_if(argv, [](const std::string& flag) { return flag.starts_with("--kubeconfig="); });
  argv.push_back("--secure-listen=127.0.0.1:" + std::to_string(secure_port));
  return argv;
}

void SecureBench::launch_secure(const std::vector<std::string>& way) {
  agent.reset();
  agent = std::make_unique<Process>(secure_argv(way), (dir() / "agent.log").string());
}

std::string SecureBench::write_kubeconfig(const std::string& name, const std::string& token,
                                          std::uint16_t port) const {
  const std::string file = (dir() / (name + ".kubeconfig")).string();
  std::ofstream(file)
      << "apiVersion: v1\nkind: Config\ncurrent-context: up\nclusters:\n- name: up\n"
         "  cluster:\n    certificate-authority: tls/ca.crt\n    server: "
         "https://127.0.0.1:"
      << port << "\nusers:\n- name: up\n  user:\n    token: " << token
      << "\ncontexts:\n- name: up\n  context:\n    cluster: up\n    user: up\n";
  return file;
}

Answer SecureBench::ask_over_tls(std::uint16_t port, const Ask& ask, const tls::Identity& identity,
                                 const std::string& server_name) const {
  return ask_over_tls(net::HostPort{"127.0.0.1", port}, ask, identity, server_name);
}

Answer SecureBench::ask_over_tls(const net::HostPort& at, const Ask& ask,
                                 const tls::Identity& identity,
                                 const std::string& server_name) const {
  const auto context =
      tls::Context::for_client({.ca_pem = authority_.certificate_pem,
                                .identity = identity,
                                .insecure = at.port == secure_port && server_name.empty(),
                                .server_name = server_name});
  SystemLoop loop;
  http::Client client({.at = at, .tls = context.value()});
  std::optional<Result<http::Response>> response;
  asio::co_spawn(loop, send_once_into(client, to_request(ask), now() + ask.limit, response),
                 asio::detached);
  loop.run();
  return to_answer(*std::move(response));
}

Answer SecureBench::as_admin(http::Method method, const std::string& target,
                             const std::string& body) {
  return ask_over_tls(server_port,
                      {.method = method, .target = target, .body = body, .bearer = "admin-token"});
}

std::string SecureBench::log() const {
  return fs::read_all(dir() / "agent.log", 64 << 20).value_or("");
}

bool SecureBench::on_disk(std::string_view bytes) const {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(agent_dir())) {
    if (!entry.is_regular_file()) continue;
    if (fs::read_all(entry.path(), 64 << 20).value_or("").find(bytes) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::string SecureBench::client_pem() const {
  return fs::read_all(agent_dir() / "pki/client-current.pem", 1 << 20).value_or("");
}

}  // namespace holdfast::test
