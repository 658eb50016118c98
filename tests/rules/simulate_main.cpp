// `jackpotctl simulate` alone, for tests of the rules that need no other part of the program.
//   simulate_scenario [--explain] FILE
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>

#include "tools/jackpotctl/simulate.h"

int main(int argc, char** argv)
{
    const bool explain = argc == 3 && std::string_view{argv[1]} == "--explain";
    if (argc != 2 && !explain) return 2;
    std::ostringstream text;
    text << std::ifstream{argv[argc - 1], std::ios::binary}.rdbuf();
    const auto scenario = jackpot::ctl::readScenario(text.str());
    if (!scenario) {
        for (const std::string& line : scenario.error().lines) std::cerr << line << "\n";
        return 2;
    }
    std::cout << (explain ? jackpot::ctl::simulateToAccount(*scenario)
                          : jackpot::ctl::simulateToJson(*scenario));
    return 0;
}
