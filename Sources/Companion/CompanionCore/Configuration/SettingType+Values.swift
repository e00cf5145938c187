import Foundation
import Languages
import OpenIDConnect
import PostgresStore
import SessionStore
import TLS

// Types of settings that are specific to the companion.

extension SettingType where Value == ListenAddress {
    /// An address with its port.
    ///
    /// - Parameter example: an example for the error message.
    static func address(example: String) -> SettingType {
        one("address:port") { text throws(WrongValue) in
            guard let address = ListenAddress(text) else {
                throw WrongValue("must be an address and a port, such as \(example)")
            }
            return address
        }
    }
}

extension SettingType where Value == PublicURL {
    /// An origin and, if the host also serves something else, a path.
    static var publicURL: SettingType {
        one("URL", text: \.address) { text throws(WrongValue) in
            do throws(PublicURL.Mistake) {
                return try PublicURL(text)
            } catch {
                throw WrongValue(error.reason)
            }
        }
    }
}

extension SettingType where Value == String {
    /// A file, or the address of a PostgreSQL database.
    static var database: SettingType {
        one("file, or postgresql:// address") { text throws(WrongValue) in
            guard PostgresSettings.isMeant(by: text) else { return text }
            guard let settings = try? PostgresSettings(text) else {
                throw WrongValue(
                    "must be a file, or an address such as postgresql://user@host:5432/database?sslmode=verify-full, without \(PostgresSettings.refused.joined(separator: ", "))"
                )
            }
            guard !settings.hasPassword else {
                throw WrongValue(
                    "must not contain the password; set COMPANION_DATABASE_PASSWORD, or database_password_file")
            }
            return text
        }
    }

    /// A file of certificate authorities. It is read here to find mistakes; the HTTP client reads it for each connection.
    static var certificateAuthorities: SettingType {
        one("PEM file", form: .path) { path throws(WrongValue) in
            guard let data = FileManager.default.contents(atPath: path) else {
                throw WrongValue("names \(path), which cannot be read; check the path and its permissions")
            }
            let begin = "-----BEGIN CERTIFICATE-----"
            let certificates = String(decoding: data, as: UTF8.self).components(separatedBy: begin).dropFirst()
            guard !certificates.isEmpty else {
                throw WrongValue("names \(path), which has no certificate in PEM; each begins with \(begin)")
            }
            for (number, rest) in zip(1..., certificates) {
                do throws(TLSError) {
                    _ = try CertificateFacts(chain: Array((begin + rest).utf8), host: "")
                } catch {
                    throw WrongValue("names \(path), whose certificate \(number) cannot be read: \(error)")
                }
            }
            return path
        }
    }

    /// The folder of the pages.
    static var pages: SettingType {
        one("folder") { path throws(WrongValue) in
            guard FileManager.default.isReadableFile(atPath: "\(path)/languages/\(Languages.sourceTag).json") else {
                throw WrongValue(
                    "names \(path), which has no pages; name the folder Public of this version, such as /usr/share/companion/Public"
                )
            }
            return path
        }
    }

    /// Encryption keys, in the form of `companion.key`.
    static var encryptionKey: SettingType {
        one("text, in the environment only", form: .secret) { text throws(WrongValue) in
            guard (try? KeyRing(text: text)) != nil else {
                throw WrongValue(
                    "must be the base64 of 32 bytes, as `openssl rand -base64 32` prints; after a rotation NEW,OLD")
            }
            return text
        }
    }
}

extension SettingType where Value == Endpoint {
    /// A URL to which an access token may be sent.
    static var outboundURL: SettingType {
        one("URL") { text throws(WrongValue) in
            guard let url = Endpoint(text), url.isTrustworthy else {
                throw WrongValue("must be an https:// URL (http:// only for localhost)")
            }
            return url
        }
    }
}

extension SettingType where Value == KioskColor {
    /// A colour with enough contrast to white text.
    static var kioskColor: SettingType {
        one("#rrggbb", text: \.text) { text throws(WrongValue) in
            guard let color = KioskColor(text) else {
                throw WrongValue("must be a colour such as \"#0040dd\", not “\(text)”")
            }
            guard color.contrast >= KioskColor.leastContrast else {
                let contrast = (color.contrast * 10).rounded(.down) / 10
                throw WrongValue(
                    "has a contrast of \(contrast):1 to white; choose a darker colour with at least "
                        + "\(KioskColor.leastContrast):1 (WCAG 2.2, 1.4.3)")
            }
            return color
        }
    }
}

extension SettingType where Value == KioskLogo {
    /// A PNG.
    static var kioskLogo: SettingType {
        one("PNG file", form: .path, text: \.path) { path throws(WrongValue) in try KioskLogo(path: path) }
    }
}

extension SettingType where Value == [AddressRange] {
    /// IP addresses and networks.
    static var networks: SettingType {
        list("list of addresses and networks (CIDR)") { text throws(WrongValue) in
            guard let range = AddressRange(text) else { throw WrongValue(", which is not an address or CIDR network") }
            return range
        }
    }
}

extension SettingType where Value == [String] {
    /// A list of texts without commas or spaces.
    ///
    /// - Parameter item: the kind of the items, for people.
    static func texts(_ item: String) -> SettingType { list("list of \(item)") { $0 } }

    /// Hosts that a kiosk's browser may visit.
    static var kioskHosts: SettingType {
        list("list of hosts") { text throws(WrongValue) in
            guard isHost(text) else {
                throw WrongValue("; write only a host, such as adfs.contoso.com, or *.contoso.com for all subdomains")
            }
            return text
        }
    }

    /// Whether a text is a host name, with or without a port, or `*.` and a name.
    private static func isHost(_ text: String) -> Bool {
        let isBelow = text.hasPrefix("*.")
        let parts = (isBelow ? text.dropFirst(2) : text[...]).split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, parts.count <= 2, name.utf8.count <= 253 else { return false }
        if parts.count == 2, !(UInt16(parts[1]).map { $0 > 0 } ?? false) { return false }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
        }
    }

    /// Tenant IDs. Unlike domain names, they never move to another tenant.
    static var tenants: SettingType {
        list("list of tenant IDs") { text throws(WrongValue) in
            guard UUID(uuidString: text) != nil else {
                throw WrongValue(
                    ", which is not a tenant ID; copy “Directory (tenant) ID” from that tenant's overview page")
            }
            return text
        }
    }

    /// Parameters of an authorization request that the companion does not set itself.
    static var extraQueryParameters: SettingType {
        list("list of names") { text throws(WrongValue) in
            // Earlier versions passed it on only if it was listed.
            if text == "acr_values" { return text }
            guard !AuthorizationRequest.ownParameters.contains(text), !SignInFields.own.contains(text) else {
                throw WrongValue(", which the companion sets by itself")
            }
            return text
        }
    }
}

extension SettingType where Value == Prompt? {
    /// Prompts that a person can see; nil is MSAL's "if necessary".
    static var prompt: SettingType {
        let choices = "if_necessary, select_account, login, consent, create"
        return one(choices, text: { $0?.rawValue ?? SignInFields.promptIfNecessary }) { text throws(WrongValue) in
            if text == SignInFields.promptIfNecessary { return nil }
            guard let prompt = Prompt(rawValue: text), prompt != Prompt.none else {
                throw WrongValue(text, noneOf: choices)
            }
            return prompt
        }
    }
}
