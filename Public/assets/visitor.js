// Before anything is painted: at a kiosk, this page is for the person who stands there.

if (sessionStorage.getItem("kiosk:visit")) document.documentElement.classList.add("visitor");
