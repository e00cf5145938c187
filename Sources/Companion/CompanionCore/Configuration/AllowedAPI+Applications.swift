import OpenIDConnect

/// A token is issued for one API. These checks keep an application's token from going to another one.
extension AllowedAPI {
    /// Completes the list of the applications whose tokens go to this API, and checks it.
    ///
    /// - Parameter all: the configured applications.
    mutating func settle(among all: [Application], _ mistakes: inout ConfigurationMistakes) {
        let key = "apis.\(name)"
        let portals = all.filter { $0.page == .portal }
        if applications.isEmpty {
            guard portals.count <= 1 else {
                let names = portals.map(\.id).joined(separator: ", ")
                return mistakes.add(
                    "\(key).applications", "is missing: name those of \(names) whose tokens may go to \(base.origin)")
            }
            guard let portal = portals.first else {
                return mistakes.add(
                    "\(key).applications", "needs an application with the page portal, which calls the API")
            }
            applications = [portal.id]
        }
        for id in applications {
            guard let application = portals.first(where: { $0.id == id }) else {
                mistakes.add("\(key).applications", "has “\(id)”, which is no application with the page portal")
                continue
            }
            guard application.api?.origin != base.origin, let path = paths.first(where: { scopes[$0] == nil }) else {
                continue
            }
            mistakes.add(
                "\(key).scopes",
                "lacks those of \(path): without them the token that “\(id)” has for its own API would go to \(base.origin)"
            )
        }
    }
}
