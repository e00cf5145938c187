// The pages with one message (signed out, errors): only the demo note is live.

import { get } from "./api.js";
import { showDemoNote } from "./demo.js";

const device = await get("/api/device").catch(() => null);
if (device?.demo) showDemoNote();
