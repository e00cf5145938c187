import Testing

@testable import Companion
