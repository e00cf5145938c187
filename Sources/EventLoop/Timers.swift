/// A timer of one worker; it stays distinct from every later timer.
public struct TimerID: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32
}

/// Pending timers in a binary heap that knows where each timer sits: adding and cancelling cost O(log n), putting a
/// deadline off costs O(1), and a cancelled timer's closure goes at once.
struct TimerHeap {
    private struct Entry {
        /// Never later than the timer's own deadline: one that was put off is moved when it comes up.
        var key: MonotonicTime
        /// Timers of one deadline fire in the order in which they were added.
        var sequence: UInt64
        var slot: UInt32

        static func < (left: Entry, right: Entry) -> Bool {
            left.key == right.key ? left.sequence < right.sequence : left.key < right.key
        }
    }

    private struct Slot {
        var generation: UInt32
        var position: Int
        var deadline: MonotonicTime
        var fire: (() -> Void)?
    }

    private var heap: [Entry] = []
    private var slots: [Slot] = []
    private var free: [UInt32] = []
    /// The number that the next added timer gets.
    private(set) var nextSequence: UInt64 = 0

    var count: Int { heap.count }

    /// When to look next; it may be earlier than any timer is due.
    var earliest: MonotonicTime? { heap.first?.key }

    mutating func add(at deadline: MonotonicTime, _ fire: @escaping () -> Void) -> TimerID {
        let slot: UInt32
        if let reused = free.popLast() {
            slot = reused
            slots[Int(slot)].deadline = deadline
            slots[Int(slot)].fire = fire
        } else {
            slot = UInt32(slots.count)
            slots.append(Slot(generation: 0, position: 0, deadline: deadline, fire: fire))
        }
        heap.append(Entry(key: deadline, sequence: nextSequence, slot: slot))
        nextSequence &+= 1
        siftUp(from: heap.count - 1)
        return TimerID(slot: slot, generation: slots[Int(slot)].generation)
    }

    /// False when the timer has fired or was cancelled.
    mutating func move(_ id: TimerID, to deadline: MonotonicTime) -> Bool {
        guard let position = position(of: id) else { return false }
        slots[Int(id.slot)].deadline = deadline
        if deadline < heap[position].key {
            heap[position].key = deadline
            siftUp(from: position)
        }
        return true
    }

    /// False when the timer has fired or was cancelled.
    mutating func cancel(_ id: TimerID) -> Bool {
        guard let position = position(of: id) else { return false }
        _ = remove(at: position)
        return true
    }

    /// The next timer due at `now` among those added before `limit`, taken out.
    mutating func popDue(at now: MonotonicTime, addedBefore limit: UInt64) -> (() -> Void)? {
        while let first = heap.first, first.key <= now, first.sequence < limit {
            let deadline = slots[Int(first.slot)].deadline
            if deadline <= first.key { return remove(at: 0) }
            // Put off since: even if it is due by now, others may be due before it.
            heap[0].key = deadline
            siftDown(from: 0)
        }
        return nil
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
