import Testing

@testable import OpenIDConnect
