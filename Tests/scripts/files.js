// Property lists as Xcode writes them, to paste and to compare.

export const BUNDLE = "com.contoso.tasks";
export const CLIENT = "00001111-aaaa-2222-bbbb-3333cccc4444";
export const HEAD =
  '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n';

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function lines(value, indent) {
  if (typeof value === "boolean") return [`${indent}<${value}/>`];
  if (typeof value === "string") return [`${indent}<string>${escaped(value)}</string>`];
  const tag = Array.isArray(value) ? "array" : "dict";
  const inner = Array.isArray(value)
    ? value.flatMap((each) => lines(each, `${indent}\t`))
    : Object.entries(value).flatMap(([name, each]) => [`${indent}\t<key>${escaped(name)}</key>`, ...lines(each, `${indent}\t`)]);
  return inner.length === 0 ? [`${indent}<${tag}/>`] : [`${indent}<${tag}>`, ...inner, `${indent}</${tag}>`];
}

export const plist = (value) => `${HEAD}${lines(value, "").join("\n")}\n</plist>`;
