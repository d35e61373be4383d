# thnn_compile_options(target): what every C target of the project is compiled with.

function(thnn_compile_options target)
  set_target_properties(
    ${target}
    PROPERTIES C_STANDARD 11
               C_STANDARD_REQUIRED ON
               C_EXTENSIONS OFF
               C_VISIBILITY_PRESET hidden
               POSITION_INDEPENDENT_CODE ON)
  if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(
      ${target}
      PRIVATE -Wall
              -Wextra
              -Wstrict-prototypes
              # Errors unwind through these frames: Lua's, C++'s, and longjmp.
              -fexceptions
              -fasynchronous-unwind-tables
              # Error messages name a source file, not somebody's folder.
              -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
    if(NOT THNN_SANITIZE)
      # Threads may have small stacks: larger room is scratch of the plan. Sanitizers enlarge frames, and
      # variables of a debug build do not share room.
      target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Wframe-larger-than=16384>)
    endif()
    if(THNN_WERROR)
      target_compile_options(${target} PRIVATE -Werror)
    endif()
    foreach(sanitizer IN LISTS THNN_SANITIZE)
      target_compile_options(${target} PRIVATE -fsanitize=${sanitizer} -fno-sanitize-recover=all
                                               -fno-omit-frame-pointer -g1)
      target_link_options(${target} PUBLIC -fsanitize=${sanitizer})
    endforeach()
    if("address" IN_LIST THNN_SANITIZE AND "undefined" IN_LIST THNN_SANITIZE)
      # AddressSanitizer finds what these two do. Looked for twice, the largest vector loops took a fifth
      # longer to compile.
      target_compile_options(${target} PRIVATE -fno-sanitize=null,object-size)
    endif()
  endif()
  if(OpenMP_C_FOUND)
    # The library itself is linked where objects are linked.
    target_compile_options(${target} PRIVATE ${OpenMP_C_FLAGS})
  elseif(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    # Numbers of threads, and what computes them, are for pragmas alone.
    target_compile_options(${target} PRIVATE -Wno-unknown-pragmas -Wno-unused-variable
                                             -Wno-unused-parameter -Wno-unused-function)
  endif()
endfunction()
