# Counts the instructions of PROGRAM's WORK under VALGRIND and compares them with the file COUNTS,
# which has a line "WORK COUNT" for each. With RECORD the line is written instead.

execute_process(
  COMMAND ${VALGRIND} --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no
    --toggle-collect=holdfast::cost::measured_work* ${PROGRAM} ${WORK}
  RESULT_VARIABLE ended ERROR_VARIABLE said)
if(NOT ended EQUAL 0 OR NOT said MATCHES "Collected : ([0-9]+)")
  message(FATAL_ERROR "${WORK} could not be counted:\n${said}")
endif()
set(count ${CMAKE_MATCH_1})

file(STRINGS ${COUNTS} lines)
if(RECORD)
  list(FILTER lines EXCLUDE REGEX "^${WORK} ")
  list(APPEND lines "${WORK} ${count}")
  list(JOIN lines "\n" text)
  file(WRITE ${COUNTS} "${text}\n")
  message(STATUS "${WORK}: ${count} instructions recorded")
  return()
endif()

list(FILTER lines INCLUDE REGEX "^${WORK} [0-9]+$")
if(NOT lines MATCHES " ([0-9]+)$")
  message(FATAL_ERROR "${WORK} has no recorded count")
endif()
set(recorded ${CMAKE_MATCH_1})
math(EXPR percent "(${count} - ${recorded}) * 100 / ${recorded}")
math(EXPR limit "${recorded} + ${recorded} / 4")
message(STATUS "${WORK}: ${count} instructions, ${recorded} recorded (${percent} %)")
if(count GREATER limit)
  message(FATAL_ERROR "${WORK} costs ${percent} % more than recorded; allowed are 25 %")
endif()
