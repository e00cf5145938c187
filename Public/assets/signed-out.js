// Whether the provider confirmed the sign-out: it brings back the state that this tab sent with it.

import { t } from "./strings.js";

const expected = sessionStorage.getItem("sign-out");
const answer = new URLSearchParams(location.search).get("state");
sessionStorage.removeItem("sign-out");
if (location.search) history.replaceState(null, "", location.pathname);
if (expected && answer === expected) document.getElementById("provider").textContent = t("signed_out.confirmed");
