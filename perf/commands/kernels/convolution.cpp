// keramos::convolve, 32 taps over signals of 4096 values, beside one loop an output.
#include "arrays.hpp"

namespace keramos::perf {

constexpr std::int64_t taps = 32, length = 4096;

template <class T, class V>
void convolve_by_kokkos(const V& x, const V& w, const V& y, std::int64_t batch) {
  using space = keramos::default_execution_space;
  Kokkos::parallel_for(
      "kokkos_convolve",
      Kokkos::RangePolicy<space, Kokkos::IndexType<std::int64_t>>(machine_queue().execution_space(), 0,
                                                                  batch * length),
      KOKKOS_LAMBDA(std::int64_t at) {
        const std::int64_t i = at % length, shift = (taps - 1) / 2;
        T sum = 0;
        for (std::int64_t j = 0; j < taps; ++j) {
          const std::int64_t s = i + shift - j;
          if (0 <= s && s < length) sum += w(j) * x(at + shift - j);
        }
        y(at) = sum;
      });
}

template <class T>
class convolution_family : public array_family<T> {
 public:
  convolution_family(std::int64_t batch, std::uint64_t seed)
      : array_family<T>(batch * length, batch * length, seed), batch_(batch), w_("w", taps) {
    const auto h = Kokkos::create_mirror_view(w_);
    const random_stream random(seed, 2);
    for (std::int64_t j = 0; j < taps; ++j) h(j) = T(std::int64_t(random.bits(j) % 17) - 8);
    Kokkos::deep_copy(w_, h);
    for (std::int64_t j = 0; j < taps; ++j) filter_.push_back(h(j));
    this->add("keramos", [this] {
      keramos::convolve(machine_queue(), matrix_view<const T>::row_major(this->x.data(), batch_, length),
                        matrix_view<const T>::row_major(w_.data(), 1, taps),
                        matrix_view<T>::row_major(this->y.data(), batch_, length),
                        {.mode = convolution_mode::same});
    });
    this->add("kokkos", [this] { convolve_by_kokkos<T>(this->x, w_, this->y, batch_); });
  }
  std::string shape() const override { return this->joined({batch_, length}) + "*" + std::to_string(taps); }

 protected:
  void refer(const std::vector<T>& in, std::vector<T>& out) const override {
    parallel_blocks(batch_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto at = begin * length; at < end * length; ++at) {
        T sum = 0;
        for (std::int64_t j = 0; j < taps; ++j) {
          const std::int64_t s = at % length + (taps - 1) / 2 - j;
          if (0 <= s && s < length) sum += filter_[j] * in[at / length * length + s];
        }
        out[at] = sum;
      }
    });
  }

 private:
  std::int64_t batch_;
  typename array_family<T>::view w_;
  std::vector<T> filter_;
};

template <class T>
std::unique_ptr<kernel_family> make_convolution_family(std::int64_t elements, std::uint64_t seed) {
  return std::make_unique<convolution_family<T>>(std::max<std::int64_t>(1, elements / length), seed);
}
#define X(T) template std::unique_ptr<kernel_family> make_convolution_family<T>(std::int64_t, std::uint64_t);
KERAMOS_PERF_FOR_TYPES(X)
#undef X

}  // namespace keramos::perf
