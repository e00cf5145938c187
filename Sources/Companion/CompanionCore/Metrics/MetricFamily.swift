/// A label with all its possible values. Other values are not counted, so that no request can add a series.
struct MetricLabel: Sendable {
    /// The label pairs that are written for each value.
    let values: [MetricsText.Labels]

    init(_ name: String, _ values: [String]) {
        self.values = values.map { [(name, $0)] }
    }

    /// Creates one list from several labels that depend on each other, such as an outcome and its error code.
    init(combinations: [MetricsText.Labels]) {
        values = combinations
    }
}

/// Everything that is counted under one name.
protocol MetricFamily: Sendable {
    func write(to text: inout MetricsText)
}

/// Counters with up to three labels, one for each combination of values.
struct CounterFamily: MetricFamily {
    private let name: String
    private let help: String
    private let labels: [MetricLabel]
    private let cells: Cells
    private let count: Int
    /// Whether a combination is written while it is zero. Without the zero, `rate()` misses the first event of a
    /// series, but most combinations never occur.
    private let isWrittenAtZero: @Sendable (Int) -> Bool

    init(
        _ name: String, _ help: String, _ labels: [MetricLabel], workers: Int,
        isWrittenAtZero: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) {
        self.name = name
        self.help = help
        self.labels = labels
        self.isWrittenAtZero = isWrittenAtZero
        count = labels.reduce(1) { $0 * $1.values.count }
        cells = Cells(count: count, workers: workers)
    }

    /// The row of the caller's thread, for several increments in succession.
    var row: Cells.Row { cells.row }

    /// Increments the combination with these positions in the labels' lists.
    func add(_ first: Int, _ second: Int = 0, _ third: Int = 0, row: Cells.Row? = nil) {
        cells.add(at: index(first, second, third), row: row ?? cells.row)
    }

    /// Returns the index of a combination; -1 if a position is out of range.
    func index(_ first: Int, _ second: Int = 0, _ third: Int = 0) -> Int {
        var index = 0
        for place in 0..<labels.count {
            let value = place == 0 ? first : place == 1 ? second : third
            let values = labels[place].values.count
            guard value >= 0, value < values else { return -1 }
            index = index * values + value
        }
        return index
    }

    func write(to text: inout MetricsText) {
        text.family(name, .counter, help)
        for index in 0..<count {
            let value = cells[index]
            guard value > 0 || isWrittenAtZero(index) else { continue }
            var rest = index
            var pairs: MetricsText.Labels = []
            for label in labels.reversed() {
                pairs = label.values[rest % label.values.count] + pairs
                rest /= label.values.count
            }
            text.sample(name, pairs, value)
        }
    }
}

/// Histograms of durations, one for each value of a label.
struct HistogramFamily: MetricFamily {
    /// The upper bounds in nanoseconds, from a page in memory to a provider that is about to time out.
    private static let bounds: [UInt64] = [
        250_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000,
        500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]
    /// One cell for each bound, one for longer durations, and one for the sum.
    private static let cellsEach = bounds.count + 2

    private let name: String
    private let help: String
    private let label: MetricLabel?
    private let cells: Cells
    private let count: Int

    init(_ name: String, _ help: String, _ label: MetricLabel? = nil, workers: Int) {
        self.name = name
        self.help = help
        self.label = label
        count = label?.values.count ?? 1
        cells = Cells(count: count * HistogramFamily.cellsEach, workers: workers)
    }

    func record(_ duration: Duration, _ place: Int = 0, row: Cells.Row? = nil) {
        guard place >= 0, place < count else { return }
        let row = row ?? cells.row
        let (seconds, attoseconds) = duration.components
        let nanoseconds =
            seconds < 0
            ? 0 : UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
        var bucket = 0
        while bucket < HistogramFamily.bounds.count, nanoseconds > HistogramFamily.bounds[bucket] { bucket += 1 }
        let first = place * HistogramFamily.cellsEach
        cells.add(at: first + bucket, row: row)
        cells.add(nanoseconds, at: first + HistogramFamily.bounds.count + 1, row: row)
    }

    func write(to text: inout MetricsText) {
        text.family(name, .histogram, help)
        for place in 0..<count {
            let first = place * HistogramFamily.cellsEach
            // The buckets are read only once, because the lines of a histogram must agree with each other.
            let buckets = (0...HistogramFamily.bounds.count).map { cells[first + $0] }
            let total = buckets.reduce(0, &+)
            guard total > 0 || label == nil else { continue }
            let labels = label?.values[place] ?? []
            var soFar: UInt64 = 0
            for (bound, bucket) in zip(HistogramFamily.bounds, buckets) {
                soFar &+= bucket
                text.sample(name + "_bucket", labels + [("le", MetricsText.number(Double(bound) / 1e9))], soFar)
            }
            text.sample(name + "_bucket", labels + [("le", "+Inf")], total)
            let sum = cells[first + HistogramFamily.bounds.count + 1]
            text.sample(name + "_sum", labels, Double(sum) / 1e9)
            text.sample(name + "_count", labels, total)
        }
    }
}
