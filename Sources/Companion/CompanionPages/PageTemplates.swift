import Synchronization

/// The templates of a folder's pages, which several servers of one process may share. Each is made once.
package final class PageTemplates: Sendable {
    private let made = Mutex<[String: PageTemplate]>([:])

    package init() {}

    func template(_ name: String, _ make: () throws -> PageTemplate) rethrows -> PageTemplate {
        if let known = made.withLock({ $0[name] }) { return known }
        let template = try make()
        made.withLock { $0[name] = template }
        return template
    }
}
