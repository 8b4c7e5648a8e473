#include "cblas_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "host.hpp"
#include "parallel.hpp"
#include "visit_type.hpp"

namespace keramos::perf {
namespace {

// File names to try for each name of --provider; `blas` is what the system's administrator chose.
struct family {
  const char* name;
  std::vector<const char*> files;
};
const family families[] = {
    {"blas",
     {"libblas.so.3", "libcblas.so.3", "libopenblas.so.0", "libopenblas.so", "libblis.so.4", "libmkl_rt.so.3",
      "libmkl_rt.so.2"}},
    {"openblas", {"libopenblas.so.0", "libopenblas.so", "libscipy_openblas.so"}},
    {"blis", {"libblis.so.4", "libblis-mt.so.5", "libblis-mt.so.4", "libblis.so"}},
    {"mkl", {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"}},
};

// SciPy's wheels and 64-bit builds rename the functions.
struct spelling {
  const char* prefix;
  const char* suffix;
  bool wide_integers;
};
constexpr spelling spellings[] = {
    {"cblas_", "", false},          {"scipy_cblas_", "", false}, {"cblas_", "64_", true},
    {"cblas_", "_64", true},        {"cblas_", "_64_", true},    {"scipy_cblas_", "64_", true},
    {"scipy_cblas_", "_64_", true},
};

// What a library is called in results, from a name and the first thing in `text` that looks like a
// version: "openblas", "OpenBLAS 0.3.21 NO_AFFINITY ..." -> "openblas-0.3.21".
std::string with_version(const std::string& name, const std::string& text) {
  const auto begin = text.find_first_of("0123456789");
  if (begin == std::string::npos) return name;
  auto end = text.find_first_not_of("0123456789.", begin);
  if (end == std::string::npos) end = text.size();
  while (end > begin + 1 && text[end - 1] == '.') --end;
  return fmt::format("{}-{}", name, text.substr(begin, end - begin));
}

std::string first_word_in_small_letters(const std::string& text) {
  auto word = text.substr(0, text.find(' '));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

template <class F>
F* function(void* handle, const std::string& name) {
  for (const char* prefix : {"", "scipy_"}) {
    for (const char* suffix : {"", "64_", "_64", "_64_"}) {
      if (void* f = dlsym(handle, (prefix + name + suffix).c_str())) {
        return reinterpret_cast<F*>(f);
      }
    }
  }
  return nullptr;
}

struct self_description {
  std::string name;
  std::string version;
  std::string file;  // that holds the function which told
};

self_description ask_version(void* handle) {
  const auto file = [](auto* f) { return file_of_address(reinterpret_cast<const void*>(f)); };
  if (auto* f = function<char*()>(handle, "openblas_get_config")) {
    const std::string text = f();
    return {with_version(first_word_in_small_letters(text), text), text, file(f)};
  }
  if (auto* f = function<const char*()>(handle, "bli_info_get_version_str")) {
    const std::string text = f();
    return {with_version(text.starts_with("AOCL") ? "aocl-blas" : "blis", text), "BLIS " + text, file(f)};
  }
  if (auto* f = function<void(char*, int)>(handle, "MKL_Get_Version_String")) {
    char text[200] = "";
    f(text, sizeof(text) - 1);
    return {with_version("mkl", text), text, file(f)};
  }
  if (auto* f = function<void(int*, int*, int*, const char**)>(handle, "armplversion")) {
    int numbers[3] = {};
    const char* tag = "";
    f(&numbers[0], &numbers[1], &numbers[2], &tag);
    const auto text = fmt::format("Arm Performance Libraries {}.{}.{}", numbers[0], numbers[1], numbers[2]);
    return {with_version("armpl", text), text, file(f)};
  }
  return {};
}

// "/usr/lib/libcblas.so.3" -> "libcblas", for a library that does not tell.
std::string stem(const std::string& path) {
  const auto file = path.substr(path.rfind('/') + 1);
  return file.substr(0, file.find('.'));
}

std::vector<std::string> files(void* function, const self_description& described) {
  std::vector<std::string> all{file_of_address(function)};
  if (!described.file.empty() && described.file != all[0]) all.push_back(described.file);
  return all;
}

int set_threads(void* handle, int threads) {
  if (auto* set = function<void(int)>(handle, "openblas_set_num_threads")) {
    set(threads);
    auto* get = function<int()>(handle, "openblas_get_num_threads");
    return get ? get() : threads;
  }
  if (auto* set = function<void(std::int64_t)>(handle, "bli_thread_set_num_threads")) {
    set(threads);
    auto* get = function<std::int64_t()>(handle, "bli_thread_get_num_threads");
    return get ? static_cast<int>(get()) : threads;
  }
  if (auto* set = function<void(int)>(handle, "MKL_Set_Num_Threads")) {
    set(threads);
    auto* get = function<int()>(handle, "MKL_Get_Max_Threads");
    return get ? get() : threads;
  }
  return 0;
}

// RTLD_DEEPBIND: a BLAS that the program links (through Kokkos Kernels) must not catch the calls
// that this one makes to its own sgemm_. AddressSanitizer refuses the flag.
int open_flags() {
  int flags = RTLD_NOW | RTLD_LOCAL;
#if defined(RTLD_DEEPBIND) && !defined(__SANITIZE_ADDRESS__)
  flags |= RTLD_DEEPBIND;
#endif
  return flags;
}

enum class calling { one_by_one, batch };

// Without "cblas_". bf16 and f16 in, f32 out: first OpenBLAS' name, then oneMKL's.
struct function_names {
  data_type type;
  std::vector<const char*> plain;
  std::vector<const char*> batch;
};
const function_names all_functions[] = {
    {data_type::f32, {"sgemm"}, {"sgemm_batch_strided"}},
    {data_type::f64, {"dgemm"}, {"dgemm_batch_strided"}},
    {data_type::c32, {"cgemm"}, {"cgemm_batch_strided"}},
    {data_type::c64, {"zgemm"}, {"zgemm_batch_strided"}},
    {data_type::f16_f32, {"shgemm", "gemm_f16f16f32"}, {}},
    {data_type::bf16_f32, {"sbgemm", "gemm_bf16bf16f32"}, {"sbgemm_batch_strided"}},
    {data_type::i8_i32, {"gemm_s8u8s32"}, {}},
};

// alpha or beta as CBLAS takes them: complex numbers by address.
template <class C>
auto as_argument(const C& value) {
  if constexpr (keramos::detail::is_complex<C>)
    return static_cast<const void*>(&value);
  else
    return value;
}

// The arguments that CBLAS' functions share, but for their types.
template <class Int>
struct cblas_arguments {
  int layout, op_a, op_b;
  Int m, n, k, lda, ldb, ldc;

  explicit cblas_arguments(const gemm_case& g) : cblas_arguments(g, {g.m, g.n, g.k}) {}
  cblas_arguments(const gemm_case& g, const gemm_extents& of)
      : op_a(value_of(g.op_a)), op_b(value_of(g.op_b)), m(Int(of.m)), n(Int(of.n)), k(Int(of.k)) {
    constexpr int row_major = 101, column_major = 102;
    const bool right = g.layout == matrix_layout::right;
    layout = right ? row_major : column_major;
    lda = right == (g.op_a == transpose::N) ? k : m;
    ldb = right == (g.op_b == transpose::N) ? n : k;
    ldc = right ? n : m;
  }
  // Of CBLAS_TRANSPOSE.
  static int value_of(transpose op) { return op == transpose::N ? 111 : op == transpose::T ? 112 : 113; }
};

// Calls f(arguments, a, b, c) for every problem of a batch that has elements.
template <class Int, class A, class C, class F>
void for_problems(const gemm_case& g, const A* a, const A* b, C* c, const F& f) {
  if (g.form != batch_form::grouped) {
    const cblas_arguments<Int> x(g);
    for (std::int64_t l = 0; l < g.products(); ++l, a += g.m * g.k, b += g.k * g.n, c += g.m * g.n)
      f(x, a, b, c);
    return;
  }
  for (const auto& p : g.list) {
    if (p.m > 0) f(cblas_arguments<Int>(g, p), a, b, c);
    a += p.m * p.k, b += p.k * p.n, c += p.m * p.n;
  }
}

// oneMKL's product of bytes: one operand has signs and the other has none, which is all the same to the harness'
// numbers; what is to be added to elements of A, B and C is 0.
template <class Int>
void call_bytes(void* address, const gemm_case& g, const std::vector<operand_set>& sets, std::int64_t calls) {
  using gemm = void(int, int, int, int, Int, Int, Int, float, const void*, Int, std::int8_t, const void*, Int,
                    std::int8_t, float, std::int32_t*, Int, const std::int32_t*);
  constexpr int fix_offset = 173;  // of CBLAS_OFFSET
  constexpr std::int32_t none = 0;
  auto* const f = reinterpret_cast<gemm*>(address);
  in_turn(sets, calls, [&](const operand_set& set) {
    for_problems<Int>(g, static_cast<const std::int8_t*>(set.a), static_cast<const std::int8_t*>(set.b),
                      static_cast<std::int32_t*>(set.c),
                      [&](const cblas_arguments<Int>& x, const auto* a, const auto* b, auto* c) {
                        f(x.layout, x.op_a, x.op_b, fix_offset, x.m, x.n, x.k, float(g.alpha), a, x.lda, 0, b,
                          x.ldb, 0, float(g.beta), c, x.ldc, &none);
                      });
  });
}

// T: of A and B; C: of C, alpha and beta.
template <class Int, class T, class C>
void call(void* address, const gemm_case& g, const std::vector<operand_set>& sets, std::int64_t calls,
          calling how) {
  const C alpha_value = C(g.alpha), beta_value = C(g.beta);
  const auto alpha = as_argument(alpha_value), beta = as_argument(beta_value);
  using S = std::remove_const_t<decltype(alpha)>;
  using gemm = void(int, int, int, Int, Int, Int, S, const T*, Int, const T*, Int, S, C*, Int);
  auto* const f = reinterpret_cast<gemm*>(address);
  if (how == calling::batch) {
    using batch =
        void(int, int, int, Int, Int, Int, S, const T*, Int, Int, const T*, Int, Int, S, C*, Int, Int, Int);
    auto* const whole = reinterpret_cast<batch*>(address);
    const cblas_arguments<Int> x(g);
    in_turn(sets, calls, [&](const operand_set& set) {
      whole(x.layout, x.op_a, x.op_b, x.m, x.n, x.k, alpha, static_cast<const T*>(set.a), x.lda, x.m * x.k,
            static_cast<const T*>(set.b), x.ldb, x.k * x.n, beta, static_cast<C*>(set.c), x.ldc, x.m * x.n,
            Int(g.batch));
    });
    return;
  }
  in_turn(sets, calls, [&](const operand_set& set) {
    for_problems<Int>(g, static_cast<const T*>(set.a), static_cast<const T*>(set.b), static_cast<C*>(set.c),
                      [&](const cblas_arguments<Int>& x, const T* a, const T* b, C* c) {
                        f(x.layout, x.op_a, x.op_b, x.m, x.n, x.k, alpha, a, x.lda, b, x.ldb, beta, c, x.ldc);
                      });
  });
}

// A function of the library for each of its types.
void call(void* address, bool wide_integers, const gemm_case& g, const std::vector<operand_set>& sets,
          std::int64_t calls, calling how) {
  visit_type(g.type, [&](auto types) {
    using T = typename decltype(types)::a;
    using C = typename decltype(types)::c;
    if constexpr (std::is_same_v<T, typename decltype(types)::b>) {  // it has none of two types
      if constexpr (std::is_floating_point_v<C> || keramos::detail::is_complex<C>)
        (wide_integers ? call<std::int64_t, T, C> : call<int, T, C>)(address, g, sets, calls, how);
      else if constexpr (std::is_same_v<T, std::int8_t>)
        (wide_integers ? call_bytes<std::int64_t> : call_bytes<int>)(address, g, sets, calls);
    }
  });
}

}  // namespace

bool cblas_library::open(const std::string& path, std::string& problem) {
  handle_ = dlopen(path.c_str(), open_flags());
  if (handle_ == nullptr) {
    problem = dlerror();
    return false;
  }
  for (const auto& s : spellings) {
    const auto find = [&](std::map<data_type, void*>& found, data_type type, const auto& names) {
      for (const char* name : names) {
        void* const f = dlsym(handle_, fmt::format("{}{}{}", s.prefix, name, s.suffix).c_str());
        if (f != nullptr) found.emplace(type, f);
      }
    };
    plain_.clear(), batch_.clear();
    for (const auto& f : all_functions) find(plain_, f.type, f.plain), find(batch_, f.type, f.batch);
    wide_integers_ = s.wide_integers;
    if (has(data_type::f32) && has(data_type::f64)) return true;
  }
  problem = fmt::format("{} has no cblas_sgemm and cblas_dgemm", path);
  return false;
}

cblas_library::cblas_library(const std::string& name, const std::string& path, int threads) {
  // Pools are often started by the library's constructor: they must see all CPUs, and for a
  // library that offers no function to set the number of threads the environment must say it.
  const wide_affinity all_cpus;
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"}) {
    setenv(variable, std::to_string(threads).c_str(), 0);
  }
  std::string problem;
  if (!path.empty()) {
    if (!open(path, problem)) throw unavailable_error(problem);
  } else {
    bool found = false;
    for (const auto& f : families) {
      if (f.name != name) continue;
      for (const char* file : f.files) found = found || open(file, problem);
    }
    if (!found) {
      throw unavailable_error(
          name == "blas"
              ? "no CBLAS found: install one (libopenblas-dev, say) or name one with --provider blas=PATH"
              : fmt::format("no {0} library found: name it with --provider {0}=PATH", name));
    }
  }
  const auto described = ask_version(handle_);
  version_ = described.version;
  libraries_ = files(plain_.at(data_type::f32), described);
  name_ = described.name.empty() ? stem(libraries_.front()) : described.name;
  threads_ = set_threads(handle_, threads);
}

void cblas_library::gemm(const gemm_case& g, const std::vector<operand_set>& sets, std::int64_t calls) const {
  call(plain_.at(g.type), wide_integers_, g, sets, calls, calling::one_by_one);
}

void cblas_library::gemm_batch(const gemm_case& g, const std::vector<operand_set>& sets,
                               std::int64_t calls) const {
  call(batch_.at(g.type), wide_integers_, g, sets, calls, calling::batch);
}

std::string cblas_functions(data_type type) {
  std::string names;
  for (const auto& f : all_functions) {
    if (f.type != type) continue;
    for (const char* name : f.plain) names += fmt::format("{}cblas_{}", names.empty() ? "" : ", ", name);
  }
  return names;
}

bool is_cblas_name(const std::string& name) {
  const std::string family_name = name == "blas-batch" ? "blas" : name;
  return std::any_of(std::begin(families), std::end(families),
                     [&](const family& f) { return f.name == family_name; });
}

linked_blas ask_linked_blas(const char* symbol, int threads) {
  linked_blas blas;
  void* const address = dlsym(RTLD_DEFAULT, symbol);
  if (address == nullptr) return blas;
  blas.libraries = {file_of_address(address)};
  if (void* handle = dlopen(blas.libraries[0].c_str(), RTLD_NOW | RTLD_NOLOAD)) {
    const wide_affinity all_cpus;
    const auto described = ask_version(handle);
    blas.version = described.version;
    blas.libraries = files(address, described);
    blas.threads = set_threads(handle, threads);
    dlclose(handle);
  }
  return blas;
}

}  // namespace keramos::perf
