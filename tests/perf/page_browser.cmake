# The page of keramos-perf report in a real browser: page_audit.py says what is looked at.
#   cmake -DPROGRAM=keramos-perf -DDATA=tests/perf/data -DBASELINES=perf/data/baselines -DBROWSER=chromium -DPYTHON=python3
#         [-DPICTURES=folder] -P page_browser.cmake
# What it needs beside chromium comes from PyPI into a virtual environment here.
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)

file(REMOVE_RECURSE page_browser)
if(NOT BROWSER OR NOT PYTHON)
  message("NO BROWSER: the page was NOT CHECKED in one (install chromium and python3-venv, and configure again)")
  return()
endif()
set(requirements ${CMAKE_CURRENT_LIST_DIR}/page_requirements.txt)
set(venv ${CMAKE_CURRENT_BINARY_DIR}/page-venv)
file(SHA256 ${requirements} wanted)
set(installed "")
if(EXISTS ${venv}/installed)
  file(READ ${venv}/installed installed)
endif()
if(NOT installed STREQUAL wanted)
  execute_process(COMMAND ${PYTHON} -m venv --clear ${venv} RESULT_VARIABLE status ERROR_VARIABLE err OUTPUT_VARIABLE err)
  if(status EQUAL 0)
    execute_process(COMMAND ${venv}/bin/pip install -q --retries 1 --timeout 20 -r ${requirements}
                    RESULT_VARIABLE status ERROR_VARIABLE err TIMEOUT 200)
  endif()
  if(NOT status EQUAL 0)
    message("NO AXE-CORE: the page was NOT CHECKED in a browser (pip could not install ${requirements}):\n${err}")
    return()
  endif()
  file(WRITE ${venv}/installed ${wanted})
endif()

file(MAKE_DIRECTORY page_browser)
# Rows that failed, were wrong or not measured.
file(READ ${DATA}/host-1-thread.json json)
set(row "\"type\": \"f32\", \"m\": 4096, \"n\": 4096, \"k\": 4096")
string(JSON json SET "${json}" results 4 verified false)
string(JSON json SET "${json}" results 7 "{\"provider\": \"blas\", ${row}, \"status\": \"failed\", \"reason\": \"its process died of signal 6\"}")
string(JSON json SET "${json}" results 8 "{\"provider\": \"mkl\", ${row}, \"status\": \"unavailable\", \"reason\": \"no library libmkl_rt.so was found\"}")
string(JSON json SET "${json}" context complete false)
string(JSON json SET "${json}" context incomplete_because "\"a rank failed\"")
file(WRITE page_browser/failures.json "${json}")

# The last has products of 23 sizes, 1023, 1024 and 1030 among them, by four libraries.
set(pages "")
foreach(recording IN ITEMS page_browser/failures.json ${DATA}/ladder.json ${DATA}/batched.json ${DATA}/kernels.json
        ${BASELINES}/h200-f8-198-kb.json ${BASELINES}/h200-few-tiles.json ${BASELINES}/h200-2-ranks.json
        ${BASELINES}/h200-roofline.json ${BASELINES}/h200-overhead.json ${BASELINES}/zen5-1-thread.json)
  get_filename_component(name ${recording} NAME_WE)
  run(0 report ${recording} -o page_browser/${name})
  list(APPEND pages page_browser/${name}/index.html)
endforeach()
set(pictures "")
if(PICTURES)
  file(MAKE_DIRECTORY ${PICTURES})
  set(pictures --pictures ${PICTURES})
endif()
execute_process(COMMAND ${venv}/bin/python ${CMAKE_CURRENT_LIST_DIR}/page_audit.py --browser ${BROWSER} ${pictures} ${pages}
                RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the browser found faults: status ${status}")
endif()
file(TOUCH page_browser/passed)  # .ci/run looks for it
