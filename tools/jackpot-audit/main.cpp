// jackpot-audit: the auditors' command line.
#include "tools/jackpot-audit/commands.h"

int main(int argc, char** argv)
{
    return jackpot::audit::runAudit({argv + 1, argv + argc}, JACKPOT_VERSION);
}
