// print_routes: the route table of the desk as JSON, for tests in Python.
#include <iostream>

#include "tests/console/console_fixture.h"

int main()
{
    using namespace jackpot::console;
    testing::ConsoleFixture house;
    std::cout << toJson(allRoutes({house.controller, *house.people, *house.sessions, *house.desk,
                                   house.monitoring}))
              << "\n";
}
