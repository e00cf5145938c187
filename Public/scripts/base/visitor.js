// Before anything is painted: at a kiosk, this page is for the person who stands there.

import { ofTab } from "./page.js";

if (ofTab.get("kiosk:visit")) document.documentElement.classList.add("visitor");
