// What happens to an accumulated element on its way to C: `epilogue::linear(2.0, 0.0) | epilogue::gelu()`, or a callable of your
// own. The folder has what an epilogue is (concept.hpp) and the library's own, in namespace keramos::epilogue.
// keramos/gemm/fused.hpp has the products that take them.
#pragma once

#include <keramos/gemm/epilogue/activation.hpp>
#include <keramos/gemm/epilogue/bias.hpp>
#include <keramos/gemm/epilogue/compose.hpp>
#include <keramos/gemm/epilogue/concept.hpp>
#include <keramos/gemm/epilogue/convert.hpp>
#include <keramos/gemm/epilogue/linear.hpp>
#include <keramos/gemm/epilogue/residual.hpp>
#include <keramos/gemm/epilogue/scale.hpp>
