/** Refused media types, by the accepted type for the same bytes. */
export const acceptedTypes: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["audio/wave", "audio/wav"],
  ["audio/x-wav", "audio/wav"],
  ...["json", "x-ndjson", "xml", "yaml", "x-yaml", "javascript", "x-sh"].map((type): [string, string] => [
    `application/${type}`,
    "text/plain",
  ]),
]);

export function isGeminiUrl(url: string): boolean {
  return googleUrl.test(url);
}

/** URLs that Gemini reads itself: Google's stores and YouTube. */
const googleUrl = /^(?:gs:\/\/|https:\/\/(?:generativelanguage\.googleapis\.com|(?:www\.)?youtube\.com|youtu\.be)\/)/;

/** URLs that only Google can read. */
export const googleFileUrl = /^(?:gs:\/\/|https:\/\/generativelanguage\.googleapis\.com\/)/;
