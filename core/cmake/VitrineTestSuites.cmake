# Read by ctest, once for each test program: adds a test for each suite of the program, or one for all of them where they are joined, so
# that Qt, LibTorch and what they load are loaded once a suite or once a program and not once a test. Reads: name, program, folder,
# timeout, environment, properties, joins, alone, first, costs (see vitrine_add_test).

set(tests "")  # of ctest: the last part of the name
if(joins)
  # It would take long to ask the program for its suites.
  set(tests ${alone} Suites)
  foreach(suite IN LISTS alone)
    set(filter_${suite} "${suite}.*")
    set(seconds_${suite} ${timeout})
  endforeach()
  string(REPLACE ";" ".*:" others "${alone}")
  set(filter_Suites "-${others}.*")
  set(seconds_Suites 1800)
else()
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
  foreach(line IN LISTS lines)
    if(line MATCHES "^([A-Za-z0-9_/]+)\\.")
      set(suite "${CMAKE_MATCH_1}")
      list(APPEND tests "${suite}")
      set(filter_${suite} "${suite}.*")
      set(seconds_${suite} ${timeout})
    else()
      math(EXPR seconds_${suite} "${seconds_${suite}} + 20")
    endif()
  endforeach()
endif()

foreach(test IN LISTS tests)
  add_test("${name}.${test}" "${program}" "--gtest_filter=${filter_${test}}" --gtest_color=no)
  set_tests_properties("${name}.${test}" PROPERTIES
    TIMEOUT ${seconds_${test}} SKIP_RETURN_CODE 77 FAIL_REGULAR_EXPRESSION "Running 0 tests"  # of a suite that is not there
    ENVIRONMENT "${environment}" ${properties})
  if(first)
    if(test STREQUAL first)
      set_tests_properties("${name}.${test}" PROPERTIES FIXTURES_SETUP "${name}")
    else()
      set_tests_properties("${name}.${test}" PROPERTIES FIXTURES_REQUIRED "${name}")
    endif()
  endif()
  set(cost 0)  # what ctest measured last
  list(FIND costs "${test}" place)
  if(NOT place EQUAL -1)
    math(EXPR place "${place} + 1")
    list(GET costs ${place} cost)
  elseif(test STREQUAL "Suites")
    set(cost 30)
  endif()
  set_tests_properties("${name}.${test}" PROPERTIES COST ${cost})
endforeach()
