/// The events for which a descriptor is watched or ready: the kernel's bits.
public struct Readiness: OptionSet, Sendable, Hashable {
    /// The kernel's bits.
    public let rawValue: UInt32

    /// Creates a set from the kernel's bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A handler that a worker calls when a watched descriptor is ready.
public protocol ReadinessHandler: AnyObject {
    /// Called on the worker. After `.error` or `.hangUp` both `.read` and `.write` are set as well, so a handler that
    /// only reads and writes gets the error from the system call.
    func ready(_ readiness: Readiness, on worker: Worker)
}

/// A registration of a descriptor. It is different from every later registration of the same descriptor number.
public struct Watch: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32

    /// The value that the kernel stores with the descriptor.
    var token: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}

extension Watch {
    init(token: UInt64) {
        slot = UInt32(truncatingIfNeeded: token)
        generation = UInt32(truncatingIfNeeded: token >> 32)
    }
}

/// The worker's registrations. A slot's generation changes when its watch ends, so that an event that the kernel had
/// already queued for the old watch finds nothing.
struct WatchTable {
    private struct Slot {
        var fd: Int32
        var generation: UInt32
        var handler: (any ReadinessHandler)?
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []

    var count: Int { slots.count - free.count }

    mutating func insert(_ fd: Int32, _ handler: any ReadinessHandler) -> Watch {
        if let slot = free.popLast() {
            slots[Int(slot)].fd = fd
            slots[Int(slot)].handler = handler
            return Watch(slot: slot, generation: slots[Int(slot)].generation)
        }
        slots.append(Slot(fd: fd, generation: 0, handler: handler))
        return Watch(slot: UInt32(slots.count - 1), generation: 0)
    }

    func handler(of watch: Watch) -> (any ReadinessHandler)? {
        let index = Int(watch.slot)
        guard index < slots.count, slots[index].generation == watch.generation else { return nil }
        return slots[index].handler
    }

    func fd(of watch: Watch) -> Int32? {
        handler(of: watch) == nil ? nil : slots[Int(watch.slot)].fd
    }

    mutating func remove(_ watch: Watch) -> (fd: Int32, handler: any ReadinessHandler)? {
        guard let handler = handler(of: watch) else { return nil }
        let index = Int(watch.slot)
        slots[index].handler = nil
        slots[index].generation &+= 1
        free.append(watch.slot)
        return (slots[index].fd, handler)
    }
}
