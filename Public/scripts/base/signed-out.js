// Whether the provider confirmed the sign-out: it brings back the state that this tab sent with it.

import { takeSignOut } from "./api.js";
import { t } from "./page.js";

const provider = document.getElementById("provider");
const isVisitor = document.documentElement.classList.contains("visitor");

if (takeSignOut()) {
  provider.textContent = isVisitor ? "" : t("signed_out.confirmed");
  document.getElementById("gone-provider").hidden = false;
} else if (isVisitor) {
  provider.textContent = t("signed_out.visitor_unconfirmed");
}
