/**
 * Puts a text on the clipboard; false: the browser did not allow it. A page that came by http from another machine has no
 * `navigator.clipboard`, but may still copy what is selected in it. `near`: where the page may hold the text meanwhile; a
 * dialog keeps the focus inside itself.
 */
export async function copyText(text: string, near: Element): Promise<boolean> {
  const clipboard: Clipboard | undefined = navigator.clipboard;
  try {
    if (clipboard === undefined) return copySelected(text, near);
    await clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, near);
  }
}

function copySelected(text: string, near: Element): boolean {
  const box = document.createElement("textarea");
  box.value = text;
  box.readOnly = true;
  box.className = "unseen";
  const focused = document.activeElement;
  (near.parentElement ?? document.body).append(box);
  box.select();
  const copied = document.execCommand("copy");
  box.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return copied;
}
