addEventListener("load", () => location.replace(document.getElementById("continue").href));
