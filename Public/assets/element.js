// How pages make elements: their text is text, never markup.

/** An element with a class and content. */
export function element(name, className = "", ...content) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...content);
  return made;
}
