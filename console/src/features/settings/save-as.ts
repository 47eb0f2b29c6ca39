/** Downloads content as a file with this name. */
export function saveAs(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the content after this turn of the event loop, so the URL must stay valid until then.
  setTimeout(() => URL.revokeObjectURL(url), releaseMs);
}

const releaseMs = 60_000;
