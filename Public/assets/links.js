// Links out: the tutorial's chapters, the samples, MSAL's guide to errors, Graph. They open in a tab of their own, and do not say from where.

import { element } from "./element.js";
import { t } from "./strings.js";

/** Microsoft Learn's names for our languages. */
const locales = { en: "en-us", ja: "ja-jp", "pt-BR": "pt-br", "pt-PT": "pt-pt", sv: "sv-se", "zh-Hans": "zh-cn" };

const samples = "https://github.com/Azure-Samples";
const pages = {
  ios: { chapter: "entra/identity-platform/tutorial-v2-ios", sample: `${samples}/ms-identity-mobile-apple-swift-objc` },
  macos: { chapter: "entra/identity-platform/tutorial-v2-ios", sample: `${samples}/ms-identity-macOS-swift-objc` },
  external: { chapter: "entra/identity-platform/tutorial-mobile-app-ios-swift-sign-in?pivots=external", sample: `${samples}/ms-identity-ciam-browser-delegated-ios-sample` },
  b2c: { chapter: "azure/active-directory-b2c/configure-authentication-sample-ios-app", sample: `${samples}/active-directory-b2c-ios-swift-native-msal` },
};

function out(label, address) {
  return Object.assign(element("a", "out", label), { href: address, target: "_blank", rel: "noopener noreferrer", referrerPolicy: "no-referrer" });
}

/** The links of a tutorial's page in a language: its `chapter`, and `more`. */
export function documentation(page, language) {
  const learn = (path) => `https://learn.microsoft.com/${locales[language] ?? "en-us"}/${path}`;
  const { chapter, sample } = pages[page];
  const graph = page === "external" || page === "b2c" ? [] : [out(t("code.graph"), learn("graph/api/user-get"))];
  return {
    chapter: out(t("code.chapter"), learn(chapter)),
    more: [out(t("code.sample"), sample), out(t("code.errors"), learn("entra/msal/objc/error-handling-ios")), ...graph],
  };
}
