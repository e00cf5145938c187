import CLinux
import Foundation

/// What a worker waits with: one epoll descriptor, an eventfd with which any thread wakes it, and a timerfd for its next
/// timer. Everything that the event loop needs of Linux alone is here and in CLinux.
struct Poller: ~Copyable {
    /// The token of the event that says that `wake` was called.
    static let wakeUpToken = UInt64.max
    /// The token of the event that says that the alarm's time has come.
    static let alarmToken = UInt64.max - 1
    /// How many events one wait takes.
    private static let capacity = 256

    /// What the kernel reports of one descriptor.
    struct Event {
        /// What the descriptor was registered with.
        let token: UInt64
        /// What it is ready for.
        let readiness: Readiness
    }

    private let epoll: Descriptor
    private let wakeUp: Descriptor
    private let alarm: Descriptor
    private let events: UnsafeMutablePointer<epoll_event>

    /// Throws what the kernel refuses.
    init() throws(EventLoopError) {
        let epoll = try Descriptor(epoll_create1(Int32(EPOLL_CLOEXEC)), from: "epoll_create1")
        let wakeUp = try Descriptor(eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)), from: "eventfd")
        let alarm = try Descriptor(
            timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK)),
            from: "timerfd_create")
        // Edge-triggered, so that neither is ever read: each write and each expiry is an edge.
        let readiness: Readiness = [.read, .edgeTriggered]
        try Self.control(epoll.rawValue, EPOLL_CTL_ADD, wakeUp.rawValue, readiness, token: Self.wakeUpToken)
        try Self.control(epoll.rawValue, EPOLL_CTL_ADD, alarm.rawValue, readiness, token: Self.alarmToken)
        self.epoll = epoll
        self.wakeUp = wakeUp
        self.alarm = alarm
        events = .allocate(capacity: Self.capacity)
    }

    deinit { events.deallocate() }

    /// The descriptor that is readable as long as there are events, for Dispatch.
    var descriptor: Int32 { epoll.rawValue }

    /// Makes an event with `wakeUpToken`. May be called from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = write(wakeUp.rawValue, &one, MemoryLayout<UInt64>.size)
    }

    /// Has the kernel make an event with `alarmToken` at `time`, in place of an earlier wish.
    func setAlarm(at time: MonotonicTime) {
        _ = clinux_timerfd_set(alarm.rawValue, max(1, time.nanoseconds))
    }

    /// Registers a descriptor. Throws when the kernel refuses it.
    func add(_ fd: Int32, for readiness: Readiness, token: UInt64) throws(EventLoopError) {
        try Self.control(epoll.rawValue, EPOLL_CTL_ADD, fd, readiness, token: token)
    }

    /// Changes what a registered descriptor is watched for. Throws when the kernel refuses.
    func change(_ fd: Int32, to readiness: Readiness, token: UInt64) throws(EventLoopError) {
        try Self.control(epoll.rawValue, EPOLL_CTL_MOD, fd, readiness, token: token)
    }

    /// Ends a registration, if there is one.
    func remove(_ fd: Int32) {
        var event = epoll_event()
        _ = epoll_ctl(epoll.rawValue, EPOLL_CTL_DEL, fd, &event)
    }

    /// Waits for events, at most so many nanoseconds; 0 only looks. Returns how many there are.
    func wait(nanoseconds: Int64) -> Int {
        max(0, Int(clinux_epoll_wait(epoll.rawValue, events, Int32(Self.capacity), nanoseconds)))
    }

    /// One of the last wait's events; `place` is below what that wait returned.
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

// The kernel's own bits, so that nothing is translated.
extension Readiness {
    /// There is something to read or accept, or the peer has ended its half.
    public static let read = Readiness(rawValue: EPOLLIN.rawValue)
    /// There is room to write, or a connect has ended.
    public static let write = Readiness(rawValue: EPOLLOUT.rawValue)
    /// The peer has ended its half of the connection. Delivered only when asked for.
    public static let peerClosed = Readiness(rawValue: EPOLLRDHUP.rawValue)
    /// Asked for: deliver on changes only. The handler must then read or write until the kernel says EAGAIN.
    public static let edgeTriggered = Readiness(rawValue: EPOLLET.rawValue)
    /// Delivered: the connection has an error; reading or writing returns which.
    public static let error = Readiness(rawValue: EPOLLERR.rawValue)
    /// Delivered: both halves have ended.
    public static let hangUp = Readiness(rawValue: EPOLLHUP.rawValue)
}
