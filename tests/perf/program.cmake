# Runs keramos-perf as a user would and looks at exit status, output and files.
#   cmake -DPROGRAM=keramos-perf -DWRONG_CBLAS=libwrong_cblas.so -DWORKERS=ON -P program.cmake
# KOKKOSKERNELS_BATCHED: ",kokkoskernels-batched" where this build has it.
# WORKERS: whether providers have processes of their own here, as on hosts.
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)

set(quick --repetitions 1 --sets 3)

# All is well, in all types, ops and layouts; beta reads the C that was there.
file(REMOVE good.json)
run(0 gemm --provider keramos --type f32,f64,i32 --op NN,NT,TN,TT --layout right,left --m 5 --n 7,24
    --k 33 --alpha 3 --beta -2 --repetitions 2 --sets 3 --seed 42 --output good.json)
expect("${out}" "GOP/s")
expect_json(good.json "keramos-perf/1" schema)
expect_json(good.json 42 context seed)
expect_json(good.json keramos results 47 provider)
expect_json(good.json ON results 47 verified)
expect_json(good.json 2 results 47 repetitions)
file(REMOVE halves.json)
run(0 gemm --provider keramos --type f16,f16_f32,bf16,bf16_f32 --op NN,NT,TN,TT --layout right,left --m 5 --n 7,24
    --k 33 --alpha 3 --beta -2 ${quick} --seed 42 --output halves.json)
expect("${out}" "\nbf16_f32\n.*GFLOP/s")
expect_json(halves.json f16 results 0 type)
expect_json(halves.json bf16_f32 results 63 type)
expect_json(halves.json ON results 63 verified)
run(0 gemm --provider keramos --type f16,f16_f32,bf16,bf16_f32,f8_f16,f8_bf16,f8_f32 --size 8,550 ${quick})  # and by sums of elements

run(0 gemm --provider keramos --type i8_i32 --op NN,NT,TN,TT --layout right,left --m 5,24 --n 7 --k 33 --alpha 3 --beta -2
    ${quick})
expect("${out}" "\ni8_i32\n.*GOP/s")
run(0 gemm --provider keramos --type i8 --op NN,NT,TN,TT --layout right,left --m 5,24 --n 7 --k 33 --alpha 3 --beta -0.5
    ${quick})
expect("${out}" "\ni8\n.*GOP/s")
run(0 gemm --provider keramos --type i8 --size 600 ${quick})
run(0 batched --provider keramos --type i8 --op NT --size 12 --batch 50 ${quick})
run(0 gemm --provider keramos --type f32_emulated --size 8,550 ${quick})
run(0 gemm --provider keramos --type i8_i32 --size 8,550 ${quick})  # and by sums of elements
if(WORKERS)  # on a host
  run(0 gemm --provider keramos --type tf32 --size 8 ${quick} --output tf32.json)
  expect("${out}" "unavailable")
  expect_json(tf32.json "it has tf32 only on GPUs with tensor cores" results 0 reason)
endif()

file(REMOVE complex.json)
run(0 gemm --provider keramos --type c32,c64 --op NN,NT,NC,TN,TT,TC,CN,CT,CC --layout right,left --m 5 --n 7,24 --k 33
    --alpha 3 --beta -2 ${quick} --seed 42 --output complex.json)
expect("${out}" "\nCC left .*\nc64\n.*GFLOP/s")
expect_json(complex.json c32 results 0 type)
expect_json(complex.json c64 results 71 type)
expect_json(complex.json C results 71 op_a)
expect_json(complex.json ON results 71 verified)
run(0 gemm --provider keramos --type c32,c64 --op NN,CC --size 8,350 ${quick})
run(0 gemm --provider keramos --type f32,i32,bf16 --op CC,NC --size 8,20 ${quick})  # T of real numbers
file(REMOVE mixed.json)
run(0 gemm --provider keramos --type f16xf32,bf16xf32,f32xc32,f64xc64 --op NN,NT,NC,TN,CC --layout right,left --m 5
    --n 7,24 --k 33 --alpha 3 --beta -2 ${quick} --seed 42 --output mixed.json)
expect_json(mixed.json f16xf32 results 0 type)
expect_json(mixed.json f64xc64 results 79 type)
expect_json(mixed.json ON results 79 verified)
run(0 gemm --provider keramos --type f16xf32,bf16xf32,f32xc32,f64xc64 --op NN,TC --size 8,550 ${quick})
run(0 gemm --provider keramos,blas --blas ${WRONG_CBLAS} --type f32xc32 --size 8 ${quick} --output mixed.json)
expect_json(mixed.json "CBLAS has no product of f32xc32" results 1 reason)

# A wrong element is shown, whether all are compared or (the larger size) sums of them; the other
# provider and the later cases are measured and written all the same.
file(REMOVE wrong.json)
run(1 gemm --provider keramos,blas --blas ${WRONG_CBLAS} --type f64 --size 24,520 ${quick}
    --output wrong.json)
expect("${out}" "WRONG: element \\(22, 1\\) is off by 2, allowed")
expect("${out}" "WRONG: a sum of elements from \\(518, 0\\) is off by|WRONG: element \\(518, 1\\) is off by 2")
expect_json(wrong.json "WrongBLAS 1.0" context providers wrongblas-1.0 version)
expect_json(wrong.json wrongblas-1.0 results 1 provider)
expect_json(wrong.json ON results 0 verified)
expect_json(wrong.json OFF results 1 verified)
expect_json(wrong.json ON results 2 verified)
expect_json(wrong.json OFF results 3 verified)

# So are halves, where the library has a function for them; where it has none, that is said.
run(1 gemm --provider keramos,blas --blas ${WRONG_CBLAS} --type bf16_f32 --size 24,520 ${quick} --output wrong.json)
expect("${out}" "WRONG: element \\(22, 1\\) is off by 2")
expect("${out}" "WRONG: a sum of elements from \\(518, 0\\) is off by|WRONG: element \\(518, 1\\) is off by 2")
expect_json(wrong.json ON results 2 verified)
expect_json(wrong.json OFF results 3 verified)
expect_json(wrong.json bf16_f32 results 3 type)
run(0 gemm --provider keramos,blas --blas ${WRONG_CBLAS} --type bf16,f16_f32 --size 8 ${quick}
    --output no_function.json)
expect("${out}" "unavailable")
expect_json(no_function.json ON results 0 verified)
expect_json(no_function.json "CBLAS has no product of bf16" results 1 reason)
file(READ no_function.json json)
string(JSON reason GET "${json}" results 3 reason)
expect("${reason}" "has none of cblas_shgemm, cblas_gemm_f16f16f32$")

# And complex numbers: one wrong element, and a library that does not conjugate.
run(1 gemm --provider keramos,blas --blas ${WRONG_CBLAS} --type c32 --size 24,330 ${quick} --output wrong.json)
expect("${out}" "WRONG: element \\(22, 1\\) is off by 2, allowed")
expect("${out}" "WRONG: a sum of elements from \\(328, 0\\) is off by|WRONG: element \\(328, 1\\) is off by 2")
expect_json(wrong.json ON results 2 verified)
expect_json(wrong.json OFF results 3 verified)
run(1 gemm --provider blas=${WRONG_CBLAS} --type c64 --op NN,TN,CN --size 24 --alpha 3 --beta -2 ${quick}
    --output wrong.json)
expect_json(wrong.json ON results 0 verified)
expect_json(wrong.json ON results 1 verified)
expect_json(wrong.json OFF results 2 verified)

# The same in one process, as on GPUs; two libraries of one name are told apart.
run(1 gemm --in-process --provider keramos,blas=${WRONG_CBLAS} --type f64 --size 24 ${quick} --output wrong.json)
expect_json(wrong.json ON results 0 verified)
expect_json(wrong.json OFF results 1 verified)
run(1 gemm --provider blas=${WRONG_CBLAS},openblas=${WRONG_CBLAS} --type f32 --m 24 --n 24 --k 24 ${quick}
    --format csv)
expect("${out}" "\nwrongblas-1.0,.*\nwrongblas-1.0#2,")

# Batches: every matrix is judged, and a library that is wrong in one element of each is found out.
file(REMOVE batched.json)
run(0 batched --provider keramos${KOKKOSKERNELS_BATCHED} --type f32,f64 --op NN,NT,TN,TT --layout right,left
    --batch 3,40 --m 5 --n 7 --k 9,40 --alpha 3 --beta -2 ${quick} --output batched.json)
expect("${out}" "GB/s")
set(second 1)
if(KOKKOSKERNELS_BATCHED)
  set(second 2)
endif()
expect_json(batched.json 40 results ${second} batch)
expect_json(batched.json ON results 0 verified)
run(0 batched --provider keramos --type i32 --batch 9 --size 8 ${quick} --format csv)
expect("${out}" "^provider,[^\n]*,k,batch,repetitions,.*\nkeramos,[^\n]*,8,8,8,9,[^\n]*,true\n$")
run(0 batched --provider keramos --type f16,bf16_f32 --op NN,TT --layout right,left --batch 9 --m 5 --n 7 --k 40
    --alpha 3 --beta -2 ${quick} --output batched.json)
expect_json(batched.json bf16_f32 results 7 type)
run(0 batched --provider keramos --type c32,c64 --op NN,TC,CN --layout right,left --batch 9 --m 5 --n 7 --k 40
    --alpha 3 --beta -2 ${quick} --output batched.json)
expect_json(batched.json c64 results 11 type)
run(0 batched --provider keramos --type f16xf32,f64xc64 --op NN,TC --layout right,left --batch 9 --m 5 --n 7 --k 40
    --alpha 3 --beta -2 ${quick} --output batched.json)
expect_json(batched.json f64xc64 results 7 type)
run(1 batched --provider keramos,blas --blas ${WRONG_CBLAS} --type f64 --batch 5 --size 24 ${quick}
    --output batched.json)
expect("${out}" "WRONG: element \\(22, 1\\) of matrix [0-4] is off by 2, allowed")
expect_json(batched.json ON results 0 verified)
expect_json(batched.json OFF results 1 verified)
run(2 batched --provider blas-batch=${WRONG_CBLAS} --type f64 --batch 5 --size 24 ${quick})
expect("${err}" "has no cblas_sgemm_batch_strided")
# Batches by arrays of addresses, and lists of problems of different sizes, which have loops of a CBLAS for peers.
run(0 batched --provider keramos --type f32,f64,f16,c32,i8 --op NN,TT --layout right,left --form strided,pointers --batch 3
    --m 5 --n 16 --k 40 --alpha 3 --beta -2 ${quick} --output batched.json)
expect("${out}" " 40 +3 [^\n]*%  pointers\n")
expect_json(batched.json pointers results 39 form)
file(WRITE lists.csv "name,m,n,k,op\nuneven,30 0 2 65 1,24,17,NT\nall sizes,3 4,5 6,7 8\n")
run(0 batched --provider keramos --grouped lists.csv --type f32,f64,bf16,c64,i32,i8,f16xf32 --layout right,left --alpha 3
    --beta -2 ${quick} --output batched.json)
expect("${out}" "NT right    0-65      24      17        5 [^\n]*%  uneven\n")
expect_json(batched.json grouped results 27 form)
expect_json(batched.json uneven results 0 list)
expect_json(batched.json "T" results 0 op_b)
expect_json(batched.json 65 results 0 m)
expect_json(batched.json 2 results 0 extents 2 0)
expect_json(batched.json ON results 27 verified)
file(WRITE lists.csv "m,n,k\n30 2 0 65,24,17\n")
run(1 batched --provider keramos,blas --blas ${WRONG_CBLAS} --type f64 --grouped lists.csv ${quick} --output batched.json)
expect("${out}" "wrongblas-1.0-loop: WRONG: element \\([0-9]+, 1\\) of matrix [013] is off by 2, allowed")
expect_json(batched.json "lists.csv:2" results 0 list)
expect_json(batched.json ON results 0 verified)
expect_json(batched.json OFF results 1 verified)
run(0 batched --provider keramos --type f64 --grouped lists.csv ${quick} --output batched.json)
run(0 batched --provider keramos --type f64 --grouped lists.csv ${quick} --output batched.json --resume)
expect("${out}" "1 rows are kept")
run(2 batched --grouped lists.csv --size 8)
expect("${err}" "^keramos-perf: --grouped has all sizes in its files: leave out [^\n]*\n$")
run(2 batched --grouped lists.csv --provider keramos,blas-batch)
expect("${err}" "has no lists of problems: write [^\n]*\n$")
run(2 batched --form list)
expect("${err}" "^keramos-perf: form 'list' is not known: write [^\n]*\n$")
run(2 batched --batch 0)
expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")

# A library that takes its process down fails alone; the next case gets a new process.
if(WORKERS)
  run(1 gemm --provider keramos,blas=${WRONG_CBLAS} --type f64 --m 666 --n 7,24 --k 8 ${quick} --output died.json)
  expect("${out}" "wrongblas-1.0: FAILED: its process died of signal 6")
  expect_json(died.json ON results 0 verified)
  expect_json(died.json OFF results 3 verified)
  expect_json(died.json failed results 1 status)
  expect_json(died.json "its process died of signal 6 (Aborted)" results 1 reason)
endif()

# What cannot do a problem is said. What is not there at all, though it was asked for by name, is a status of 1 too.
run(0 gemm --provider keramos,blas --blas ${WRONG_CBLAS} --type i32 --size 8 ${quick})
expect("${out}" "unavailable")
set(elsewhere cublas)
if(NOT WORKERS)
  set(elsewhere kokkoskernels+blas)
endif()
file(REMOVE missing.json)
run(1 gemm --provider keramos,${elsewhere} --type f64 --size 8 ${quick} --output missing.json)
expect("${err}" "keramos-perf: no [^\n]*${elsewhere}")
expect_json(missing.json ON results 0 verified)
expect_json(missing.json unavailable results 1 status)
# Nothing is left to do, and it is missing still.
run(1 gemm --provider keramos,${elsewhere} --type f64 --size 8 ${quick} --output missing.json --resume)
run(0 gemm --provider keramos --type f32 --size 8 ${quick} --format csv)
expect("${out}" "^provider,backend,device,type,op_a,.*\nkeramos,[^\n]*,true\n$")

# Every kernel family is right, also where sizes are odd; a launch's overhead is measured.
file(REMOVE kernels.json)
run(0 kernels --type f32,i32 --size 1,30011 --repetitions 2 --time-limit 0.05 --seed 7 --output kernels.json)
expect("${out}" "stencil3d")
expect_json(kernels.json "keramos-perf/1" schema)
expect_json(kernels.json ON context complete)
expect_json(kernels.json 7 context seed)
expect_json(kernels.json convolution results 83 kernel)
expect_json(kernels.json copy results 83 provider)
run(2 kernels --kernel fft)
expect("${err}" "^keramos-perf: kernel 'fft' is not known: write --kernel transpose,[^\n]*\n$")
run(0 overhead --repetitions 2 --calls 10)
expect("${out}" "parallel_for_work_group")
file(REMOVE epilogue.json)
run(0 epilogue --size 64,100 --repetitions 2 --output epilogue.json)
expect("${out}" "gelu\\(A·B \\+ bias\\).*f64 +100 ")
expect_json(epilogue.json "keramos-perf-epilogue/1" schema)
expect_json(epilogue.json f64 results 3 type)
run(0 epilogue --type f16,bf16,f8_bf16 --size 70 --repetitions 2)
expect("${out}" "\nbf16 +70 .*\nf8_bf16 +70 ")
run(0 epilogue --type f16xf32,i32,i8,c32,c64 --size 70 --repetitions 2 --output epilogue.json)
expect("${out}" "\ni32 [^\n]* relu\\(A·B \\+ bias\\)\ni8 [^\n]* relu\\(s·A·B \\+ bias\\), rounded\nc32 [^\n]* A·B \\+ bias\n")
expect_json(epilogue.json "gelu(A·B + bias)" results 0 epilogue)
foreach(type IN ITEMS tf32 f64xc64 f16_f32)
  run(2 epilogue --type ${type})
  expect("${err}" "^keramos-perf: type '${type}' is not known to this command: write --type with any of f32,f64,f16,bf16,f8_bf16,f16xf32,i32,i8,c32,c64\n$")
endforeach()
foreach(command_and_types IN ITEMS "kernels;c64;f32,f64,i32" "kernels;bf16;f32,f64,i32" "ladder;c64;f32,f64,i32,bf16")
  list(GET command_and_types 0 command)
  list(GET command_and_types 1 type)
  list(GET command_and_types 2 known)
  run(2 ${command} --type ${type})
  expect("${err}" "^keramos-perf: type '${type}' is not known to this command: write --type with any of ${known}\n$")
endforeach()

# Bad usage: status 2 and one line that says what to write.
foreach(arguments IN ITEMS "--size;abc" "--type;f8" "--op;NX" "--layout;up" "--provider;magic" "--m;5"
                           "--shapes;none.csv" "--blas;none.so"
                           "--provider;blas=none.so" "--provider;keramos=none.so" "--format;yaml" "--repetitions;0" "--bogus")
  run(2 gemm ${arguments})
  expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")
  expect("${out}" "^$")
endforeach()
run(2)
expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")
