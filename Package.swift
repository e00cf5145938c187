// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: Swift 6 language mode (the tools version's default) and no warnings.
let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
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
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        // The system, each a thin layer of C.
        .target(name: "CLinux"),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),
        .target(name: "CTLS", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .systemLibrary(name: "CBrotli"),
        .systemLibrary(name: "CZlib"),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq"),

        // The small encodings that several of the others speak.
        .target(name: "WebFormats", swiftSettings: settings),

        // From the kernel up to HTTP.
        .target(name: "EventLoop", dependencies: ["CLinux"], swiftSettings: settings),
        .target(name: "TLS", dependencies: ["CTLS"], swiftSettings: settings),
        .target(name: "DevelopmentCA", dependencies: [x509, asn1, crypto], swiftSettings: settings),
        .target(name: "HTTPWire", dependencies: ["WebFormats", httpTypes], swiftSettings: settings),
        .target(
            name: "HTTPServer",
            dependencies: [
                "EventLoop", "HTTPWire", "TLS", "WebFormats", "CLinux", "CBrotli", "CZlib", httpTypes, crypto, logging,
            ],
            swiftSettings: settings),
        .target(
            name: "HTTPClient", dependencies: ["EventLoop", "HTTPWire", "CCurl", "CZlib", httpTypes],
            swiftSettings: settings),

        // What a relying party knows and keeps.
        .target(name: "Expiring", swiftSettings: settings),
        .target(
            name: "OpenIDConnect",
            dependencies: ["Expiring", "WebFormats", httpTypes, crypto, cryptoExtras, asn1],
            swiftSettings: settings),
        .target(name: "SessionStore", dependencies: ["Expiring", "WebFormats", crypto], swiftSettings: settings),
        .target(name: "SQLiteStore", dependencies: ["SessionStore", grdb, sqlite], swiftSettings: settings),
        .target(
            name: "PostgresStore", dependencies: ["SessionStore", "EventLoop", "WebFormats", "CPostgres"],
            swiftSettings: settings),

        // The languages of the product's pages.
        .target(
            name: "Languages", dependencies: ["HTTPWire", "WebFormats", httpTypes, crypto], swiftSettings: settings),

        // The product, each of these on those above it.
        .target(
            name: "CompanionCore",
            dependencies: [
                "HTTPServer", "HTTPWire", "HTTPClient", "EventLoop", "OpenIDConnect", "SessionStore", "SQLiteStore",
                "PostgresStore", "Languages", "WebFormats", httpTypes, logging, crypto, yams,
            ],
            swiftSettings: settings),
        .target(
            name: "CompanionSignIn",
            dependencies: [
                "CompanionCore", "HTTPWire", "HTTPClient", "EventLoop", "Expiring", "OpenIDConnect", "SessionStore",
                "Languages", "WebFormats", httpTypes, logging, crypto,
            ],
            swiftSettings: settings),
        .target(
            name: "CompanionPages",
            dependencies: [
                "CompanionCore", "HTTPServer", "HTTPWire", "Languages", "OpenIDConnect", "WebFormats", httpTypes,
                crypto,
            ],
            swiftSettings: settings),
        .target(
            name: "Companion",
            dependencies: [
                "CompanionCore", "CompanionSignIn", "CompanionPages", "HTTPServer", "HTTPWire", "HTTPClient",
                "EventLoop", "CLinux", "Expiring", "Languages", "OpenIDConnect", "SessionStore", "SQLiteStore",
                "PostgresStore", "TLS",
                "WebFormats", httpTypes, logging, crypto,
            ],
            swiftSettings: settings),
        .target(
            name: "DemoTenant",
            dependencies: [
                "Expiring", "HTTPServer", "HTTPWire", "EventLoop", "Languages", "TLS", "WebFormats", httpTypes, crypto,
                cryptoExtras, logging,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "CompanionCommand",
            dependencies: [
                "Companion", "CompanionCore", "CompanionSignIn", "CompanionPages", "DemoTenant", "DevelopmentCA",
                "EventLoop", "HTTPClient", "HTTPServer", "HTTPWire", "OpenIDConnect", "SessionStore", "SQLiteStore",
                "PostgresStore", "TLS", "WebFormats", httpTypes, logging, crypto, cryptoExtras, asn1, x509, yams,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // What several test targets share.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "TLSClient", path: "Tests/TLSClient",
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .testTarget(name: "WebFormatsTests", dependencies: ["WebFormats"], swiftSettings: settings),
        .testTarget(name: "ExpiringTests", dependencies: ["Expiring"], swiftSettings: settings),
        .testTarget(
            name: "EventLoopTests", dependencies: ["EventLoop", "CLinux", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "HTTPWireTests", dependencies: ["HTTPWire", "WebFormats", "TestSupport"], exclude: ["Corpus"],
            swiftSettings: settings),
        .testTarget(name: "TLSTests", dependencies: ["TLS", "CTLS"], swiftSettings: settings),
        .testTarget(
            name: "DevelopmentCATests", dependencies: ["DevelopmentCA", x509, asn1], swiftSettings: settings),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "HTTPServer", "HTTPWire", "TLS", "WebFormats", "EventLoop", "CLinux", "CBrotli", "CZlib", "TLSClient",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPClientTests", dependencies: ["HTTPClient", "EventLoop", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "OpenIDConnectTests", dependencies: ["OpenIDConnect", "WebFormats", crypto, cryptoExtras, asn1],
            swiftSettings: settings),
        // Stores for tests: a fixture, and the backend in memory.
        .target(
            name: "StoreTesting", dependencies: ["SessionStore", "SQLiteStore", "PostgresStore", "EventLoop", grdb],
            path: "Tests/StoreTesting", swiftSettings: settings),
        .testTarget(
            name: "SessionStoreTests", dependencies: ["SessionStore", "StoreTesting", "WebFormats"],
            swiftSettings: settings),
        .testTarget(
            name: "SQLiteStoreTests",
            dependencies: ["SQLiteStore", "SessionStore", "StoreTesting", "WebFormats", grdb],
            swiftSettings: settings),
        .testTarget(
            name: "PostgresStoreTests", dependencies: ["PostgresStore", "SessionStore", "StoreTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "StoreConformance", dependencies: ["SessionStore", "StoreTesting", "TestSupport"],
            path: "Tests/StoreConformance",
            swiftSettings: settings),
        .testTarget(
            name: "DemoTenantTests",
            dependencies: [
                "DemoTenant", "HTTPClient", "EventLoop", "HTTPWire", "Languages", "WebFormats", crypto, cryptoExtras,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CompanionTests",
            dependencies: [
                "Companion", "CompanionCore", "CompanionSignIn", "CompanionPages", "DemoTenant", "HTTPClient",
                "HTTPServer", "EventLoop", "HTTPWire", "Languages", "OpenIDConnect", "SessionStore", "SQLiteStore",
                "PostgresStore",
                "StoreTesting", "TLS", "WebFormats", "TestSupport", crypto,
                cryptoExtras,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CompanionCommandTests",
            dependencies: ["CompanionCommand", "CompanionCore", "DemoTenant", "DevelopmentCA", "WebFormats"],
            swiftSettings: settings),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "WebFormats", "HTTPWire", "Languages", "OpenIDConnect", "Companion", "CompanionCore", "CompanionSignIn",
                "DemoTenant", "HTTPServer",
                "TestSupport", httpTypes,
            ],
            path: "Tests/Fuzz", exclude: ["Corpus", "Driver", "README.md", "run"],
            swiftSettings: settings),
        // What Tests/Costs/run counts the instructions of. Empty in a release build.
        .executableTarget(
            name: "Costs",
            dependencies: [
                "Companion", "CompanionCore", "CompanionSignIn", "HTTPServer", "HTTPWire", "Languages", "OpenIDConnect",
                "SessionStore", "WebFormats", httpTypes,
            ],
            path: "Tests/Costs/Functions", swiftSettings: settings),
        // What Tests/Benchmarks/run measures the store with.
        .executableTarget(
            name: "StoreBenchmark",
            dependencies: ["EventLoop", "PostgresStore", "SessionStore", "SQLiteStore", sqlite],
            path: "Tests/Benchmarks/Store", swiftSettings: settings),
    ]
)

if Context.environment["COMPANION_TARGETS"] == "threads" {
    let tested = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var needed: Set<String> = []
    func need(_ name: String) {
        guard let target = tested[name], needed.insert(name).inserted else { return }
        for case .byNameItem(let below, _) in target.dependencies { need(below) }
    }
    threadTests.forEach(need)
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}
