// The settings of the uplink: when the link counts as lost, which server is asked, how many bytes
// may be sent, and how large answers may be.

#pragma once

#include "agent/client/answer_reader.h"
#include "sync/autonomy/byte_budget.h"
#include "sync/autonomy/link.h"
#include "sync/autonomy/server_pool.h"

namespace holdfast::agent {

struct UplinkSettings {
  sync::autonomy::LinkConfig link = {};
  sync::autonomy::ServerPoolConfig server_pool = {};
  // How long a read waits for the API server if the cache can answer it (Deadlines::read).
  Duration read_deadline = std::chrono::seconds(2);
  sync::autonomy::ByteRates rates = {};
  AnswerLimits answers = {};
};

}  // namespace holdfast::agent
