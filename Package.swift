// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: Swift 6 language mode (the tools version's default) and no warnings.
let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let package = Package(
    name: "companion",
    products: [
        .executable(name: "companion", targets: ["CompanionCommand"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(
            url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: [.defaults, "YAML"]),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // The system, each a thin layer of C.
        .target(name: "CLinux"),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),

        // From the kernel up to HTTP.
        .target(name: "EventLoop", dependencies: ["CLinux"], swiftSettings: settings),
        .target(name: "HTTPWire", dependencies: [httpTypes], swiftSettings: settings),
        .target(
            name: "HTTPServer", dependencies: ["EventLoop", "HTTPWire", "CLinux", httpTypes, crypto, logging],
            swiftSettings: settings),
        .target(name: "HTTPClient", dependencies: ["EventLoop", "CCurl", httpTypes], swiftSettings: settings),

        // What a relying party knows and keeps.
        .target(name: "Expiring", swiftSettings: settings),
        .target(
            name: "OpenIDConnect", dependencies: ["Expiring", httpTypes, jwtKit, crypto, cryptoExtras, x509],
            swiftSettings: settings),
        .target(name: "SessionStore", dependencies: [crypto], swiftSettings: settings),
        .target(name: "SQLiteStore", dependencies: ["SessionStore", grdb], swiftSettings: settings),

        // The product.
        .target(
            name: "Companion",
            dependencies: [
                "HTTPServer", "HTTPWire", "HTTPClient", "EventLoop", "Expiring", "OpenIDConnect", "SessionStore",
                "SQLiteStore", httpTypes, logging,
                crypto, .product(name: "Configuration", package: "swift-configuration"), yams,
            ],
            swiftSettings: settings),
        .target(
            name: "DemoTenant",
            dependencies: [
                "HTTPServer", "HTTPWire", "EventLoop", httpTypes, crypto, cryptoExtras, logging,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "CompanionCommand",
            dependencies: [
                "Companion", "DemoTenant", "EventLoop", "OpenIDConnect", "SessionStore", "SQLiteStore", logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        .testTarget(name: "ExpiringTests", dependencies: ["Expiring"], swiftSettings: settings),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "CLinux"], swiftSettings: settings),
        .testTarget(
            name: "HTTPWireTests", dependencies: ["HTTPWire"], exclude: ["Corpus"], swiftSettings: settings),
        .testTarget(
            name: "HTTPServerTests", dependencies: ["HTTPServer", "HTTPWire", "EventLoop", "CLinux"],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPClientTests", dependencies: ["HTTPClient", "EventLoop", "HTTPServer", "HTTPWire"],
            swiftSettings: settings),
        .testTarget(
            name: "OpenIDConnectTests", dependencies: ["OpenIDConnect", jwtKit, crypto, cryptoExtras, x509],
            swiftSettings: settings),
        // Stores for tests: a fixture, and the backend in memory.
        .target(
            name: "StoreTesting", dependencies: ["SessionStore", "SQLiteStore", grdb], path: "Tests/StoreTesting",
            swiftSettings: settings),
        .testTarget(
            name: "SessionStoreTests", dependencies: ["SessionStore", "StoreTesting"], swiftSettings: settings),
        .testTarget(
            name: "SQLiteStoreTests", dependencies: ["SQLiteStore", "SessionStore", "StoreTesting", grdb],
            swiftSettings: settings),
        .testTarget(
            name: "StoreConformance", dependencies: ["SessionStore", "StoreTesting"], path: "Tests/StoreConformance",
            swiftSettings: settings),
        .testTarget(
            name: "DemoTenantTests",
            dependencies: ["DemoTenant", "HTTPClient", "EventLoop", "HTTPWire", jwtKit, crypto, cryptoExtras],
            swiftSettings: settings),
        .testTarget(
            name: "CompanionTests",
            dependencies: [
                "Companion", "DemoTenant", "HTTPClient", "HTTPServer", "EventLoop", "HTTPWire", "OpenIDConnect",
                "SessionStore", "SQLiteStore", "StoreTesting", crypto, cryptoExtras,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FuzzTests", dependencies: ["HTTPWire", "OpenIDConnect", "Companion", "DemoTenant", httpTypes],
            path: "Tests/Fuzz", exclude: ["Corpus", "Driver", "README.md", "run"],
            swiftSettings: settings),
        // What Tests/Costs/run counts the instructions of. Empty in a release build.
        .executableTarget(
            name: "Costs",
            dependencies: [
                "Companion", "HTTPClient", "HTTPServer", "HTTPWire", "OpenIDConnect", "SessionStore", httpTypes,
            ],
            path: "Tests/Costs/Functions", swiftSettings: settings),
    ]
)
