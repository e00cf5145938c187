import CLinux
import Dispatch
import Foundation
import Synchronization

/// An event loop: a serial queue, its own poller (epoll), and one dispatch source that watches the poller.
///
/// Everything that a worker holds (descriptors, timers, tasks that prefer it) stays on it and needs no lock. A turn
/// reads epoll in batches. Each batch serves ready descriptors, then due timers, then local work, then work that was
/// deferred to the end of the batch. When nothing is ready, the worker waits in epoll for a moment before it returns to
/// Dispatch, which costs a thread's sleep and wake-up each time.
///
/// `@unchecked Sendable`: `inbox`, `stop` and the descriptors are thread-safe. All other state is used only within a
/// turn, and turns are serial. Methods that rely on this check it.
public final class Worker: TaskExecutor, @unchecked Sendable {
    /// The time that a worker waits in epoll before it returns to Dispatch (measured: 200–500 µs are best).
    private static let lingerNanoseconds: Int64 = 300_000
    /// The longest time that a turn may occupy the queue.
    private static let turnLimit = Duration.milliseconds(4)
    /// The number of local items that run before descriptors are checked again.
    private static let localBatch = 256

    /// The worker's index in its group.
    public let index: Int

    private let queue: DispatchQueue
    private let source: any DispatchSourceRead
    private let poller: Poller
    private let inbox = Inbox()
    private let stop = Mutex(StopState.running([]))

    private(set) var watches = WatchTable()
    private(set) var timers = TimerHeap()
    private var alarmDeadline: MonotonicTime?
    private var local: [WorkItem] = []
    private var localHead = 0
    private var received: [WorkItem] = []
    private var atEnd: [() -> Void] = []
    private var closing: [Int32] = []
    private var retired: [any ReadinessHandler] = []
    private var stopAsked = false
    private var closed = false
    private var time = MonotonicTime.read()

    private enum StopState {
        case running([CheckedContinuation<Void, Never>])
        case stopped
    }

    init(index: Int) throws(EventLoopError) {
        self.index = index
        poller = try Poller()
        queue = DispatchQueue(label: "worker \(index)", qos: .userInitiated)
        source = DispatchSource.makeReadSource(fileDescriptor: poller.descriptor, queue: queue)
        source.setEventHandler { self.turn() }
        source.setCancelHandler { self.ended() }
        source.activate()
    }

    // MARK: From any thread

    /// The worker on whose turn the caller runs, if any.
    public static var current: Worker? {
        clinux_current_worker().map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether the caller runs on this worker.
    public var isCurrent: Bool { clinux_current_worker() == Unmanaged.passUnretained(self).toOpaque() }

    /// Runs `work` on this worker. Work that one thread submits runs in order. If the caller is on the worker, `work`
    /// runs later in the same batch.
    public func submit(_ work: @escaping @Sendable () -> Void) { accept(.closure(work)) }

    /// Runs a task's job on this worker: `Task(executorPreference: worker)`.
    public func enqueue(_ job: consuming ExecutorJob) { accept(.job(UnownedJob(job))) }

    /// Runs `body` on this worker and returns its result. If the caller is on the worker already, it runs at once.
    public func perform<Answer: Sendable>(_ body: @escaping @Sendable (Worker) -> Answer) async -> Answer {
        if isCurrent { return body(self) }
        return await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: body(self)) }
        }
    }

    private func accept(_ item: WorkItem) {
        if isCurrent && !closed {
            local.append(item)
            return
        }
        switch inbox.add(item) {
        case .wasEmpty: poller.wake()
        case .wasWaiting: break
        case .closed: queue.async { self.runAfterStop(item) }
        }
    }

    /// The number of times that another thread had to wake this worker.
    var wakeups: UInt64 { inbox.wakeups }

    // MARK: On the worker

    private func checkConfinement(_ function: StaticString = #function) {
        precondition(isCurrent, "Worker.\(function) was called from outside the worker; use submit or perform")
    }

    /// The time at which the current batch began. The clock is read once for each batch.
    public var now: MonotonicTime {
        checkConfinement()
        return time
    }

    /// Whether the worker has ended: it still runs submitted work, but watches nothing and fires no timer.
    public var isShutDown: Bool {
        checkConfinement()
        return closed
    }

    /// Calls `handler` whenever `fd` is ready. The handler is retained until `unwatch`; the caller still owns the
    /// descriptor.
    public func watch(
        _ fd: Int32, for readiness: Readiness, _ handler: any ReadinessHandler
    ) throws(EventLoopError) -> Watch {
        checkConfinement()
        if closed { throw .shutDown }
        let watch = watches.insert(fd, handler)
        do {
            try poller.add(fd, for: readiness, token: watch.token)
        } catch {
            _ = watches.remove(watch)
            throw error
        }
        return watch
    }

    /// Changes the events that `watch` is for. Returns false when the watch has ended or the kernel refused.
    @discardableResult
    public func update(_ watch: Watch, for readiness: Readiness) -> Bool {
        checkConfinement()
        guard let fd = watches.fd(of: watch) else { return false }
        do {
            try poller.change(fd, to: readiness, token: watch.token)
            return true
        } catch {
            return false
        }
    }

    /// Ends `watch`: its handler is not called again, not even for events of this batch, and is released at the end of
    /// the batch. Call this before the descriptor is closed. It does nothing if the watch has already ended.
    public func unwatch(_ watch: Watch) {
        checkConfinement()
        guard let (fd, handler) = watches.remove(watch) else { return }
        poller.remove(fd)
        retired.append(handler)
    }

    /// Ends `watch` and closes its descriptor at the end of the batch; the caller gives up its ownership. This is
    /// cheaper than `unwatch` and closing: a descriptor without duplicates leaves epoll when it is closed.
    public func unwatchAndClose(_ watch: Watch) {
        checkConfinement()
        guard let (fd, handler) = watches.remove(watch) else { return }
        closing.append(fd)
        retired.append(handler)
    }

    /// Calls `fire` once, `delay` after `now`, at the earliest later in this batch. Timers with the same deadline fire
    /// in the order in which they were added. Retains `fire` until then or until `cancelTimer`.
    public func addTimer(after delay: Duration, _ fire: @escaping () -> Void) -> TimerID {
        checkConfinement()
        let id = timers.add(at: time + delay, fire)
        if closed { _ = timers.cancel(id) }
        return id
    }

    /// Cancels a pending timer and releases its closure. Returns false when it has fired or was cancelled.
    @discardableResult
    public func cancelTimer(_ id: TimerID) -> Bool {
        checkConfinement()
        return timers.cancel(id)
    }

    /// Runs `work` after everything else in this batch. Use it to free or close objects that the remaining events of
    /// the batch may still refer to.
    public func atBatchEnd(_ work: @escaping () -> Void) {
        checkConfinement()
        atEnd.append(work)
    }

    // MARK: The turn

    /// Runs a turn. Dispatch calls this whenever the poller's descriptor is readable, and again while it stays
    /// readable.
    private func turn() {
        if closed { return }
        clinux_set_current_worker(Unmanaged.passUnretained(self).toOpaque())
        defer { clinux_set_current_worker(nil) }
        time = .read()
        let limit = time + Self.turnLimit
        while true {
            let count = poller.wait(nanoseconds: patience)
            time = .read()
            for place in 0..<count { serve(poller.event(at: place)) }
            let fired = fireTimers()
            runLocal()
            endBatch()
            if stopAsked { return close() }
            let idle = count == 0 && fired == 0 && !hasLocal
            if idle || time >= limit { break }
        }
        // If work is left, the poller's descriptor must become readable, or Dispatch would not call again.
        if hasLocal { poller.wake() }
        setAlarm()
    }

    /// The time to wait in epoll, in nanoseconds.
    private var patience: Int64 {
        if hasLocal { return 0 }
        guard let next = timers.earliest else { return Self.lingerNanoseconds }
        guard next > time else { return 0 }
        return min(Self.lingerNanoseconds, Int64(clamping: next.nanoseconds - time.nanoseconds))
    }

    private func serve(_ event: Poller.Event) {
        switch event.token {
        case Poller.wakeUpToken:
            inbox.take(into: &received)
            local.append(contentsOf: received)
            received.removeAll(keepingCapacity: true)
        case Poller.alarmToken:
            alarmDeadline = nil
        case let token:
            guard let handler = watches.handler(of: Watch(token: token)) else { return }
            var readiness = event.readiness
            if !readiness.isDisjoint(with: [.error, .hangUp]) { readiness.formUnion([.read, .write]) }
            handler.ready(readiness, on: self)
        }
    }

    /// Fires due timers. Timers that these add wait for the next batch, so that sockets are not starved.
    private func fireTimers() -> Int {
        let limit = timers.nextSequence
        var fired = 0
        while let fire = timers.popDue(at: time, addedBefore: limit) {
            fire()
            fired += 1
        }
        return fired
    }

    private var hasLocal: Bool { localHead < local.count }

    private func runLocal() {
        var budget = Self.localBatch
        while budget > 0, hasLocal {
            budget -= 1
            let item = local[localHead]
            localHead += 1
            run(item)
        }
        if !hasLocal {
            local.removeAll(keepingCapacity: local.capacity <= 4096)
            localHead = 0
        } else if localHead >= local.count / 2 {
            // The remaining part is smaller than the part that has run, so each item is moved at most once on average.
            local.removeFirst(localHead)
            localHead = 0
        }
    }

    private func run(_ item: WorkItem) {
        switch item {
        case .closure(let work): work()
        case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private func endBatch() {
        while !atEnd.isEmpty {
            let work = atEnd
            atEnd.removeAll(keepingCapacity: true)
            for step in work { step() }
        }
        for fd in closing { _ = Foundation.close(fd) }
        closing.removeAll(keepingCapacity: true)
        // Releasing a handler runs its deinit, which may retire more handlers.
        while !retired.isEmpty {
            let handlers = retired
            retired = []
            _ = consume handlers
        }
    }

    /// Makes the kernel wake us for the next timer. An alarm that is too early is kept: it costs one empty turn, but
    /// deadlines that are postponed repeatedly cost no system call.
    private func setAlarm() {
        guard let next = timers.earliest else { return }
        if let alarmDeadline, alarmDeadline <= next { return }
        alarmDeadline = next
        poller.setAlarm(at: next)
    }

    // MARK: The end

    func requestStop() {
        submit { self.stopAsked = true }
    }

    func stopped() async {
        await withCheckedContinuation { continuation in
            let already = stop.withLock { state in
                guard case .running(let waiting) = state else { return true }
                state = .running(waiting + [continuation])
                return false
            }
            if already { continuation.resume() }
        }
    }

    /// Drops watches and timers. Waiting and later work and jobs run on the bare queue, so that no task hangs, and a
    /// task that never ends cannot keep the worker from ending.
    private func close() {
        closed = true
        let left = local[localHead...] + inbox.close()
        local = []
        localHead = 0
        for item in left { queue.async { self.runAfterStop(item) } }
        watches = WatchTable()
        timers = TimerHeap()
        endBatch()
        source.cancel()
    }

    private func runAfterStop(_ item: WorkItem) {
        clinux_set_current_worker(Unmanaged.passUnretained(self).toOpaque())
        defer { clinux_set_current_worker(nil) }
        time = .read()
        run(item)
        endBatch()
    }

    private func ended() {
        let waiting = stop.withLock { state -> [CheckedContinuation<Void, Never>] in
            defer { state = .stopped }
            guard case .running(let waiting) = state else { return [] }
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
