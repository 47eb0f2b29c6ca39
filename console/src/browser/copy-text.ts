/**
 * Copies a text to the clipboard; false: the browser did not allow it. A page opened over http from another machine has no
 * `navigator.clipboard`, but may still copy a selection. `near`: the element in which the text is inserted meanwhile, because a dialog
 * keeps the focus inside.
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
