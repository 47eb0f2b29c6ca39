/** By file extension; the first extension of a type is its usual one. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["webp", "image/webp"],
  ["gif", "image/gif"],
  ["heic", "image/heic"],
  ["heif", "image/heif"],
  ["pdf", "application/pdf"],
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["html", "text/html"],
  ["csv", "text/csv"],
  ["json", "application/json"],
  ["doc", "application/msword"],
  ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["xls", "application/vnd.ms-excel"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ["mp3", "audio/mpeg"],
  ["wav", "audio/wav"],
  ["ogg", "audio/ogg"],
  ["opus", "audio/opus"],
  ["flac", "audio/flac"],
  ["aac", "audio/aac"],
  ["m4a", "audio/mp4"],
  ["mp4", "video/mp4"],
  ["mov", "video/quicktime"],
  ["webm", "video/webm"],
  ["mpeg", "video/mpeg"],
  ["mpg", "video/mpeg"],
  ["mkv", "video/x-matroska"],
  ["flv", "video/x-flv"],
  ["wmv", "video/x-ms-wmv"],
  ["3gp", "video/3gpp"],
]);

const extensions: ReadonlyMap<string, string> = new Map([
  ...[...mediaTypes].reverse().map(([extension, type]) => [type, extension] as const),
  ["image/jpg", "jpeg"],
  ["audio/wave", "wav"],
  ["audio/x-wav", "wav"],
]);

/** The media type of a file name or URL by its extension; null if that is unknown. */
export function mediaTypeOf(name: string): string | null {
  const path = name.split(/[?#]/, 1)[0] ?? "";
  return mediaTypes.get(path.slice(path.lastIndexOf(".") + 1).toLowerCase()) ?? null;
}

/** The usual extension, else a short subtype; null if the type is none. */
export function extensionOf(mediaType: string): string | null {
  const type = mediaType.toLowerCase();
  return extensions.get(type) ?? /^\w+\/([a-z0-9]{1,32})$/.exec(type)?.[1] ?? null;
}
