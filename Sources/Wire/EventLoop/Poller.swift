import CLinux
import Foundation

/// The descriptors with which a worker waits: an epoll descriptor, an eventfd with which any thread wakes it, and a
/// timerfd for its next timer. All parts of the event loop that are specific to Linux are here and in CLinux.
struct Poller: ~Copyable {
    /// The token of the event that `wake` causes.
    static let wakeUpToken = UInt64.max
    /// The token of the event that the alarm causes.
    static let alarmToken = UInt64.max - 1
    /// The most events that one wait returns.
    private static let capacity = 256

    /// The kernel's report about one descriptor.
    struct Event {
        /// The token with which the descriptor was registered.
        let token: UInt64
        /// The events for which it is ready.
        let readiness: Readiness
    }

    private let epoll: Descriptor
    private let wakeUp: Descriptor
    private let alarm: Descriptor
    private let events: UnsafeMutablePointer<epoll_event>

    /// Creates the descriptors. Throws when the kernel refuses.
    init() throws(EventLoopError) {
        let epoll = try Descriptor(epoll_create1(Int32(EPOLL_CLOEXEC)), from: "epoll_create1")
        let wakeUp = try Descriptor(eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)), from: "eventfd")
        let alarm = try Descriptor(
            timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK)),
            from: "timerfd_create")
        // Edge-triggered, so that neither needs to be read: each write and each expiry is an edge.
        let readiness: Readiness = [.read, .edgeTriggered]
        try Self.control(epoll.rawValue, EPOLL_CTL_ADD, wakeUp.rawValue, readiness, token: Self.wakeUpToken)
        try Self.control(epoll.rawValue, EPOLL_CTL_ADD, alarm.rawValue, readiness, token: Self.alarmToken)
        self.epoll = epoll
        self.wakeUp = wakeUp
        self.alarm = alarm
        events = .allocate(capacity: Self.capacity)
    }

    deinit { events.deallocate() }

    /// A descriptor, for Dispatch, that is readable as long as there are events.
    var descriptor: Int32 { epoll.rawValue }

    /// Causes an event with `wakeUpToken`. May be called from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = write(wakeUp.rawValue, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes the kernel cause an event with `alarmToken` at `time`, replacing an earlier alarm.
    func setAlarm(at time: MonotonicTime) {
        _ = clinux_timerfd_set(alarm.rawValue, max(1, time.nanoseconds))
    }

    /// Registers a descriptor. Throws when the kernel refuses it.
    func add(_ fd: Int32, for readiness: Readiness, token: UInt64) throws(EventLoopError) {
        try Self.control(epoll.rawValue, EPOLL_CTL_ADD, fd, readiness, token: token)
    }

    /// Changes the events for which a registered descriptor is watched. Throws when the kernel refuses.
    func change(_ fd: Int32, to readiness: Readiness, token: UInt64) throws(EventLoopError) {
        try Self.control(epoll.rawValue, EPOLL_CTL_MOD, fd, readiness, token: token)
    }

    /// Removes a registration, if there is one.
    func remove(_ fd: Int32) {
        var event = epoll_event()
        _ = epoll_ctl(epoll.rawValue, EPOLL_CTL_DEL, fd, &event)
    }

    /// Waits for events for at most this many nanoseconds; 0 does not wait. Returns the number of events.
    func wait(nanoseconds: Int64) -> Int {
        max(0, Int(clinux_epoll_wait(epoll.rawValue, events, Int32(Self.capacity), nanoseconds)))
    }

    /// Returns one of the last wait's events; `place` is less than the number that the wait returned.
    @inline(__always)
    func event(at place: Int) -> Event {
        Event(token: events[place].data.u64, readiness: Readiness(rawValue: events[place].events))
    }

    private static func control(
        _ epoll: Int32, _ operation: Int32, _ fd: Int32, _ readiness: Readiness, token: UInt64
    ) throws(EventLoopError) {
        var event = epoll_event()
        event.events = readiness.rawValue
        event.data.u64 = token
        guard epoll_ctl(epoll, operation, fd, &event) == 0 else {
            throw .system(operation: "epoll_ctl", code: errno)
        }
    }
}

// The kernel's own bits, so that no translation is needed.
extension Readiness {
    /// There are bytes to read, a connection to accept, or the peer has ended its half.
    public static let read = Readiness(rawValue: EPOLLIN.rawValue)
    /// There is room to write, or a connect has ended.
    public static let write = Readiness(rawValue: EPOLLOUT.rawValue)
    /// The peer has ended its half of the connection. Delivered only on request.
    public static let peerClosed = Readiness(rawValue: EPOLLRDHUP.rawValue)
    /// In a request: report changes only. The handler must then read or write until the kernel returns EAGAIN.
    public static let edgeTriggered = Readiness(rawValue: EPOLLET.rawValue)
    /// In a report: the connection has an error, which reading or writing returns.
    public static let error = Readiness(rawValue: EPOLLERR.rawValue)
    /// In a report: both halves have ended.
    public static let hangUp = Readiness(rawValue: EPOLLHUP.rawValue)
}
