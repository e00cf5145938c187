// How pages make elements: their text is text, never markup.

/** An element with a class and content. */
export function element(name, className = "", ...content) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

const styles = {};

/** Loads a style that few people need, when it is first needed. */
export function loadStyle(href) {
  styles[href] ??= new Promise((resolve) => {
    document.head.append(Object.assign(element("link"), { rel: "stylesheet", href, onload: resolve, onerror: resolve }));
  });
  return styles[href];
}
