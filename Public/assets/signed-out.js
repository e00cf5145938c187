// Whether the provider confirmed the sign-out: it brings back the state that this tab sent with it.

import { takeSignOut } from "./return-trip.js";
import { t } from "./strings.js";

if (takeSignOut()) document.getElementById("provider").textContent = t("signed_out.confirmed");
