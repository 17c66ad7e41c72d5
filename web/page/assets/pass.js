// Takes on what was chosen at once; without this script, a person presses the button.
document.querySelector('[data-pass]').submit()
