export const assetTypes = ["Image", "Video", "Audio"] as const;

const byEnding: Readonly<Record<string, (typeof assetTypes)[number]>> = {
  mp4: "Video",
  mov: "Video",
  webm: "Video",
  wav: "Audio",
  mp3: "Audio",
  m4a: "Audio",
  flac: "Audio",
  ogg: "Audio",
};

/** What an address most likely leads to, by its ending; a picture where that says nothing. */
export function typeOfAddress(url: string): (typeof assetTypes)[number] {
  const path = URL.canParse(url) ? new URL(url).pathname : url;
  return byEnding[path.split(".").at(-1)?.toLowerCase() ?? ""] ?? "Image";
}
