// One function for each command: it refuses the command and changes nothing, or carries it out.
// Only apply() calls them.
#pragma once

#include "rules/commands.h"
#include "rules/handlers/context.h"

namespace jackpot::rules {

// pools.cpp
Refused handle(Context& context, const ConfigureSite& command);
Refused handle(Context& context, const AdjustPool& command);
Refused handle(Context& context, const ChangePool& command);

// rounds.cpp
Refused handle(Context& context, const OpenRound& command);

// results.cpp
Refused handle(Context& context, const ReportResult& command);
Refused handle(Context& context, const CorrectResult& command);

// confirmations.cpp
Refused handle(Context& context, const ConfirmJackpot& command);
Refused handle(Context& context, const RuleOnClaims& command);
Refused handle(Context& context, const SettleDue& command);

// voids.cpp
Refused handle(Context& context, const VoidRound& command);
Refused handle(Context& context, const VoidWager& command);

// suspensions.cpp
Refused handle(Context& context, const SuspendTable& command);
Refused handle(Context& context, const ResumeTable& command);
Refused handle(Context& context, const MarkTableOffline& command);
Refused handle(Context& context, const MarkTableOnline& command);
Refused handle(Context& context, const SuspendPool& command);
Refused handle(Context& context, const ResumePool& command);

// payments.cpp
Refused handle(Context& context, const WithholdAward& command);
Refused handle(Context& context, const RecordPayment& command);

}  // namespace jackpot::rules
