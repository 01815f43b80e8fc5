#pragma once

#include <cstdint>
#include <vector>

#include "linear/huge_pages.hpp"

namespace structlearn {

// Numbers features by their keys: 0, 1, … in the order in which keys are added; or, hashed, any number below a size, which
// features may share.
class FeatureIndex {
public:
    FeatureIndex() : slots_(16), bits_(1) {}
    static FeatureIndex hashed(std::int64_t size) {
        FeatureIndex index;
        index.size_ = size;
        index.slots_.clear();
        return index;
    }

    std::int64_t size() const { return size_; }

    // The number of a feature, −1 if it has none.
    std::int64_t find(std::uint64_t key) const {
        const std::uint64_t mixed = mix(key);
        return slots_.empty() ? hashed_number(mixed) : slots_[place(mixed)].number;
    }
    // The numbers of those of many features that have one. Lists of keys lie one after another and end at `ends`, which become
    // the ends of lists of numbers; keys are used up. All memory that is needed is asked for first.
    void find(std::vector<std::uint64_t>& keys, std::vector<std::uint32_t>& ends, std::vector<std::uint32_t>& numbers) const {
        numbers.resize(keys.size());
        if (slots_.empty()) {
            for (std::size_t k = 0; k < keys.size(); ++k) numbers[k] = static_cast<std::uint32_t>(hashed_number(mix(keys[k])));
            return;
        }
        for (std::uint64_t& key : keys) {
            key = mix(key);
            __builtin_prefetch(&bits_[bit(key) / 64]);
        }
        // Most features of arcs that no tree has are unknown: a bit of a small table tells, for eight in nine of them.
        each_kept(ends, [&](std::uint32_t k, std::uint32_t kept) {
            const std::uint64_t mixed = keys[kept] = keys[k];
            const std::uint64_t known = bits_[bit(mixed) / 64] >> bit(mixed) % 64 & 1;
            __builtin_prefetch(&slots_[mixed & (slots_.size() - 1) & (0 - known)]);
            return known;
        });
        each_kept(ends, [&](std::uint32_t k, std::uint32_t kept) {
            const std::int32_t number = slots_[place(keys[k])].number;
            numbers[kept] = static_cast<std::uint32_t>(number);
            return number >= 0;
        });
        numbers.resize(ends.empty() ? 0 : ends.back());
    }

    // Whether the key is new; not for hashed features.
    bool add(std::uint64_t key) {
        if (2 * (mixed_.size() + 1) > slots_.size()) grow();
        const std::uint64_t mixed = mix(key);
        Slot& slot = slots_[place(mixed)];
        if (slot.number >= 0) return false;
        slot = {static_cast<std::uint32_t>(mixed >> 32), static_cast<std::int32_t>(size_++)};
        mixed_.push_back(mixed);
        set_bit(mixed);
        return true;
    }

private:
    // The upper half of a mixed key tells keys apart that have the same place: of a million features, two are mistaken for each
    // other with a probability of about 10⁻⁴.
    struct Slot {
        std::uint32_t check = 0;
        std::int32_t number = -1;
    };

    // Lists that end at `ends` lose those for which keep(k, how many are kept so far) is false.
    template <class Keep>
    static void each_kept(std::vector<std::uint32_t>& ends, Keep&& keep) {
        std::uint32_t k = 0, kept = 0;
        for (std::uint32_t& end : ends) {
            for (; k < end; ++k) kept += keep(k, kept) ? 1 : 0;
            end = kept;
        }
    }
    static std::uint64_t mix(std::uint64_t key) {
        key = (key ^ (key >> 32)) * 0x9E3779B97F4A7C15u;
        return key ^ (key >> 29);
    }
    std::int64_t hashed_number(std::uint64_t mixed) const {
        return static_cast<std::int64_t>(((mixed >> 32) * static_cast<std::uint64_t>(size_)) >> 32);
    }
    // The slot of a key, or the empty one where it would be.
    std::size_t place(std::uint64_t mixed) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t k = mixed & mask;
        while (slots_[k].number >= 0 && slots_[k].check != static_cast<std::uint32_t>(mixed >> 32)) k = (k + 1) & mask;
        return k;
    }
    // Four bits a slot, from other bits of the key than the place.
    std::uint64_t bit(std::uint64_t mixed) const { return (mixed >> 20) & (4 * slots_.size() - 1); }
    void set_bit(std::uint64_t mixed) { bits_[bit(mixed) / 64] |= std::uint64_t{1} << bit(mixed) % 64; }
    void grow() {
        slots_.assign(2 * slots_.size(), {});
        bits_.assign(slots_.size() / 16, 0);
        for (const std::uint64_t mixed : mixed_) set_bit(mixed);
        for (std::size_t number = 0; number < mixed_.size(); ++number)
            slots_[place(mixed_[number])] = {static_cast<std::uint32_t>(mixed_[number] >> 32), static_cast<std::int32_t>(number)};
    }

    std::int64_t size_ = 0;
    std::vector<Slot, HugePages<Slot>> slots_;                   // none if hashed
    std::vector<std::uint64_t, HugePages<std::uint64_t>> bits_;  // one set for every key
    std::vector<std::uint64_t> mixed_;                           // keys by number
};

}  // namespace structlearn
