// The checks of a registration: their order, and the platform's number in a line of a log.

import assert from "node:assert/strict";
import { rawNumber, sorted } from "../../Public/scripts/portal/checks.js";

Deno.test("what is not good comes first, the worst of it at the top, and else in its order", () => {
  const severities = ["good", "unknown", "good", "mistake", "advice", "mistake"];
  const { open, good } = sorted(severities.map((severity, check) => ({ severity, check })));
  assert.deepEqual(open.map(({ check }) => check), [3, 5, 4, 1]);
  assert.deepEqual(good.map(({ check }) => check), [0, 2]);
});

for (
  const [detail, number] of [
    [
      "provider_rejected_client: The secret is not accepted. error=invalid_client AADSTS7000222 trace_id=a correlation_id=b",
      "AADSTS7000222",
    ],
    ["The provider does not accept it: provider_rejected_client: No. error=invalid_client AADSTS7000215 trace_id=a", "AADSTS7000215"],
    ["provider_refused: No. AADB2C90205 correlation_id=b", "AADB2C90205"],
    ["The application requires assignment, and its own service principal has none (AADSTS501051).", null],
    ["provider_unavailable: No answer. correlation_id=b", null],
    ["", null],
  ]
) Deno.test(`the number in “${detail}” is ${number}`, () => assert.equal(rawNumber(detail), number));
