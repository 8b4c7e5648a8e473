#include "problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <keramos/gemm/reference.hpp>
#include <type_traits>

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

double gemm_case::operations() const {
  return double(operations_of_multiply_add(type)) * double(products()) * double(m) * double(n) * double(k);
}
double gemm_case::bytes(double times_c) const {
  const double of_ab =
      double(k) * (double(m) * double(size_of_a(type)) + double(n) * double(size_of_b(type)));
  return double(products()) * (of_ab + times_c * double(m) * double(n) * double(size_of_c(type)));
}
std::size_t gemm_case::a_bytes() const { return std::size_t(products() * m * k) * size_of_a(type); }
std::size_t gemm_case::b_bytes() const { return std::size_t(products() * k * n) * size_of_b(type); }
std::size_t gemm_case::c_bytes() const { return std::size_t(products() * m * n) * size_of_c(type); }

std::string_view name(data_type t) {
  for (const auto& n : type_names) {
    if (n.type == t) return n.name;
  }
  return "";
}
std::string_view name(transpose t) { return t == transpose::N ? "N" : t == transpose::T ? "T" : "C"; }
std::string_view name(matrix_layout l) { return l == matrix_layout::right ? "right" : "left"; }

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
