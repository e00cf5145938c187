/// A value of an answer that is written as `null` where there is none, because the contract has the key there always.
@propertyWrapper
struct OrNull<Value: Encodable>: Encodable {
    let wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}
