# The tests of jackpot-audit, included from tests/cli/CMakeLists.txt.
find_package(Python3 COMPONENTS Interpreter REQUIRED)

add_executable(make_journal ${CMAKE_CURRENT_LIST_DIR}/make_journal.cpp)
target_link_libraries(make_journal PRIVATE jackpot::storage)

add_test(NAME cli_jackpot_audit
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/test_jackpot_audit.py)
set_tests_properties(cli_jackpot_audit PROPERTIES
    LABELS cli
    TIMEOUT 600
    ENVIRONMENT "JACKPOT_AUDIT=$<TARGET_FILE:jackpot-audit>;MAKE_JOURNAL=$<TARGET_FILE:make_journal>;PYTHONDONTWRITEBYTECODE=1;JACKPOT_TEST_SEED=20261116")
