# thnn_folder(list folder file…): appends a folder's sources to a list.
function(thnn_folder list folder)
  set(files ${ARGN})
  list(TRANSFORM files PREPEND "${folder}/")
  set(${list} ${${list}} ${files} PARENT_SCOPE)
endfunction()
