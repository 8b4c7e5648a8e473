# Files that keramos-perf reads and writes, as users and schedulers have them.
#   cmake -DPROGRAM=keramos-perf -P files.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)
set(quick --provider keramos --type f64 --repetitions 2 --sets 1)
file(REMOVE_RECURSE files)
file(MAKE_DIRECTORY files)

function(shell expected_status command)
  execute_process(COMMAND bash -c "${command}" RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err TIMEOUT 60)
  message("$ ${command}\n${out}${err}")
  if(NOT status STREQUAL expected_status)
    message(SEND_ERROR "exit status ${status} instead of ${expected_status}")
  endif()
  set(out "${out}" PARENT_SCOPE)
  set(err "${err}" PARENT_SCOPE)
endfunction()
list(JOIN quick " " options)
set(gemm "${PROGRAM} gemm ${options} --size 8")

# --- Where results go ----------------------------------------------------------------------------

# Through a symlink, which stays one; into what is no file, which stays what it is.
file(WRITE files/real.json "")
file(CREATE_LINK real.json files/link.json SYMBOLIC)
run(0 gemm ${quick} --size 8 --output files/link.json)
if(NOT IS_SYMLINK files/link.json)
  message(SEND_ERROR "the symlink was replaced")
endif()
expect_json(files/real.json ON context complete)
shell(0 "mkfifo files/pipe && (timeout 50 cat files/pipe > files/piped.json & ${gemm} --output files/pipe && wait) && test -p files/pipe")
expect_json(files/piped.json ON context complete)
shell(0 "ln -s /dev/stdout files/out && ${gemm} --output files/out --format json | cat > files/stdout.txt && grep -q '\"complete\": true' files/stdout.txt && test -L files/out && test -L /dev/stdout")
shell(0 "${gemm} --output files/out --format json >> files/appended.txt && grep -q '\"complete\": true' files/appended.txt")

# A full disk is a failure.
shell(1 "${gemm} --format json > /dev/full")
expect("${err}" "keramos-perf: [^\n]*write [^\n]*\n$")
shell(1 "${gemm} > /dev/full")
shell(1 "${PROGRAM} --help > /dev/full")

# What is no UTF-8 does not cost the run.
shell(0 "MKL_THREADING_LAYER=$'a\\xffb' ${gemm} --output files/bytes.json")
expect_json(files/bytes.json ON results 0 verified)

# --- A run that is taken up again, as of a job that was requeued ---------------------------------

set(command gemm ${quick} --m 8,24 --n 9 --k 9 --output files/resumed.json)
run(0 ${command})
file(READ files/resumed.json json)
string(JSON json REMOVE "${json}" results 1)
string(JSON json SET "${json}" context complete false)
file(WRITE files/resumed.json "${json}")
string(JSON seed GET "${json}" context seed)
string(JSON median GET "${json}" results 0 median_s)
run(0 ${command} --resume)
expect("${out}" "1 rows are kept of the run of ")
expect_json(files/resumed.json ON context complete)
expect_json(files/resumed.json ${seed} context seed)
expect_json(files/resumed.json ${median} results 0 median_s)
expect_json(files/resumed.json 24 results 1 m)
expect_json(files/resumed.json ON results 1 verified)
expect_json(files/resumed.json 1 context resumed 0 rows)
run(0 ${command} --resume)  # nothing is left to do
file(READ files/resumed.json json)
string(JSON rows LENGTH "${json}" results)
if(NOT rows EQUAL 2)
  message(SEND_ERROR "${rows} rows instead of 2")
endif()
expect_json(files/resumed.json ${median} results 0 median_s)
file(SHA256 files/resumed.json before)
run(2 ${command} --resume --beta 1)  # another command
expect("${err}" "^keramos-perf: --resume: [^\n]*has the command [^\n]*write [^\n]*\n$")
file(SHA256 files/resumed.json after)
if(NOT before STREQUAL after)
  message(SEND_ERROR "the file of another command was touched")
endif()
string(JSON json SET "${json}" context device_identity "{\"model\": \"another\"}")
file(WRITE files/another.json "${json}")
string(REPLACE resumed.json another.json another "${json}")
file(WRITE files/another.json "${another}")
string(REPLACE resumed.json another.json another "${command}")
run(2 ${another} --resume)  # another device of the same name
expect("${err}" "^keramos-perf: --resume: [^\n]*has the device_identity [^\n]*write [^\n]*\n$")
run(2 gemm ${quick} --size 8 --resume)
expect("${err}" "write --resume --output ")
run(0 gemm ${quick} --size 8 --resume --output files/fresh.json)  # nothing is there yet
expect_json(files/fresh.json ON context complete)

# --- What is read --------------------------------------------------------------------------------

# As spreadsheets write it: a byte order mark, and quotes. (CMake would take the mark from its own source.)
shell(0 "printf '\\xef\\xbb\\xbf\"m\",\"n\",\"k\",\"name\"\\n\"8\",9,\"10\",\"a, b\"\\n' > files/shapes.csv")
run(0 gemm ${quick} --shapes files/shapes.csv --output files/shapes.json)
expect_json(files/shapes.json 10 results 0 k)

run(2 gemm ${quick} --size 8 --output files)
expect("${err}" "^keramos-perf: --output files is a folder: write [^\n]*\n$")
run(2 gemm ${quick} --size 8 --alpha nan)
expect("${err}" "^keramos-perf: --alpha nan is no number of f64: write [^\n]*\n$")
run(2 gemm --type f32 --size 8 --beta 1e300)
run(2 gemm --type f64 --size 8 --sets 1125899906842624)
expect("${err}" "needs [^\n]* bytes for 1125899906842624 sets: write smaller sizes\n$")
run(2 gemm --size 2147483648)
expect("${err}" "^keramos-perf: 2147483648 x [^\n]* bytes: write smaller sizes\n$")

# A file that is none of ours, or was changed by hand.
function(bad_file content regex)
  file(WRITE files/bad.json "${content}")
  foreach(command IN ITEMS "report;files/bad.json;-o;files/page" "compare;files/bad.json;files/bad.json"
                           "roofline;files/bad.json;--device-spec;a100-sxm4-40gb")
    execute_process(COMMAND ${PROGRAM} ${command} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err TIMEOUT 30)
    if(NOT status EQUAL 2)
      message(SEND_ERROR "${command}: exit status ${status} instead of 2: ${err}")
    endif()
    expect("${err}" "^keramos-perf: files/bad.json: ${regex}[^\n]*write [^\n]*\n$")
    if(err MATCHES "exception")
      message(SEND_ERROR "a library's message: ${err}")
    endif()
  endforeach()
endfunction()
set(row "\"provider\": \"keramos\", \"type\": \"f32\", \"m\": 8, \"n\": 8, \"k\": 8, \"verified\": true")
set(head "{\"schema\": \"keramos-perf/1\", \"context\": {\"device\": \"x\"}, \"results\": ")
bad_file("${head}[{${row}, \"median_s\": 1e-300, \"min_s\": 1e-306, \"gflops\": 1e308}]}" "results.0..gflops is 1e.308, which")
# A best time of next to nothing makes an infinite rate, which no axis can have.
file(WRITE files/infinite.json "${head}[{${row}, \"median_s\": 1, \"min_s\": 1e-300, \"iqr_s\": 3, \"gflops\": 1e29}]}")
shell(0 "timeout 30 ${PROGRAM} report files/infinite.json -o files/page")
bad_file("${head}[{${row}, \"median_s\": \"soon\"}]}" "results.0..median_s is \"soon\", and must be a number")
bad_file("${head}[{${row}, \"samples_s\": 1}]}" "results.0..samples_s is 1, and must be a list")
bad_file("${head}[{${row}, \"samples_s\": [1, \"soon\"]}]}" "results.0..samples_s is \"soon\", and must be a number")
bad_file("${head}[{${row}, \"cpu_samples_s\": [1e300]}]}" "results.0..cpu_samples_s is 1e.300, which")
bad_file("${head}[7]}" "results.0. is ")
bad_file("${head}5}" "the file.results is 5, and must be a list")
bad_file("{\"schema\": 5, \"context\": {}, \"results\": []}" "not a keramos-perf/1 file")
bad_file("{\"schema\": \"keramos-perf/1\", \"context\": {\"providers\": {\"a\": 1}}, \"results\": []}" "context.providers.a is 1")
bad_file("not JSON" "not JSON")
string(REPEAT "[" 200000 open)
string(REPEAT "]" 200000 close)
bad_file("{\"schema\": \"keramos-perf/1\", \"context\": {\"y\": ${open}${close}}, \"results\": []}" "nested more than 100 deep")

# Variables that are for other programs of Google Benchmark.
shell(0 "BENCHMARK_FILTER=others ${gemm} --output files/filtered.json")
expect_json(files/filtered.json ON results 0 verified)

# The other commands' files have a page too.
run(0 report ${CMAKE_CURRENT_LIST_DIR}/../../perf/data/baselines/h200-4-gpus.json -o files/page)
run(0 overhead --repetitions 3 --calls 5 --output files/overhead.json)
run(0 report files/overhead.json -o files/page)
file(READ files/page/index.html page)
expect("${page}" "<h1>keramos-perf overhead on .*parallel_for_work_group")
file(STRINGS files/page/results.csv lines)
expect("${lines}" "^launch,keramos_s,")
run(0 roofline files/real.json --device-spec a100-sxm4-40gb --output files/roofline.json)
run(0 report files/roofline.json -o files/page)
file(READ files/page/index.html page)
expect("${page}" "<h1>keramos-perf roofline on .*<th[^>]*>keramos</th>")

run(0 --version)
expect("${out}" "^keramos-perf [0-9]+\\.[0-9]+\\.[0-9]+, revision [^\n]*, built with [^\n]*\n$")
