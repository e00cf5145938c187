import Testing

@testable import DemoTenant
