# What becomes of a journal when the power, the disk, the process or the file fails. ./dev soak makes
# power cuts and kills ten times as many; the limits leave room for that.
add_library(storage_failures STATIC fault_floor.cpp fault_vfs.cpp scratch.cpp)
target_link_libraries(storage_failures PUBLIC jackpot::storage test_floor doctest::doctest)

add_executable(storage_crash crash_disk.cpp crash_test.cpp)
target_link_libraries(storage_crash PRIVATE storage_failures test_main ${CMAKE_DL_LIBS})
add_test(NAME storage_crash COMMAND storage_crash)
set_tests_properties(storage_crash PROPERTIES LABELS "storage;soak" COST 110 TIMEOUT 3600)

add_executable(storage_fault fault_test.cpp)
target_link_libraries(storage_fault PRIVATE storage_failures test_main)
add_test(NAME storage_fault COMMAND storage_fault)
set_tests_properties(storage_fault PROPERTIES LABELS storage TIMEOUT 600)

add_executable(kill_child kill_child.cpp)
target_link_libraries(kill_child PRIVATE storage_failures)
add_executable(storage_kill kill_test.cpp)
target_link_libraries(storage_kill PRIVATE storage_failures test_main)
target_compile_definitions(storage_kill PRIVATE KILL_CHILD="$<TARGET_FILE:kill_child>")
add_dependencies(storage_kill kill_child)
add_test(NAME storage_kill COMMAND storage_kill)
set_tests_properties(storage_kill PROPERTIES LABELS "storage;soak" TIMEOUT 1800)

# Quick enough for the sanitizers.
add_executable(storage_open files_test.cpp open_test.cpp)
target_link_libraries(storage_open PRIVATE storage_failures test_main)
add_unit_test(storage_open storage_open THREADS)

add_executable(storage_verify verify_test.cpp)
target_link_libraries(storage_verify PRIVATE storage_failures test_main)
add_unit_test(storage_verify storage_verify THREADS)

add_executable(storage_open_large open_large_test.cpp)
target_link_libraries(storage_open_large PRIVATE storage_failures test_main)
add_test(NAME storage_open_large COMMAND storage_open_large)
set_tests_properties(storage_open_large PROPERTIES LABELS storage TIMEOUT 300)
