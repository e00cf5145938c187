/// Runs `openssl`, and returns its exit status and everything that it printed.
public func openssl(_ arguments: String...) throws -> (status: Int32, output: String) { try openssl(arguments) }

/// Runs `openssl` with a list of arguments.
public func openssl(_ arguments: [String]) throws -> (status: Int32, output: String) {
    try runToEnd("/usr/bin/env", ["openssl"] + arguments, withErrors: true)
}
