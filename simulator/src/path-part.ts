/** Decodes a part of a path. Returns it unchanged if its percent-encoding is invalid. */
export function pathPart(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    return text ?? "";
  }
}
