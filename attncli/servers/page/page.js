// Keys go to the app without a click first.
function focusTerminal() {
  const keyboard = document.querySelector(".xterm-helper-textarea");
  if (keyboard) keyboard.focus();
}
window.addEventListener("load", focusTerminal);
window.addEventListener("focus", focusTerminal);
