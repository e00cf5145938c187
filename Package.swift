// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: Swift 6 language mode (the tools version's default) and no warnings.
let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

/// The targets in which threads meet, which `deploy/test thread` builds without all the others.
let threadTests: Set = [
    "EventLoopTests", "TLSTests", "HTTPServerTests", "HTTPClientTests", "SessionStoreTests", "SQLiteStoreTests",
    "PostgresStoreTests", "StoreConformance",
]

let package = Package(
    name: "companion",
    products: [
        .executable(name: "companion", targets: ["CompanionCommand"]),
        // For other packages, with the module of which their interfaces have types.
        .library(name: "HTTPWire", targets: ["HTTPWire", "WebFormats"]),
        .library(name: "OpenIDConnect", targets: ["OpenIDConnect", "WebFormats"]),
    ],
    // Exact, because Package.resolved is not kept: everyone builds what was tested. `deploy/newest-packages` tries newer
    // versions.
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        // The system, each a thin layer of C.
        .target(name: "CLinux"),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),
        .target(name: "COpenSSL", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .systemLibrary(name: "CBrotli"),
        .systemLibrary(name: "CZlib"),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq"),

        // The small encodings that several of the others speak.
        .target(name: "WebFormats", swiftSettings: settings),

        // One server for one file.
        .target(name: "FileLocking", swiftSettings: settings),

        // From the kernel up to HTTP.
        .target(name: "EventLoop", dependencies: ["CLinux"], swiftSettings: settings),
        .target(name: "TLS", dependencies: ["COpenSSL"], swiftSettings: settings),
        .target(name: "Cryptography", dependencies: ["COpenSSL"], swiftSettings: settings),
        .target(name: "DevelopmentCA", dependencies: ["Cryptography", "WebFormats"], swiftSettings: settings),
        .target(name: "HTTPWire", dependencies: ["WebFormats", httpTypes], swiftSettings: settings),
        .target(
            name: "HTTPServer",
            dependencies: [
                "EventLoop", "HTTPWire", "TLS", "WebFormats", "CLinux", "CBrotli", "CZlib", "Cryptography", httpTypes,
                logging,
            ],
            swiftSettings: settings),
        .target(
            name: "HTTPClient", dependencies: ["EventLoop", "HTTPWire", "CCurl", "CZlib", httpTypes],
            swiftSettings: settings),

        // The knowledge and the stores of a relying party.
        .target(name: "Expiring", swiftSettings: settings),
        .target(
            name: "OpenIDConnect",
            dependencies: ["Cryptography", "Expiring", "WebFormats", httpTypes],
            swiftSettings: settings),
        .target(
            name: "SessionStore", dependencies: ["Cryptography", "Expiring", "WebFormats"], swiftSettings: settings),
        .target(
            name: "SQLiteStore", dependencies: ["SessionStore", "FileLocking", grdb, sqlite], swiftSettings: settings),
        .target(
            name: "PostgresStore", dependencies: ["SessionStore", "EventLoop", "WebFormats", "CPostgres"],
            swiftSettings: settings),

        // The languages of the product's pages.
        .target(
            name: "Languages", dependencies: ["Cryptography", "HTTPWire", "WebFormats", httpTypes],
            swiftSettings: settings),

        // The product, each of these on those above it.
        .target(
            name: "CompanionCore",
            dependencies: [
                "HTTPServer", "HTTPWire", "HTTPClient", "EventLoop", "OpenIDConnect", "SessionStore", "SQLiteStore",
                "PostgresStore", "Languages", "TLS", "WebFormats", httpTypes, logging, yams,
            ],
            swiftSettings: settings),
        .target(
            name: "CompanionSignIn",
            dependencies: [
                "CompanionCore", "HTTPWire", "HTTPClient", "EventLoop", "Expiring", "OpenIDConnect", "SessionStore",
                "Languages", "WebFormats", httpTypes, logging,
            ],
            swiftSettings: settings),
        .target(
            name: "CompanionPages",
            dependencies: [
                "CompanionCore", "HTTPServer", "HTTPWire", "Languages", "OpenIDConnect", "WebFormats", "Cryptography",
                httpTypes,
            ],
            swiftSettings: settings),
        .target(
            name: "CompanionCheck",
            dependencies: [
                "CompanionCore", "CompanionSignIn", "HTTPClient", "Languages", "OpenIDConnect", "SessionStore", "TLS",
                "WebFormats", httpTypes,
            ],
            swiftSettings: settings),
        .target(
            name: "Companion",
            dependencies: [
                "CompanionCore", "CompanionSignIn", "CompanionCheck", "CompanionPages", "HTTPServer", "HTTPWire",
                "HTTPClient", "EventLoop", "Expiring", "Languages", "OpenIDConnect", "SessionStore", "TLS",
                "WebFormats", httpTypes, logging, "Cryptography",
            ],
            swiftSettings: settings),

        // The tenant, which needs nothing of the product's.
        .target(
            name: "TenantDirectory",
            dependencies: ["WebFormats", httpTypes, "Cryptography", logging], swiftSettings: settings),
        .target(
            name: "TenantControl",
            dependencies: ["TenantDirectory", "HTTPServer", "HTTPWire", "WebFormats", httpTypes, logging],
            swiftSettings: settings),
        .target(
            name: "TenantGraph",
            dependencies: [
                "TenantDirectory", "TenantControl", "HTTPServer", "HTTPWire", "WebFormats", httpTypes, "Cryptography",
            ],
            swiftSettings: settings),
        .target(
            name: "TenantSignIn",
            dependencies: [
                "TenantDirectory", "TenantControl", "Expiring", "HTTPServer", "HTTPWire", "Languages", "WebFormats",
                httpTypes, "Cryptography", logging,
            ],
            swiftSettings: settings),
        .target(
            name: "TenantServer",
            dependencies: [
                "TenantDirectory", "TenantControl", "TenantGraph", "TenantSignIn", "FileLocking", "HTTPServer",
                "HTTPWire", "Cryptography", "EventLoop", "Languages", "TLS", "WebFormats", httpTypes, logging,
            ],
            swiftSettings: settings),

        // The command.
        .executableTarget(
            name: "CompanionCommand",
            dependencies: [
                "Companion", "CompanionCore", "CompanionSignIn", "CompanionCheck", "CompanionPages", "TenantDirectory",
                "TenantServer",
                "DevelopmentCA", "EventLoop", "HTTPClient", "HTTPServer", "HTTPWire", "Languages", "OpenIDConnect",
                "SessionStore", "TLS", "WebFormats", httpTypes, logging, "Cryptography", yams,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // Shared by several test targets.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "TLSClient", path: "Tests/TLSClient",
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .testTarget(name: "WebFormatsTests", dependencies: ["WebFormats"], swiftSettings: settings),
        .testTarget(name: "ExpiringTests", dependencies: ["Expiring"], swiftSettings: settings),
        .testTarget(
            name: "EventLoopTests", dependencies: ["EventLoop", "CLinux", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "HTTPWireTests",
            dependencies: ["HTTPWire", "WebFormats", "TestSupport", httpTypes], exclude: ["Corpus"],
            swiftSettings: settings),
        .testTarget(name: "TLSTests", dependencies: ["TLS", "COpenSSL"], swiftSettings: settings),
        .testTarget(
            name: "CryptographyTests", dependencies: ["Cryptography", "WebFormats", "TestSupport"],
            exclude: ["requirements.txt"], swiftSettings: settings),
        .testTarget(
            name: "DevelopmentCATests", dependencies: ["DevelopmentCA", "Cryptography", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "HTTPServer", "HTTPWire", "TLS", "EventLoop", "CBrotli", "CZlib", "TLSClient", "TestSupport", httpTypes,
                logging,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPClientTests",
            dependencies: ["HTTPClient", "EventLoop", "TestSupport", httpTypes],
            swiftSettings: settings),
        .testTarget(
            name: "OpenIDConnectTests",
            dependencies: ["OpenIDConnect", "Cryptography", "WebFormats", "TestSupport", httpTypes],
            swiftSettings: settings),
        // Stores for tests: a fixture, and the backend in memory.
        .target(
            name: "StoreTesting",
            dependencies: ["SessionStore", "SQLiteStore", "PostgresStore", "EventLoop", "TestSupport", grdb],
            path: "Tests/StoreTesting", swiftSettings: settings),
        .testTarget(
            name: "SessionStoreTests", dependencies: ["SessionStore", "StoreTesting", "TestSupport", "WebFormats"],
            swiftSettings: settings),
        .testTarget(
            name: "SQLiteStoreTests",
            dependencies: ["SQLiteStore", "SessionStore", "StoreTesting", "TestSupport", "WebFormats", grdb],
            swiftSettings: settings),
        .testTarget(
            name: "PostgresStoreTests",
            dependencies: ["PostgresStore", "SessionStore", "StoreTesting", "TestSupport", "EventLoop"],
            swiftSettings: settings),
        .testTarget(
            name: "StoreConformance", dependencies: ["SessionStore", "StoreTesting", "TestSupport"],
            path: "Tests/StoreConformance",
            swiftSettings: settings),
        .testTarget(
            name: "DemoTenantTests",
            dependencies: [
                "TenantDirectory", "TenantControl", "TenantGraph", "TenantSignIn", "TenantServer", "HTTPClient",
                "CompanionCommand", "HTTPServer", "EventLoop", "HTTPWire", "Languages", "WebFormats", "Cryptography",
                "TestSupport", httpTypes, logging,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CompanionTests",
            dependencies: [
                "CompanionCommand", "Companion", "CompanionCore", "CompanionSignIn", "CompanionCheck", "CompanionPages",
                "TenantDirectory", "TenantServer", "HTTPClient", "HTTPServer", "EventLoop", "HTTPWire", "Languages",
                "OpenIDConnect", "SessionStore", "SQLiteStore", "PostgresStore", "StoreTesting", "TLS", "WebFormats",
                "TestSupport", "Cryptography", httpTypes, logging,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CompanionCommandTests",
            dependencies: [
                "CompanionCommand", "CompanionCore", "TenantDirectory", "DevelopmentCA", "WebFormats", "Cryptography",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "WebFormats", "Cryptography", "HTTPWire", "Languages", "OpenIDConnect", "Companion", "CompanionCore",
                "CompanionSignIn", "CompanionCheck", "TenantDirectory", "TenantControl", "TenantGraph", "TenantSignIn",
                "TenantServer", "HTTPServer",
                "TestSupport", httpTypes,
            ],
            path: "Tests/Fuzz", exclude: ["Corpus", "Driver", "README.md", "run"],
            swiftSettings: settings),
        // Tests/Costs/run counts the instructions of these. Empty in a release build.
        .executableTarget(
            name: "Costs",
            dependencies: [
                "Companion", "CompanionCore", "CompanionPages", "CompanionSignIn", "HTTPServer", "HTTPWire",
                "Languages", "OpenIDConnect", "SessionStore", "WebFormats", httpTypes, logging,
            ],
            path: "Tests/Costs/Functions", swiftSettings: settings),
        // Tests/Benchmarks/run measures the store with these.
        .executableTarget(
            name: "StoreBenchmark",
            dependencies: ["EventLoop", "PostgresStore", "SessionStore", "SQLiteStore", sqlite],
            path: "Tests/Benchmarks/Store", swiftSettings: settings),
    ]
)

// The rooms of the house. `Sources/<room>/<target>`.
let rooms = [
    "C": ["CBrotli", "CCurl", "CLinux", "CPostgres", "COpenSSL", "CZlib"],
    "Wire": [
        "Cryptography", "DevelopmentCA", "EventLoop", "Expiring", "FileLocking", "HTTPClient", "HTTPServer", "HTTPWire",
        "TLS", "WebFormats",
    ],
    "Identity": ["Languages", "OpenIDConnect"],
    "Store": ["PostgresStore", "SQLiteStore", "SessionStore"],
    "Companion": ["Companion", "CompanionCheck", "CompanionCore", "CompanionPages", "CompanionSignIn"],
    "Tenant": ["TenantControl", "TenantDirectory", "TenantGraph", "TenantServer", "TenantSignIn"],
    "Command": ["CompanionCommand"],
]
for (room, names) in rooms {
    for target in package.targets where names.contains(target.name) { target.path = "Sources/\(room)/\(target.name)" }
}

// `COMPANION_TARGETS=threads`, or names of test targets with commas between them, leaves out all that these do not need.
if let names = Context.environment["COMPANION_TARGETS"] {
    let tested = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var needed: Set<String> = []
    func need(_ name: String) {
        guard let target = tested[name], needed.insert(name).inserted else { return }
        for case .byNameItem(let below, _) in target.dependencies { need(below) }
    }
    (names == "threads" ? threadTests : Set(names.split(separator: ",").map(String.init))).forEach(need)
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}
