import Foundation

/// The function that libFuzzer calls for each input. The target is named by the environment's `FUZZ_TARGET`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzerTestOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let done = DispatchSemaphore(value: 0)
    // Most targets never suspend, and have ended here.
    Task.immediate {
        do {
            try await chosen.check(input)
        } catch {
            FileHandle.standardError.write(Data("\(chosen.name): \(error)\n".utf8))
            abort()
        }
        done.signal()
    }
    done.wait()
    return 0
}

private let chosen: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"]
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        print("FUZZ_TARGET is none of:", FuzzTarget.all.map(\.name).joined(separator: " "))
        exit(2)
    }
    return target
}()
