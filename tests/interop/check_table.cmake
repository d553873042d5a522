# docs/support.md is what `exchange table` prints, and no cell fails.
execute_process(COMMAND ${EXCHANGE} table OUTPUT_VARIABLE made RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "a cell of the table is not read back as it was written:\n${made}")
endif()
file(READ ${TABLE} kept)
if(NOT made STREQUAL kept)
  message(FATAL_ERROR "${TABLE} is not what 'exchange table' prints; run ./dev docs and commit the page")
endif()
