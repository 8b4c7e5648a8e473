#include "problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <keramos/gemm/reference.hpp>
#include <type_traits>
#include <utility>

#include "visit_type.hpp"

namespace keramos::perf {
namespace {

// Strides of op(X), where op(X) is rows x cols and X is packed in the layout.
strides strides_of_op(transpose op, matrix_layout layout, std::int64_t rows, std::int64_t cols) {
  // op(X) is contiguous along its rows when X is row-major and used as it is, or column-major
  // and transposed.
  const bool along_rows = (op == transpose::N) == (layout == matrix_layout::right);
  return along_rows ? strides{cols, 1} : strides{1, rows};
}

constexpr struct {
  data_type type;
  std::string_view name;
} type_names[] = {
#define KERAMOS_PERF_NAME(Name) {data_type::Name, #Name},
    KERAMOS_FOR_EACH_TYPES(KERAMOS_PERF_NAME)
#undef KERAMOS_PERF_NAME
};
constexpr auto listed_types = [] {
  std::array<data_type, std::size(type_names)> types{};
  for (std::size_t i = 0; i < types.size(); ++i) types[i] = type_names[i].type;
  return types;
}();
constexpr data_type listed_basic_types[] = {data_type::f32, data_type::f64, data_type::i32};

// As visit_type, of any type: what is known of it need not be in the library.
template <class F>
auto ask_type(data_type t, const F& f) {
  switch (t) {
#define KERAMOS_PERF_CASE(Name) \
  case data_type::Name:         \
    return f(elements_of<types::Name>());
    KERAMOS_FOR_EACH_TYPES(KERAMOS_PERF_CASE)
#undef KERAMOS_PERF_CASE
  }
  return f(elements<float>());
}

}  // namespace

constinit const std::span<const data_type> all_types = listed_types;
constinit const std::span<const data_type> basic_types = listed_basic_types;

strides strides_of_op_a(const gemm_case& g) { return strides_of_op(g.op_a, g.layout, g.m, g.k); }
strides strides_of_op_b(const gemm_case& g) { return strides_of_op(g.op_b, g.layout, g.k, g.n); }
strides strides_of_c(const gemm_case& g) { return strides_of_op(transpose::N, g.layout, g.m, g.n); }

void gemm_case::make_grouped(const std::string& name, std::vector<gemm_extents> problems) {
  form = batch_form::grouped;
  list_name = name;
  list = std::move(problems);
  batch = std::int64_t(list.size());
  m = n = k = 0;
  for (const auto& p : list) m = std::max(m, p.m), n = std::max(n, p.n), k = std::max(k, p.k);
}

// In doubles, which hold what 64 bits do not.
template <class F>
double gemm_case::sum(const F& f) const {
  if (list.empty()) return double(products()) * f(double(m), double(n), double(k));
  double all = 0;
  for (const auto& p : list) all += f(double(p.m), double(p.n), double(p.k));
  return all;
}
double gemm_case::operations() const {
  return double(operations_of_multiply_add(type)) *
         sum([](double rows, double cols, double terms) { return rows * cols * terms; });
}
double gemm_case::bytes(double times_c) const {
  const auto of_a = double(size_of_a(type)), of_b = double(size_of_b(type)), of_c = double(size_of_c(type));
  return sum([&](double rows, double cols, double terms) {
    return terms * (rows * of_a + cols * of_b) + times_c * rows * cols * of_c;
  });
}
std::size_t gemm_case::a_bytes() const {
  return std::size_t(sum([](double rows, double, double terms) { return rows * terms; })) * size_of_a(type);
}
std::size_t gemm_case::b_bytes() const {
  return std::size_t(sum([](double, double cols, double terms) { return cols * terms; })) * size_of_b(type);
}
std::size_t gemm_case::c_bytes() const {
  return std::size_t(sum([](double rows, double cols, double) { return rows * cols; })) * size_of_c(type);
}

placed_problems::placed_problems(const gemm_case& g) : same_{g.m, g.n, g.k}, count_(g.products()) {
  placed_problem next{{}, 0, 0, 0};
  for (const auto& p : g.list) {
    next.extents = p;
    listed_.push_back(next);
    next.a += p.m * p.k, next.b += p.k * p.n, next.c += p.m * p.n;
  }
}

gemm_case one_of(const gemm_case& g, const gemm_extents& extents) {
  return {g.type, g.op_a, g.op_b, g.layout, extents.m, extents.n, extents.k, g.alpha, g.beta};
}

std::string_view name(data_type t) {
  for (const auto& n : type_names) {
    if (n.type == t) return n.name;
  }
  return "";
}
std::string_view name(transpose t) { return t == transpose::N ? "N" : t == transpose::T ? "T" : "C"; }
std::string_view name(matrix_layout l) { return l == matrix_layout::right ? "right" : "left"; }
std::string_view name(batch_form f) {
  return f == batch_form::strided ? "strided" : f == batch_form::pointers ? "pointers" : "grouped";
}

std::size_t size_of_a(data_type t) {
  return ask_type(t, [](auto types) { return sizeof(typename decltype(types)::a); });
}
std::size_t size_of_b(data_type t) {
  return ask_type(t, [](auto types) { return sizeof(typename decltype(types)::b); });
}
std::size_t size_of_c(data_type t) {
  return ask_type(t, [](auto types) { return sizeof(typename decltype(types)::c); });
}
std::size_t size_of_sum(data_type t) {
  return ask_type(t, [](auto types) {
    using of = decltype(types);
    using part = reference::sum_t<reference::wider_element<typename of::a, typename of::b>>;
    return (keramos::detail::is_complex<typename of::c> ? 2 : 1) * sizeof(part);
  });
}
data_type multiplied_type(data_type t) {
  switch (t) {
    case data_type::c32:
    case data_type::f16xf32:
    case data_type::bf16xf32:
    case data_type::f32xc32:
      return data_type::f32;
    case data_type::c64:
    case data_type::f64xc64:
      return data_type::f64;
    case data_type::i8:
      return data_type::i8_i32;
    case data_type::f16_f32:
      return data_type::f16;
    case data_type::bf16_f32:
      return data_type::bf16;
    case data_type::f8_f16:
    case data_type::f8_bf16:
      return data_type::f8_f32;
    default:
      return t;
  }
}
bool is_integer(data_type t) {
  return ask_type(t, [](auto types) { return std::is_integral_v<typename decltype(types)::a>; });
}
bool is_integer(std::string_view name_of_type) {
  const auto type = find_type(name_of_type);
  return type && is_integer(*type);
}
bool is_complex(data_type t) {
  return ask_type(t, [](auto types) { return keramos::detail::is_complex<typename decltype(types)::c>; });
}
bool has_two_types(data_type t) {
  return ask_type(t, [](auto types) {
    using of = decltype(types);
    return !std::is_same_v<typename of::a, typename of::b>;
  });
}
double alpha_of_sums(const gemm_case& g) {
  return g.type == data_type::i8
             ? float(g.alpha * 0x1.8p-7 / std::sqrt(double(std::max<std::int64_t>(g.k, 1))))
             : g.alpha;
}
int operations_of_multiply_add(data_type t) { return is_complex(t) ? has_two_types(t) ? 4 : 8 : 2; }

std::string names(std::span<const data_type> types) {
  std::string text;
  for (const auto t : types) {
    if (!text.empty()) text += ',';
    text += name(t);
  }
  return text;
}

std::optional<data_type> find_type(std::string_view text) {
  for (const auto& n : type_names) {
    if (text == n.name) return n.type;
  }
  return std::nullopt;
}

data_type parse_type(std::string_view text, std::span<const data_type> allowed) {
  const auto type = find_type(text);
  if (type && std::find(allowed.begin(), allowed.end(), *type) != allowed.end()) {
    if (is_in_build(*type)) return *type;
    throw usage_error(fmt::format(
        "type '{0}' is not in this keramos-perf: bash perf/run --type {0} builds one with it", text));
  }
  throw usage_error(fmt::format("type '{}' is not known{}: write --type with any of {}", text,
                                type ? " to this command" : "", names(allowed)));
}

matrix_layout parse_layout(std::string_view text) {
  for (auto l : {matrix_layout::right, matrix_layout::left}) {
    if (text == name(l)) return l;
  }
  throw usage_error(
      fmt::format("layout '{}' is not known: write --layout right (row-major), left (column-major) or "
                  "right,left",
                  text));
}

batch_form parse_form(std::string_view text) {
  for (auto f : {batch_form::strided, batch_form::pointers}) {
    if (text == name(f)) return f;
  }
  throw usage_error(fmt::format(
      "form '{}' is not known: write --form strided (equally spaced), pointers (arrays of addresses) or "
      "strided,pointers; lists of different sizes are for --grouped FILE",
      text));
}

op_pair parse_ops(std::string_view text) {
  constexpr transpose all[] = {transpose::N, transpose::T, transpose::C};
  for (const auto a : all) {
    for (const auto b : all) {
      if (text.size() == 2 && text.substr(0, 1) == name(a) && text.substr(1) == name(b)) {
        return {a, b};
      }
    }
  }
  throw usage_error(
      fmt::format("op '{}' is not known: write --op with N, T or C for A, then for B, as in NN,NT,CN", text));
}

}  // namespace keramos::perf
