# keramos-perf report: the page says what it must, loads nothing, and a real browser draws it.
#   cmake -DPROGRAM=keramos-perf -DDATA=tests/perf/data [-DBROWSER=chromium] -P page.cmake
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
  foreach(word IN ITEMS "src=" "href=\"http" "@import" "url(")  # nothing to load
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
  if(NOT BROWSER)
    message("NO BROWSER: that the page is drawn was NOT CHECKED (install chromium and configure again)")
    return()
  endif()

  # The page measures itself once it is laid out and puts what it found into its title.
  string(REPLACE "</body>" [=[<script>
    const svgs = [...document.querySelectorAll('svg')];
    const drawn = svgs.filter(s => { const b = s.getBBox(); return b.width > 300 && b.height > 100 &&
      [...s.querySelectorAll('polyline,rect')].some(p => p.getBBox().width > 50); });
    const outside = svgs.filter(s => [...s.querySelectorAll('text')].some(t => { const b = t.getBoundingClientRect(),
      f = s.getBoundingClientRect(); return b.left < f.left - 2 || b.right > f.right + 2 || b.bottom > f.bottom + 2; }));
    const rows = [...document.querySelectorAll('table')].at(-1).rows.length - 1;
    document.title = `svg ${svgs.length} drawn ${drawn.length} cut ${outside.length} rows ${rows} ` +
      `loaded ${performance.getEntriesByType('resource').length} wide ${document.body.scrollWidth > innerWidth}`;
    </script></body>]=] page "${page}")
  file(WRITE page/probe.html "${page}")
  get_filename_component(probe page/probe.html ABSOLUTE)
  execute_process(COMMAND ${BROWSER} --headless --no-sandbox --disable-gpu --window-size=1300,2000
                          --user-data-dir=${CMAKE_CURRENT_BINARY_DIR}/page/profile --dump-dom file://${probe}
                  RESULT_VARIABLE status OUTPUT_VARIABLE dom ERROR_QUIET TIMEOUT 120)
  string(REGEX MATCH "<title>[^<]*</title>" title "${dom}")
  if(NOT title STREQUAL "<title>svg ${charts} drawn ${charts} cut 0 rows ${rows} loaded 0 wide false</title>")
    message(SEND_ERROR "the browser (status ${status}) found: '${title}'")
  endif()
  message("in the browser: ${title}")
endfunction()

check_page(host-1-thread 2)  # f32 and f64
check_page(gpu 4)            # and two ops
check_page(ladder 4)         # two tile widths of two types
check_page(batched 1)
check_page(kernels 2)        # by the bytes they move

foreach(arguments IN ITEMS "none.json;-o;page" "${DATA}/gpu.json" "${CMAKE_CURRENT_LIST_FILE};-o;page"
                           "${DATA}/gpu.json;-o;/dev/null/x")
  run(2 report ${arguments})
  expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")
endforeach()
