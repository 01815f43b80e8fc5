#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace structlearn {

// A zeroed vector over all weights, made when first used and not copied. calloc leaves untouched pages unmapped.
class Scratch {
public:
    explicit Scratch(std::int64_t size) : size_(size) {}
    Scratch(const Scratch& other) : size_(other.size_) {}
    Scratch& operator=(const Scratch&) = delete;
    void grow(std::int64_t size) {
        size_ = size;
        data_.reset();
    }
    double* get() {
        if (!data_) data_.reset(static_cast<double*>(std::calloc(static_cast<std::size_t>(std::max<std::int64_t>(size_, 1)), 8)));
        if (!data_) throw std::bad_alloc();
        return data_.get();
    }

private:
    struct Free {
        void operator()(double* data) const { std::free(data); }
    };
    std::int64_t size_;
    std::unique_ptr<double, Free> data_;
};

// Inner products of plane k with every plane of its block: its row is spread out over the weights and all are read
// against it.
template <class Store>
void products_by_spreading(Store& store, std::int64_t i, const typename Store::Block& block, std::int64_t k,
                           Scratch& scratch, double* out) {
    double* spread = scratch.get();
    store.each(i, block, k, [=](std::int64_t index, double value) { spread[index] += value; });
    store.dots(i, block, spread, out);
    store.each(i, block, k, [=](std::int64_t index, double) { spread[index] = 0.0; });
}

}  // namespace structlearn
