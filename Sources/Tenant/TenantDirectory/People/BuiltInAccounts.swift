extension DemoAccount {
    /// The accounts that are there without a configuration.
    static let builtIn: [DemoAccount] = [
        DemoAccount(
            username: "adele@contoso.example", kind: .work, objectID: "87d349ed-44d7-43e1-9a83-5f2406dee5bd",
            givenName: "Adele", surname: "Vance", displayName: "Adele Vance", jobTitle: "Retail Manager",
            mobilePhone: "+1 425 555 0109", officeLocation: "18/2111", traits: [.administrator],
            guestObjectIDs: [Tenant.tailspin: "b0a6c1d4-5f1e-4d0b-8b57-2a9f6c3e7d18"],
            groups: ["Retail", "Newsletter", "User Administrator"], portrait: .adele,
            hint: "Work account, administrator, guest of tailspin.example"),
        DemoAccount(
            username: "megan@contoso.example", kind: .work, objectID: "48d31887-5fad-4d73-a9f5-3c356e68a038",
            givenName: "Megan", surname: "Bowen", displayName: "Megan Bowen", jobTitle: "Marketing Manager",
            mobilePhone: "+1 412 555 0109", officeLocation: "12/1110", groups: ["Marketing", "Newsletter"],
            hint: "Work account without a photo"),
        DemoAccount(
            username: "alex@outlook.example", kind: .personal, objectID: "00000000-0000-0000-6d1f-0a3b52c48e97",
            givenName: "Alex", surname: "Wilber", displayName: "Alex Wilber", portrait: .alex,
            hint: "Personal account"),
        DemoAccount(
            username: "nevena@contoso.example", kind: .work, objectID: "e46cc6c9-7d44-4b8c-9d1f-ca0d2ef3a0ff",
            givenName: "Nevena", surname: "Kirova", displayName: "Nevena Kirova", jobTitle: "Trainee",
            officeLocation: "20/2107", traits: [.needsAdminConsent], groups: ["Retail"], portrait: .nevena,
            hint: "Needs an administrator’s consent"),
        DemoAccount(
            username: "mfa@contoso.example", kind: .work, objectID: "c8913c86-ceea-4d39-b1ea-f63a5b675166",
            givenName: "Mira", surname: "Farooq", displayName: "Mira Farooq", jobTitle: "Security Analyst",
            mobilePhone: "+1 206 555 0105", officeLocation: "23/3101", traits: [.secondFactorOnSilentCall],
            groups: ["All Employees"], portrait: .mira, hint: "Second factor asked on the silent call"),
        DemoAccount(
            username: "blocked@contoso.example", kind: .work, objectID: "4782e723-f4f4-4af3-a76e-25e3bab0d896",
            givenName: "Bruno", surname: "Locke", displayName: "Bruno Locke", jobTitle: "Contractor",
            traits: [.blockedByPolicy], hint: "Blocked by policy"),
        DemoAccount(
            username: "customer@fabrikam.example", kind: .external, objectID: "6f0b2a7d-93c4-4e18-a5d6-0c8e7b41f295",
            givenName: "Casey", surname: "Jensen", displayName: "Casey Jensen", hint: "Customer, external tenant"),
        DemoAccount(
            username: "b2cuser@fabrikamb2c.example", kind: .b2c, objectID: "2d8e5c19-7a60-4b3f-9e71-d4f0a6b83c52",
            givenName: "Bianca", surname: "Pisani", displayName: "Bianca Pisani", hint: "Consumer, Azure AD B2C"),
    ]
}
