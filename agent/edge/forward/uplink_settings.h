// The settings of the uplink: when the link counts as lost, which server is asked, how many bytes
// may be sent, and how large answers may be.

#pragma once

#include "agent/client/answer_reader.h"
#include "sync/autonomy/byte_budget.h"
#include "sync/autonomy/uplink.h"

namespace holdfast::agent {

struct UplinkSettings {
  sync::autonomy::UplinkConfig machine = {};
  sync::autonomy::ByteRates rates = {};
  AnswerLimits answers = {};
};

}  // namespace holdfast::agent
