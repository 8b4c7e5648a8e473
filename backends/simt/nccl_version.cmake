# keramos_check_nccl_version(<header> <result>): whether a header of NCCL or RCCL has what nccl_link.hpp needs: ncclCommSplit came
# with 2.18.
function(keramos_check_nccl_version header result)
  file(STRINGS "${header}" version REGEX "#define NCCL_(MAJOR|MINOR) ")
  string(REGEX REPLACE "[^0-9;]" "" version "${version}")
  string(REPLACE ";" "." version "${version}")
  set(${result} ON PARENT_SCOPE)
  if(version VERSION_LESS 2.18)
    message(STATUS "Keramos: ${header} is ${version}, but 2.18 is needed; keramos::dist sends by MPI through the host's memory")
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()
