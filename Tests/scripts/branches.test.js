// The lines of a tutorial's program that a failure lights: those of the branch that ran, and of no other one.

import assert from "node:assert/strict";
import "./page.js";

const { loadProgram } = await import("../../Public/scripts/base/project.js");

const b2c = "https://fabrikamb2c.b2clogin.com/tfp/fabrikamb2c.onmicrosoft.com/b2c_1_susi";
const authorities = { external: "https://fabrikam.ciamlogin.com/", b2c };
const interactively = "self.acquireTokenInteractively(account: account";
const refused = "Couldn't get graph result: \\(String";
const unreached = "Couldn't get graph result: \\(error)";

for (
  const [page, step, lit, dark] of [
    ["ios", "silent", interactively, "Could not acquire token silently"],
    ["ios", "silent_failed", "Could not acquire token silently", interactively],
    ["ios", "api", "Result from Graph", unreached],
    ["ios", "api", "Result from Graph", refused],
    ["ios", "api", "Result from Graph", "Couldn't deserialize"],
    ["ios", "refused", refused, "Result from Graph"],
    ["ios", "refused", refused, unreached],
    ["ios", "unreached", unreached, "Result from Graph"],
    ["ios", "unreached", unreached, refused],
    ["ios", "unredeemed", "Could not acquire token: ", "self.accessToken ="],
    ["macos", "refused", refused, "Result from Graph"],
    ["external", "silent_failed", "Could not acquire token silently", interactively],
    ["external", "refused", "The API refused the request.", "Could not call the API"],
    ["external", "unreached", "Could not call the API", "The API refused the request."],
    ["b2c", "silent", "self.authorizeAgain(account: account)", "Could not acquire token: "],
    ["b2c", "silent_failed", "Could not acquire token: ", "self.authorizeAgain(account: account)"],
    ["b2c", "again", "func authorizeAgain(", "Could not acquire new token"],
    ["b2c", "renewed", "title = result.account", "Could not acquire new token"],
    ["b2c", "not_renewed", "Could not acquire new token", "Could not acquire token"],
    ["b2c", "unreached", "Could not call API", "API response: "],
    ["b2c", "edit_profile", "acquireToken(with: parameters)", "Could not edit profile"],
    ["b2c", "edited", "Successfully edited profile", "Could not edit profile"],
    ["b2c", "not_edited", "Could not edit profile", "Successfully edited profile"],
  ]
) {
  for (const completion of ["block", "async"]) {
    Deno.test(`${page}, ${completion}: ${step} lights “${lit}” and not “${dark}”`, async () => {
      const program = await loadProgram(page);
      const kind = authorities[page] ? page : "workforce";
      const lines = program({
        kind,
        authority: authorities[page] ?? "https://login.microsoftonline.com/common",
        scopes: ["user.read"],
        completion,
      })
        .filter(({ steps }) => steps.includes(step)).map(({ text }) => text).join("\n");
      assert.ok(lines.includes(lit) && !lines.includes(dark), lines);
    });
  }
}
