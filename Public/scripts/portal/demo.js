// The note that says that this is a demo.

/** Names the account that can sign in to an application of this kind. */
export function showDemoAccount(kind) {
  const account = document.getElementById("demo-account");
  if (account) account.textContent = account.dataset[kind] ?? account.dataset.usual;
}
