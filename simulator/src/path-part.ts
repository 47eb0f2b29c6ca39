/** A part of a path without its percent-encoding; as it is when that is broken. */
export function pathPart(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    return text ?? "";
  }
}
