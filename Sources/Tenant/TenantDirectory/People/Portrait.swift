/// A person's profile photo: the name of its files in `tenant/photos` of the public folder.
package enum Portrait: String, Sendable, CaseIterable { case adele, alex, nevena, mira }
