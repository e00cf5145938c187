@testable import CompanionCheck

/// The input is a page of a provider, of which `check` quotes the words.
@Sendable func checkPageText(_ input: [UInt8]) throws(Disagreement) {
    let words = PageText(of: input).words
    try hold(words.utf8.count <= 3 * input.count, "A page's words are no longer than the page: \(words)")
    try agree(words, PageText.singleSpaced(words), "Words have single spaces between them")
    try agree(
        PageText(of: Array("<script>secret</script><STYLE>secret</style>".utf8) + input).words, words,
        "Nobody sees what a script or a style sheet contains")
    let plain = input.filter { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "&") }
    try agree(
        PageText(of: plain).words, PageText.singleSpaced(String(decoding: plain, as: UTF8.self)),
        "A text without elements and entities is its own words")
    try hold(!PageText(of: plain).isUsable, "Nobody signs in at a mere text")
    try hold(PageText(of: plain + Array("<form>".utf8)).isUsable, "A form is seen at the end of a page")
}
