# jackpot-audit, included from tools/CMakeLists.txt.
add_library(jackpot_audit_lib STATIC
    ${CMAKE_CURRENT_LIST_DIR}/audit_cli.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_commands.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_export.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_export_check.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_keys.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_output.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_proofs.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_report.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_show.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_verification.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_verify.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_witness.cpp)
target_link_libraries(jackpot_audit_lib PUBLIC jackpot::audit PRIVATE jackpot::console)

add_executable(jackpot-audit ${CMAKE_CURRENT_LIST_DIR}/jackpot_audit.cpp)
target_compile_definitions(jackpot-audit PRIVATE JACKPOT_VERSION="${PROJECT_VERSION}")
target_link_libraries(jackpot-audit PRIVATE jackpot_audit_lib)
