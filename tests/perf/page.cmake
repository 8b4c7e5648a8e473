# keramos-perf report: the page says what it must and loads nothing. page_browser.cmake looks at it in a browser.
#   cmake -DPROGRAM=keramos-perf -DDATA=tests/perf/data -P page.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)

function(check_page name charts)
  file(REMOVE_RECURSE page)
  run(0 report ${DATA}/${name}.json -o page/below)
  file(READ page/below/index.html page)
  file(READ ${DATA}/${name}.json json)
  string(JSON device GET "${json}" context device)
  string(JSON revision GET "${json}" context git_revision)
  string(JSON rows LENGTH "${json}" results)
  string(REPLACE "(" "\\(" device "${device}")
  string(REPLACE ")" "\\)" device "${device}")
  expect("${page}" "<h1>[^<]*${device}")
  expect("${page}" "revision ${revision}")
  string(REGEX MATCHALL "\"verified\": true" verified "${json}")  # not all: not everybody has tensor cores for f32
  list(LENGTH verified verified)
  expect("${page}" "${verified} results verified, 0 wrong, 0 failed")
  expect("${page}" "geometric mean")
  foreach(word IN ITEMS "src=" "href=\"http" "@import" "url(" "<script")  # nothing to load
    string(FIND "${page}" "${word}" at)
    if(NOT at EQUAL -1)
      message(SEND_ERROR "the page has ${word}")
    endif()
  endforeach()
  file(STRINGS page/below/results.csv lines)
  list(LENGTH lines count)
  math(EXPR wanted "${rows} + 1")
  if(NOT count EQUAL wanted)
    message(SEND_ERROR "results.csv has ${count} lines instead of ${wanted}")
  endif()
  string(REGEX MATCHALL "<figure>" figures "${page}")
  list(LENGTH figures figures)
  if(NOT figures EQUAL charts)
    message(SEND_ERROR "${figures} charts instead of ${charts}")
  endif()
  string(REGEX REPLACE "<style>.*</style>" "" said "${page}")
  string(REGEX REPLACE "<[^>]*>" "" said "${said}")
  foreach(raw IN ITEMS "{" "[&quot;" "&quot;:")
    string(FIND "${said}" "${raw}" at)
    if(NOT at EQUAL -1)
      string(SUBSTRING "${said}" ${at} 80 raw)
      message(SEND_ERROR "raw JSON: ${raw}")
    endif()
  endforeach()
  set(page "${page}" PARENT_SCOPE)
endfunction()

check_page(host-1-thread 2)  # f32 and f64
expect("${page}" "f64 NN right 2048<span[^>]*> blas</span></th><td[^>]*>blas</td><td[^>]*>yes</td><td>[0-9.]+[^0-9<]+GFLOP/s</td>")
check_page(gpu 4)            # and two ops
expect("${page}" "<td>[0-9.]+[^0-9<]+TFLOP/s</td><td>[^<]*</td><td>[0-9.]+[^0-9<]+µs</td><td>[0-9.]+[^0-9<]+µs</td><td>[0-9.]+[^0-9<]+%</td>")
expect("${page}" "<td>[0-9.]+[^0-9<]+\\([0-9.]+–[0-9.]+\\)</td>")  # a ratio with its spread
check_page(ladder 4)         # two tile widths of two types
check_page(batched 1)
check_page(kernels 2)        # by the bytes they move

# What failed is said at the top, with the reason.
file(READ ${DATA}/host-1-thread.json json)
string(JSON json SET "${json}" results 1 "{\"provider\": \"blas\", \"type\": \"f32\", \"m\": 8, \"n\": 8, \"k\": 8, \"status\": \"failed\", \"reason\": \"it <died>\"}")
file(WRITE page/failed.json "${json}")
run(0 report page/failed.json -o page/failed)
file(READ page/failed/index.html page)
expect("${page}" "<main>\n<p class=\"bad\">[0-9]+ results verified, 0 wrong, 1 failed, 0 not measured.</p>\n<section class=\"bad\"[^>]*>\n<h2[^>]*>What failed, and why</h2>\n<ul>\n<li><strong>blas failed</strong> in f32 8: it &lt;died&gt;</li>")

foreach(arguments IN ITEMS "none.json;-o;page" "${DATA}/gpu.json" "${CMAKE_CURRENT_LIST_FILE};-o;page"
                           "${DATA}/gpu.json;-o;/dev/null/x")
  run(2 report ${arguments})
  expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")
endforeach()
