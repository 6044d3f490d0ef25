# holdfast_program(NAME SOURCE): adds a program that is shipped. The release preset also puts a
# stripped copy into bin/stripped; the file in bin keeps its symbols.

function(holdfast_program name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE holdfast_agent)
  if(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel")
    set(stripped ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/stripped)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory ${stripped}
      COMMAND ${CMAKE_STRIP} -o ${stripped}/${name} $<TARGET_FILE:${name}>)
  endif()
endfunction()
