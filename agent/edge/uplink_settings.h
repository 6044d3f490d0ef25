// How the uplink behaves: when it is given up, which server is asked, how much may go over it.

#pragma once

#include "agent/client/answer_reader.h"
#include "sync/autonomy/byte_budget.h"
#include "sync/autonomy/link.h"
#include "sync/autonomy/rota.h"

namespace holdfast::agent {

struct UplinkSettings {
  sync::LinkConfig link = {};
  sync::RotaConfig rota = {};
  sync::ByteRates rates = {};
  AnswerLimits answers = {};
};

}  // namespace holdfast::agent
