/** Lets the browser store it under a name. */
export function saveAs(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser takes the content up after this turn; the address must live until then.
  setTimeout(() => URL.revokeObjectURL(url), releaseMs);
}

const releaseMs = 60_000;
