// Types for the check of the pages' scripts, beside the browser's own. An element that is found by its name is one of the page, which
// no script declares, and so is the one where an event began.

interface Document {
  getElementById(id: string): any;
}
interface ParentNode {
  querySelector(selectors: string): any;
  querySelectorAll(selectors: string): NodeListOf<any>;
}
interface EventTarget {
  closest?(selectors: string): any;
  hidden?: any;
  disabled?: any;
}
interface FormData {
  // No form of a page has a file.
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
interface DocumentEventMap {
  "companion-step": CustomEvent;
}
interface Navigator {
  readonly userAgentData?: { brands: { brand: string; version: string }[]; platform: string };
}
