import Testing

@testable import HTTPWire
