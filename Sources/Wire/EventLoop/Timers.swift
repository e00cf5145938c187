/// A timer of one worker. It is different from every later timer.
public struct TimerID: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32
}

/// Pending timers in a binary heap that stores the position of each timer: adding and cancelling cost O(log n), and a
/// cancelled timer's closure is released at once.
struct TimerHeap {
    private struct Entry {
        var deadline: MonotonicTime
        /// Timers with the same deadline fire in the order in which they were added.
        var sequence: UInt64
        var slot: UInt32

        static func < (left: Entry, right: Entry) -> Bool {
            left.deadline == right.deadline ? left.sequence < right.sequence : left.deadline < right.deadline
        }
    }

    private struct Slot {
        var generation: UInt32
        var position: Int
        var fire: (() -> Void)?
    }

    private var heap: [Entry] = []
    private var slots: [Slot] = []
    private var free: [UInt32] = []
    /// The sequence number of the next timer.
    private(set) var nextSequence: UInt64 = 0

    var count: Int { heap.count }

    /// The deadline of the next timer.
    var earliest: MonotonicTime? { heap.first?.deadline }

    mutating func add(at deadline: MonotonicTime, _ fire: @escaping () -> Void) -> TimerID {
        let slot: UInt32
        if let reused = free.popLast() {
            slot = reused
            slots[Int(slot)].fire = fire
        } else {
            slot = UInt32(slots.count)
            slots.append(Slot(generation: 0, position: 0, fire: fire))
        }
        heap.append(Entry(deadline: deadline, sequence: nextSequence, slot: slot))
        nextSequence &+= 1
        siftUp(from: heap.count - 1)
        return TimerID(slot: slot, generation: slots[Int(slot)].generation)
    }

    /// Cancels a timer; returns false when it has fired or was cancelled.
    mutating func cancel(_ id: TimerID) -> Bool {
        guard let position = position(of: id) else { return false }
        _ = remove(at: position)
        return true
    }

    /// Removes and returns the next timer that is due at `now`, among those added before `limit`.
    mutating func popDue(at now: MonotonicTime, addedBefore limit: UInt64) -> (() -> Void)? {
        guard let first = heap.first, first.deadline <= now, first.sequence < limit else { return nil }
        return remove(at: 0)
    }

    private func position(of id: TimerID) -> Int? {
        let index = Int(id.slot)
        guard index < slots.count, slots[index].generation == id.generation, slots[index].fire != nil else {
            return nil
        }
        return slots[index].position
    }

    private mutating func remove(at position: Int) -> (() -> Void)? {
        let slot = Int(heap[position].slot)
        let fire = slots[slot].fire
        slots[slot].fire = nil
        slots[slot].generation &+= 1
        free.append(UInt32(slot))
        let last = heap.removeLast()
        if position < heap.count {
            heap[position] = last
            siftDown(from: position)
            siftUp(from: slots[Int(last.slot)].position)
        }
        return fire
    }

    private mutating func siftUp(from start: Int) {
        var position = start
        let entry = heap[position]
        while position > 0 {
            let parent = (position - 1) / 2
            guard entry < heap[parent] else { break }
            place(heap[parent], at: position)
            position = parent
        }
        place(entry, at: position)
    }

    private mutating func siftDown(from start: Int) {
        var position = start
        let entry = heap[position]
        while true {
            var child = 2 * position + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < entry else { break }
            place(heap[child], at: position)
            position = child
        }
        place(entry, at: position)
    }

    private mutating func place(_ entry: Entry, at position: Int) {
        heap[position] = entry
        slots[Int(entry.slot)].position = position
    }
}
