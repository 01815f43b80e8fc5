#pragma once

#include <cstddef>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace structlearn {

// Allocates arrays in pages of two megabytes, where the system has these: places of large tables that are read in no order are
// then found without a walk through tables of pages.
template <class T>
struct HugePages {
    using value_type = T;
    static constexpr std::size_t page = std::size_t{1} << 21;

    HugePages() = default;
    template <class U>
    HugePages(const HugePages<U>&) {}

    T* allocate(std::size_t n) {
        const std::size_t bytes = n * sizeof(T);
        if (bytes < page) return static_cast<T*>(::operator new(bytes));
        void* found = ::operator new(bytes, std::align_val_t{page});
#ifdef __linux__
        madvise(found, bytes / page * page, MADV_HUGEPAGE);
#endif
        return static_cast<T*>(found);
    }
    void deallocate(T* place, std::size_t n) {
        if (n * sizeof(T) < page)
            ::operator delete(place);
        else
            ::operator delete(place, std::align_val_t{page});
    }
    bool operator==(const HugePages&) const { return true; }
};

}  // namespace structlearn
