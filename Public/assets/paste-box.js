// The paste box before anything is pasted: what reads a paste is fetched when the box is first used.

const box = document.getElementById("paste");
const begin = () => import("./paste.js").then(({ read }) => read());

box.addEventListener("focus", begin, { once: true });
box.addEventListener("input", begin);
// Some browsers put back into it the text of a page that is gone.
box.value = "";
