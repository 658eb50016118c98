# What happens to a signed journal when someone changes it: every change is found, or the journal
# still says what it said.
add_library(storage_tamper STATIC "${CMAKE_CURRENT_LIST_DIR}/tamper_journal.cpp")
target_link_libraries(storage_tamper PUBLIC jackpot::storage test_floor doctest::doctest)

function(add_tamper_program name)
  add_executable(storage_tamper_${name}
    "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tamper_${name}_test.cpp")
  target_link_libraries(storage_tamper_${name} PRIVATE storage_tamper test_main)
endfunction()

# Some hundred thousand verifications: halved, so that two cores share them.
add_tamper_program(flips)
foreach(shard 1 2)
  add_test(NAME storage_tamper_flips_${shard} COMMAND storage_tamper_flips)
  set_tests_properties(storage_tamper_flips_${shard} PROPERTIES
    LABELS storage
    COST 150
    TIMEOUT 900
    ENVIRONMENT "JACKPOT_TAMPER_SHARD=${shard}/2")
endforeach()

foreach(name hostile long outcomes rows schema segments signatures)
  add_tamper_program(${name})
  add_test(NAME storage_tamper_${name} COMMAND storage_tamper_${name})
  set_tests_properties(storage_tamper_${name} PROPERTIES LABELS storage TIMEOUT 600)
endforeach()
