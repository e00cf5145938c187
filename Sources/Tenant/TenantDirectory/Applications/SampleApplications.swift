/// Microsoft's sample applications for the tutorials, with the IDs and redirect URIs in their sources. They are known
/// from the start, so that a downloaded sample only needs another authority.
extension DemoClient {
    package static let samples: [DemoClient] = [
        DemoClient(
            id: "66855f8a-60cd-445e-a9bb-8cd8eadbd3fa", name: "MSALiOS",
            native: [redirectURI(ofBundle: "com.microsoft.identitysample.MSALiOS")]),
        DemoClient(
            id: "2a858956-70de-42b9-b5db-d566eb1fb820", name: "MSALMacOS",
            native: [redirectURI(ofBundle: "com.microsoft.identitysample.MSALMacOS")]),
        b2cSample, nativeSample,
    ]

    private static let b2cSample: DemoClient = {
        let id = "90c0fe63-bcf2-44d5-8fb7-b8bbc0b29dc6"
        var client = DemoClient(
            id: id, name: "MSALiOSB2C",
            native: [redirectURI(ofBundle: "com.microsoft.identitysample.MSALiOS"), "msal\(id)://auth"])
        client.exposes = ["https://fabrikamb2c.onmicrosoft.com/helloapi": ["demo.read"]]
        return client
    }()
}
