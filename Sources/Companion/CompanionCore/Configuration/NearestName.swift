/// Returns the name that a person most likely meant; nil if none is near.
///
/// - Parameters:
///   - given: the name that was given.
///   - names: the names that exist.
/// - Returns: the name with the fewest changed letters (Damerau: two neighbours that changed places are one change), at
///   most two and at most a third of them. Hyphens, underscores and upper case make no difference.
package func nearest(to given: String, among names: some Sequence<String>) -> String? {
    guard given.utf8.count <= 400 else { return nil }
    func plain(_ name: String) -> [Character] { name.lowercased().filter { $0 != "_" && $0 != "-" } }
    let letters = plain(given)
    let most = min(2, letters.count / 3)
    guard letters.count <= 100 else { return nil }
    // Strangers can ask for any page: what differs much in length is not compared letter by letter.
    let near = names.map { (name: $0, letters: plain($0)) }.filter { abs($0.letters.count - letters.count) <= most }
        .map { (name: $0.name, changes: changes(from: letters, to: $0.letters)) }.filter { $0.changes <= most }
    return near.min { ($0.changes, $0.name) < ($1.changes, $1.name) }?.name
}

private func changes(from given: [Character], to name: [Character]) -> Int {
    var (before, row) = ([Int](), Array(0...name.count))
    for (place, letter) in given.enumerated() {
        var next = [place + 1]
        for (column, other) in name.enumerated() {
            var least = min(next[column] + 1, row[column + 1] + 1, row[column] + (letter == other ? 0 : 1))
            if place > 0, column > 0, letter == name[column - 1], other == given[place - 1] {
                least = min(least, before[column - 1] + 1)
            }
            next.append(least)
        }
        (before, row) = (row, next)
    }
    return row[name.count]
}
