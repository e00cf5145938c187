// An explanation never contradicts the text that it stands under: no duration, time or name of its own, and no time that is another's.

import assert from "node:assert/strict";
import "./page.js";
import { findings } from "../../Public/scripts/base/error-text.js";

const read = (path) => JSON.parse(Deno.readTextFileSync(new URL(path, import.meta.url)));
const CORPUS = [...read("corpus.json"), ...read("threads.json").filter(({ text }) => text !== null)];

// MARK: The values in a text

/** Seconds of a unit, by its words in the languages of the pages. */
const units = [
  [1, "seconds?|segundos?|sekund(?:er)?|秒"],
  [60, "minutes?|minutos?|minut(?:er)?|分(?:鐘|钟)?"],
  [3600, "hours?|horas?|timm(?:e|ar)|時間|小时"],
  [86_400, "days?|dias?|dag(?:ar)?|日(?:間)?|天"],
  [604_800, "weeks?|semanas?|veck(?:a|or)|週間|周"],
];
const counted = new RegExp(`(?<![\\w.-])(\\d{1,6})[ -]?(?:${units.map(([, words]) => `(${words})`).join("|")})(?![A-Za-z])`, "gi");
const clocked = /(?<![\d:T])(?:(\d{1,4})\.)?(\d\d):(\d\d):(\d\d)(?![\d:.]*Z|\d)/g;
const dated = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/g;

/** Without the times of day, of which a duration would be read. */
const undated = (text) => text.replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d{4})?/g, "");

/** Durations in seconds, times, and the names of identifiers, tenants and policies. */
function values(text) {
  const made = (sign, all) => new Set([...all].map((each) => sign + each));
  const ofUnits = undated(text).matchAll(counted).map(([, count, ...named]) => count * units[named.findIndex(Boolean)][0]);
  const ofClock = undated(text).matchAll(clocked).map(([, days = 0, hours, minutes, seconds]) =>
    days * 86_400 + hours * 3600 + minutes * 60 + Number(seconds)
  );
  return {
    duration: made("", [...ofUnits, ...ofClock]),
    time: made("", (text.match(dated) ?? []).map((each) => each.replace("T", " "))),
    policy: made("", (text.match(/\bB2C_1A?_\w+/gi) ?? []).map((each) => each.toLowerCase())),
    tenant: made("", (text.match(/\b[\w-]+\.onmicrosoft\.com\b/gi) ?? []).map((each) => each.toLowerCase())),
    identifier: made("", (text.match(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi) ?? []).map((each) => each.toLowerCase())),
  };
}

/** The values of an answer that the text has otherwise. */
function contradictions(answer, text) {
  const own = values(text);
  return Object.entries(values(answer)).flatMap(([kind, all]) => (own[kind].size > 0 ? [...all.difference(own[kind])] : []));
}

for (
  const [answer, text, wanted] of [
    ["It was not used for 90 days.", "inactive for 12:00:00", ["7776000"]],
    ["It was not used for 90 days.", "inactive for 90.00:00:00", []],
    ["12時間使われていません。", "inactive for 12:00:00", []],
    ["24時間使われていません。", "inactive for 12:00:00", ["86400"]],
    ["Ingen har använt den på 12 timmar.", "inactive for 12:00:00", []],
    ["Wait 5 minutes.", "Wait 300 seconds.", []],
    ["Wait 5 minutes.", "Wait.", []],
    ["It failed at 2026-01-05 10:11:12.", "Timestamp: 2026-01-05T10:11:12Z", []],
    ["It failed at 2026-01-05 10:11:13.", "Timestamp: 2026-01-05T10:11:12Z", ["2026-01-05 10:11:13"]],
    ["Give B2C_1_in.", "Actual Value : B2C_1_IN and Expected Value : B2C_1_edit", []],
    ["Give B2C_1_out.", "Actual Value : B2C_1_IN", ["b2c_1_out"]],
    ["Ask contoso.onmicrosoft.com.", "in tailspin.onmicrosoft.com", ["contoso.onmicrosoft.com"]],
    ["AADSTS700082 of MSAL 2.13.0", "AADSTS70008 of 12:00:00", []],
  ]
) {
  Deno.test(`“${answer}” under “${text}” contradicts it with ${wanted.join(", ") || "nothing"}`, () =>
    assert.deepEqual(contradictions(answer, text), wanted));
}

// MARK: The answers

for (const tag of ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"]) {
  Deno.test(`no answer in ${tag} contradicts the text that it stands under`, () => {
    const { page } = read(`../../Public/languages/${tag}.json`);
    const sentences = ({ about, number }) =>
      [`platform.${number}.cause`, `platform.${number}.remedy`, `explain.cause.${about}`, `explain.remedy.${about}`].map((key) =>
        page[key]
      );
    for (const { text } of CORPUS) {
      const { causes, follows } = findings(text);
      for (const each of [...causes, ...follows]) {
        assert.deepEqual(contradictions(sentences(each).join("\n"), text), [], `${each.about} under ${text}`);
      }
    }
  });
}

const time = (text) => findings(text).facts.find(([name]) => name === "time")?.[1];

for (
  const text of [
    "AADSTS700082: The refresh token has expired due to inactivity. The token was issued on 2026-05-03T12:11:26.5799126Z and was inactive for 12:00:00.",
    "AADSTS50173: The grant was issued on '2026-05-03T12:11:26.0000000Z' and the TokensValidFrom date for this user is '2026-05-04T08:00:00.0000000Z'.",
    "AADSTS700082: Das Token wurde am 2026-05-03T12:11:26Z ausgestellt.",
    "AADSTS700082: トークンは 2026-05-03T12:11:26Z に発行されました。",
    "AADSTS700027: Found key 'Start=2026-05-03 12:11:26, End=2026-05-04 12:11:26'",
  ]
) {
  Deno.test(`no time of another event is the error's in ${text}`, () => {
    assert.equal(time(text), undefined);
    assert.equal(time(`${text} Timestamp: 2026-06-01 09:00:00Z`), "2026-06-01 09:00:00Z");
  });
}
for (
  const line of [
    "2026-06-01 09:00:00.123 Tasks[1:2] AADSTS50011",
    "a\n2026-06-01 09:00:00 AADSTS50011",
    "a\n> 2026-06-01 09:00:00 AADSTS50011",
    '{"level": "error", "message": "AADSTS50011", "time": "2026-06-01 09:00:00Z"}',
    "TID=1 MSAL [2026-06-01 09:00:00 - x] AADSTS50011",
  ]
) {
  Deno.test(`the time of a log's line is the error's: ${line}`, () => assert.match(time(line), /^2026-06-01 09:00:00/));
}
