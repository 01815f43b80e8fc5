#include "linear/semirings.hpp"

namespace structlearn {

namespace {

[[gnu::always_inline]] inline double larger(double a, double b) { return a < b ? b : a; }

}  // namespace

STRUCTLEARN_CLONES
void MaxPlus::join(std::int64_t n, const double* __restrict a, const double* __restrict b, double* __restrict out) {
    for (std::int64_t l = 0; l < n; ++l) out[l] = larger(a[l], b[l]);
}

STRUCTLEARN_CLONES
void MaxPlus::join_shifted(std::int64_t n, const double* __restrict a, double a0, const double* __restrict a1,
                           const double* __restrict b, double b0, const double* __restrict b1, double* __restrict out) {
    for (std::int64_t l = 0; l < n; ++l) out[l] = larger(a[l] + (a0 + a1[l]), b[l] + (b0 + b1[l]));
}

void MaxPlus::scan(std::int64_t n, const double* a, double a0, const double* a1, double b0, const double* b1,
                   double* out) {
    out[0] = minus_infinity;
    for (std::int64_t l = 0; l < n; ++l) out[l + 1] = larger(a[l] + (a0 + a1[l]), out[l] + (b0 + b1[l]));
}

STRUCTLEARN_CLONES
void LogSum::join(std::int64_t n, const double* __restrict a, const double* __restrict b, double* __restrict out) {
    double* __restrict rest = room(n);
    for (std::int64_t j = 0; j < n; ++j) {
        const double top = larger(a[j], b[j]);
        const double low = a[j] < b[j] ? a[j] : b[j];
        rest[j] = low == minus_infinity ? -1000.0 : low - top;
        out[j] = top;
    }
    exponentials(n, rest, 0.0, rest);
    for (std::int64_t j = 0; j < n; ++j) rest[j] += 1.0;
    logarithms(n, rest, rest);
    for (std::int64_t j = 0; j < n; ++j) out[j] += rest[j];
}

void LogSum::join_shifted(std::int64_t n, const double* a, double a0, const double* a1, const double* b, double b0,
                          const double* b1, double* out) {
    shifted_.resize(static_cast<std::size_t>(2 * n));
    for (std::int64_t j = 0; j < n; ++j) shifted_[j] = a[j] + (a0 + a1[j]);
    for (std::int64_t j = 0; j < n; ++j) shifted_[n + j] = b[j] + (b0 + b1[j]);
    join(n, shifted_.data(), shifted_.data() + n, out);
}

void LogSum::scan(std::int64_t n, const double* a, double a0, const double* a1, double b0, const double* b1,
                  double* out) {
    shifted_.resize(static_cast<std::size_t>(2 * n));
    double* term = room(n);
    double* top = shifted_.data();
    double* factor = top + n;
    double extended = 0.0, highest = minus_infinity;
    for (std::int64_t j = 0; j < n; ++j) {
        extended += b0 + b1[j];
        const double value = a[j] + (a0 + a1[j]) - extended;
        const double before = highest;
        highest = larger(highest, value);
        term[j] = value == minus_infinity ? -1000.0 : value - highest;
        factor[j] = before == minus_infinity ? -1000.0 : before - highest;
        top[j] = highest;
        out[j + 1] = extended;
    }
    exponentials(n, term, 0.0, term);
    exponentials(n, factor, 0.0, factor);
    double sum = 0.0;
    for (std::int64_t j = 0; j < n; ++j) term[j] = sum = sum * factor[j] + term[j];
    logarithms(n, term, term);
    out[0] = minus_infinity;
    for (std::int64_t j = 0; j < n; ++j) out[j + 1] += top[j] + term[j];
}

}  // namespace structlearn
