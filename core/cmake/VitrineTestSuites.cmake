# Read by ctest, once for each test program: adds a test for each suite of the program, so that Qt, LibTorch and what they load are
# loaded once a suite and not once a test. Reads: name, program, folder, timeout, properties (see vitrine_add_test).

set(list "${folder}/${name}_suites.txt")
if("${program}" IS_NEWER_THAN "${list}")  # or one of the two does not exist
  execute_process(COMMAND "${program}" --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE status TIMEOUT 60)
  if(NOT status EQUAL 0)
    add_test("${name}.ListsItsTests" "${program}" --gtest_list_tests)  # fails, and shows why
    return()
  endif()
  file(WRITE "${list}" "${listed}")
endif()

# A line "Suite." is followed by a line "  Test" for each of its tests; a comment describes parameters.
file(STRINGS "${list}" lines REGEX "^[A-Za-z0-9_/]+\\.|^  ")
set(suites "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z0-9_/]+)\\.")
    set(suite "${CMAKE_MATCH_1}")
    list(APPEND suites "${suite}")
    set(seconds_${suite} ${timeout})
  else()
    math(EXPR seconds_${suite} "${seconds_${suite}} + 20")
  endif()
endforeach()
foreach(suite IN LISTS suites)
  add_test("${name}.${suite}" "${program}" "--gtest_filter=${suite}.*" --gtest_color=no)
  set_tests_properties("${name}.${suite}" PROPERTIES TIMEOUT ${seconds_${suite}} SKIP_RETURN_CODE 77 ${properties})
endforeach()
