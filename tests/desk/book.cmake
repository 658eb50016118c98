# What is behind the desk's routes, without a server.
find_package(doctest REQUIRED)

add_executable(book_tests
    ${CMAKE_CURRENT_LIST_DIR}/book_history_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/book_house.cpp
    ${CMAKE_CURRENT_LIST_DIR}/book_notifier_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/book_people_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/book_refused_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/book_search_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/book_story_test.cpp
    ${PROJECT_SOURCE_DIR}/tests/storage/scratch.cpp)
target_link_libraries(book_tests PRIVATE jackpot::console test_floor test_main)
target_compile_definitions(book_tests PRIVATE
    DESK_ROUTES_PAGE="${PROJECT_SOURCE_DIR}/docs/desk-routes.md")
# A fixed seed, so that a run can be repeated; any other tries other bodies.
add_unit_test(book_unit book_tests THREADS ENVIRONMENT JACKPOT_TEST_SEED=20261116)
