/// The groups of handlers. ``Route/table`` says which handler serves which address.
struct Endpoints: Sendable {
    let signIn: SignInEndpoints
    let signOut: SignOutEndpoints
    let accounts: AccountEndpoints
    let tokens: TokenEndpoints
    let story: StoryEndpoints
    let portal: PortalEndpoints
    let server: ServerEndpoints
    let demo: DemoEndpoints
    let monitoring: MonitoringReport
}
