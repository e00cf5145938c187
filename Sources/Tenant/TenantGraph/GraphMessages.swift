import Foundation
import TenantDirectory
import WebFormats

extension GraphCall {
    /// `GET /me/messages`, the newest first.
    func messages(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        let context = "users('\(account.graphID(in: tenantID))')/messages"
        return .list(context, of: [.message], try mailbox(of: account), .mail)
    }

    /// `GET /me/messages/{id}`
    func message(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        let id = keys.last ?? ""
        guard let message = try mailbox(of: account).first(where: { $0.members["id"]?.string == id }) else {
            throw id.hasPrefix(DemoMessage.idPrefix)
                ? GraphError(
                    status: .notFound, code: "ErrorItemNotFound",
                    message: "The specified object was not found in the store.")
                : GraphError(status: .badRequest, code: "ErrorInvalidIdMalformed", message: "Id is malformed.")
        }
        return .object(message, of: "users('\(account.graphID(in: tenantID))')/messages")
    }

    /// Returns the messages of a person, who has a mailbox at home only, and none as a customer.
    private func mailbox(of account: DemoAccount) throws(GraphError) -> [GraphEntity] {
        guard account.tenantID == tenantID, account.kind == .work || account.kind == .personal else {
            throw GraphError(
                status: .notFound, code: "MailboxNotEnabledForRESTAPI",
                message: "The mailbox is either inactive, soft-deleted, or is hosted on-premise.")
        }
        let domain = Tenant.domain(ofID: tenantID) ?? Tenant.contosoDomain
        return DemoMessage.all.enumerated().map { index, message in
            message.graphEntity(number: index, to: account, domain: domain)
        }
    }
}

/// A message that everyone has received.
struct DemoMessage: Sendable {
    fileprivate static let idPrefix = "AAMkADemo"
    /// The time of the newest message.
    private static let newest = Date(timeIntervalSince1970: 1_790_755_200)

    let subject: String
    /// The sender's name. The address is made from it.
    let sender: String
    /// The time before the newest message.
    let hoursBefore: Int
    let text: String
    var isRead = true
    var importance = "normal"

    fileprivate func graphEntity(number: Int, to account: DemoAccount, domain: String) -> GraphEntity {
        let own = nameBasedID("message", "\(account.objectID) \(number)")
        let id = Self.idPrefix + Base64URL.encode(own.utf8)
        let time = Self.newest.addingTimeInterval(Double(-3600 * hoursBefore))
        let (received, sent) = (time.formatted(.iso8601), time.addingTimeInterval(-3).formatted(.iso8601))
        let from = Self.recipient(
            sender, "\(sender.lowercased().replacing(" ", with: "."))@\(domain)")
        return GraphEntity(
            type: .message,
            members: [
                "@odata.etag": .string("W/\"\(own.prefix(8))\""), "id": .string(id),
                "createdDateTime": .string(received), "lastModifiedDateTime": .string(received),
                "changeKey": .string(String(own.prefix(8))), "receivedDateTime": .string(received),
                "sentDateTime": .string(sent), "hasAttachments": false,
                "internetMessageId": .string("<\(own)@\(domain)>"), "subject": .string(subject),
                "bodyPreview": .string(text), "importance": .string(importance),
                "parentFolderId": .string("AAMkADemoInbox"), "conversationId": .string("AAQkADemo\(number)"),
                "conversationIndex": .string("AQHbDemo\(number)"), "isDeliveryReceiptRequested": .null,
                "isReadReceiptRequested": false, "isRead": .bool(isRead), "isDraft": false,
                "webLink": .string(
                    "https://outlook.office365.com/owa/?ItemID=\(id)&exvsurl=1&viewmodel=ReadMessageItem"),
                "inferenceClassification": importance == "low" ? "other" : "focused",
                "body": ["contentType": "text", "content": .string(text)], "sender": from, "from": from,
                "toRecipients": [Self.recipient(account.displayName, account.username)],
                "flag": ["flagStatus": "notFlagged"],
            ])
    }

    private static func recipient(_ name: String, _ address: String) -> JSONValue {
        ["emailAddress": ["name": .string(name), "address": .string(address)]]
    }

    fileprivate static let all: [DemoMessage] = [
        DemoMessage(
            subject: "Agenda for Thursday", sender: "Ines Almeida", hoursBefore: 0,
            text: "Here is the agenda. Please add your topics by Wednesday evening.", isRead: false),
        DemoMessage(
            subject: "Your password expires in 14 days", sender: "IT Service Desk", hoursBefore: 3,
            text: "Change it at any company computer. You do not have to visit us.", isRead: false,
            importance: "high"),
        DemoMessage(
            subject: "Re: Store opening in Lund", sender: "Erik Lindqvist", hoursBefore: 20,
            text: "The shelves arrive on Monday. Can we move the photo session to Tuesday?", isRead: false),
        DemoMessage(
            subject: "Lunch menu for this week", sender: "Canteen", hoursBefore: 25,
            text: "Monday: lentil soup. Tuesday: grilled fish. Wednesday: vegetable curry.", importance: "low"),
        DemoMessage(
            subject: "Expense report approved", sender: "Accounting", hoursBefore: 29,
            text: "Your report of 212.40 has been approved and will be paid with your next salary."),
        DemoMessage(
            subject: "Q3 figures", sender: "Naoko Hayashi", hoursBefore: 47,
            text: "Revenue is 4 % above plan. The details are in the shared folder.", importance: "high"),
        DemoMessage(
            subject: "Photos from the summer party", sender: "Paulo Teixeira", hoursBefore: 72,
            text: "I have put them in the gallery. Tell me if you do not want to be in one of them."),
        DemoMessage(
            subject: "Meeting room 4 is closed", sender: "Facilities", hoursBefore: 77,
            text: "The projector is being replaced. Please use room 6 until Friday.", importance: "low"),
        DemoMessage(
            subject: "Welcome to the new intranet", sender: "Internal Communications", hoursBefore: 101,
            text: "Your bookmarks still work. The search now finds documents, too."),
        DemoMessage(
            subject: "Re: Draft of the spring catalogue", sender: "Mei Lin", hoursBefore: 124,
            text: "Pages 12 to 15 are ready. I need the prices for page 16."),
        DemoMessage(
            subject: "Fire drill on the 29th", sender: "Facilities", hoursBefore: 149,
            text: "The alarm rings at 10:30. Please leave the building by the nearest stairs."),
        DemoMessage(
            subject: "Thank you for your help", sender: "Ines Almeida", hoursBefore: 170,
            text: "The customer was very happy with the quick answer."),
    ]
}
