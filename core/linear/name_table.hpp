#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace structlearn {

// A text as it lies in memory: `width` bytes a character. Equal texts have the same width, bytes and hash.
struct Name {
    std::uint32_t hash;
    std::uint32_t width;
    std::string_view bytes;
};

// Numbers names 0, 1, … in the order in which they are added. It keeps copies of the names one after another, so that
// a search touches two places in memory, both of which can be fetched ahead.
class NameTable {
public:
    static constexpr std::int32_t unknown = -1;

    std::size_t size() const { return size_; }

    std::int32_t find(const Name& name) const { return slots_[place(name)].number; }

    // Whether the name is new.
    bool add(const Name& name) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        Slot& slot = slots_[place(name)];
        if (slot.number != unknown) return false;
        slot = {texts_.size(), name.hash, static_cast<std::int32_t>(size_++)};
        const Header header = header_of(name);
        const char* begin = reinterpret_cast<const char*>(&header);
        texts_.insert(texts_.end(), begin, begin + sizeof header);
        texts_.insert(texts_.end(), name.bytes.begin(), name.bytes.end());
        return true;
    }

    void prefetch_slot(std::uint32_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
    void prefetch_text(std::uint32_t hash) const {
        __builtin_prefetch(texts_.data() + slots_[hash & (slots_.size() - 1)].text);
    }

private:
    using Header = std::uint64_t;

    struct Slot {
        std::size_t text = 0;
        std::uint32_t hash = 0;
        std::int32_t number = unknown;
    };

    static Header header_of(const Name& name) { return Header{name.bytes.size()} * 8 + name.width; }

    bool holds(const Slot& slot, const Name& name) const {
        if (slot.hash != name.hash) return false;
        const char* text = texts_.data() + slot.text;
        Header header;
        std::memcpy(&header, text, sizeof header);
        return header == header_of(name) && std::memcmp(text + sizeof header, name.bytes.data(), name.bytes.size()) == 0;
    }

    // The slot of the name, or the empty one where it would be.
    std::size_t place(const Name& name) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t k = name.hash & mask;
        while (slots_[k].number != unknown && !holds(slots_[k], name)) k = (k + 1) & mask;
        return k;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        const std::size_t mask = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.number == unknown) continue;
            std::size_t k = slot.hash & mask;
            while (slots_[k].number != unknown) k = (k + 1) & mask;
            slots_[k] = slot;
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(16);
    std::vector<char> texts_;
    std::size_t size_ = 0;
};

}  // namespace structlearn
