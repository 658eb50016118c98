# The journal as an independent verifier sees it: verifier.py knows nothing but docs/journal-format.md.
add_executable(make_sample_journal "${CMAKE_CURRENT_LIST_DIR}/verifier_make.cpp")
target_link_libraries(make_sample_journal PRIVATE jackpot::flags jackpot::storage)

add_test(NAME storage_python_verifier
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_LIST_DIR}/verifier_test.py")
# A fixed seed, so that a run can be repeated; any other tries other journals and other tamperings.
set_tests_properties(storage_python_verifier PROPERTIES
    LABELS storage
    TIMEOUT 300
    ENVIRONMENT "MAKE_SAMPLE_JOURNAL=$<TARGET_FILE:make_sample_journal>;PYTHONDONTWRITEBYTECODE=1;JACKPOT_TEST_SEED=20261116")
