// The platform's numbers and Microsoft Graph's codes, each with the cause that explains it; the table is data/aadsts.json.
//
// Sources: reference-error-codes.md of MicrosoftDocs/entra-docs, error-codes.md of Azure AD B2C, concepts/errors.md of Microsoft Graph's
// documentation, and EntraID-ErrorCodes of f-bader. The names are Microsoft's.

import { loadJSON, loadTexts, t } from "./page.js";

const { who, numbers: rows } = await loadJSON(new URL("../../data/aadsts.json", import.meta.url));
const table = new Map(rows.map((row) => [row.number, row]));

/** The row of a number, { number, name, cause }; undefined for one that the table lacks. */
export const platformNumber = (number) => table.get(number);

/** The person who can fix a cause, user or administrator; undefined for those who configure or write the app. */
export const personFor = (cause) => who[cause];

/** The number in its full form, of digits that stand without the prefix; undefined where they are in neither of the tables. */
export const fullNumber = (digits) => ["AADSTS", "AADB2C"].map((prefix) => prefix + digits).find((each) => table.has(each));

/**
 * The explanation of a number, of digits that stand without the prefix, as the server has it in a problem; undefined where it is in
 * neither of the tables.
 */
export async function explanationOf(digits) {
  const number = fullNumber(digits);
  if (!number) return undefined;
  await Promise.all([loadTexts("platform"), loadTexts("explain")]);
  const { cause } = platformNumber(number);
  return {
    number,
    cause: t(`platform.${number}.cause`) || t(`explain.cause.${cause}`),
    // The error of a redirect URI stays on the provider's page, where who develops an app meets it: the operator's command is no help.
    ...(cause === "unregistered" ? { who: "developer", remedy: t(`explain.remedy.${cause}`) } : {
      who: personFor(cause) ?? "operator",
      remedy: t(`platform.${number}.remedy`) || t(`platform.${cause}.remedy`) || t(`explain.remedy.${cause}`),
    }),
  };
}

/** Microsoft's page about a number or code. */
export function pageOf(number) {
  if (number.startsWith("AADSTS")) return `https://login.microsoftonline.com/error?code=${number.slice("AADSTS".length)}`;
  return number.startsWith("AADB2C")
    ? "https://learn.microsoft.com/azure/active-directory-b2c/error-codes"
    : "https://learn.microsoft.com/graph/errors";
}

/** Graph's codes; those that are ordinary words count only where they are a code. */
export const graphCodes = rows.filter(({ number }) => !/^AAD(?:STS|B2C)\d/.test(number)).map(({ number }) => number);
