# floorsim, included from tools/CMakeLists.txt.
add_library(jackpot_floor STATIC
    ${CMAKE_CURRENT_LIST_DIR}/floor_books.cpp
    ${CMAKE_CURRENT_LIST_DIR}/floor_cards.cpp
    ${CMAKE_CURRENT_LIST_DIR}/floor_log.cpp
    ${CMAKE_CURRENT_LIST_DIR}/floor_options.cpp
    ${CMAKE_CURRENT_LIST_DIR}/floor_plan.cpp
    ${CMAKE_CURRENT_LIST_DIR}/floor_pool.cpp
    ${CMAKE_CURRENT_LIST_DIR}/floor_report.cpp
    ${CMAKE_CURRENT_LIST_DIR}/floor_run.cpp
    ${CMAKE_CURRENT_LIST_DIR}/floor_table.cpp)
target_include_directories(jackpot_floor SYSTEM PRIVATE ${RapidJSON_INCLUDE_DIRS})
target_link_libraries(jackpot_floor
    PUBLIC jackpot::config jackpot::linkproto jackpot::storage
    PRIVATE jackpot_audit_lib jackpot_printable)

add_executable(floorsim ${CMAKE_CURRENT_LIST_DIR}/floorsim.cpp)
target_compile_definitions(floorsim PRIVATE JACKPOT_VERSION="${PROJECT_VERSION}")
target_link_libraries(floorsim PRIVATE jackpot_floor jackpot_audit_lib jackpot_printable)
