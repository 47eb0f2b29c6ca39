/** Types of files by the ending of their name, where vendors treat them in their own way. */
const types: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  log: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  html: "text/html",
  htm: "text/html",
  xml: "application/xml",
  json: "application/json",
  jsonl: "application/jsonl",
  yaml: "application/yaml",
  yml: "application/yaml",
  js: "text/javascript",
  py: "text/x-python",
  ts: "text/x-typescript",
  css: "text/css",
  rtf: "application/rtf",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  heic: "image/heic",
  heif: "image/heif",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  m4a: "audio/mp4",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
  zip: "application/zip",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};

const typePattern = /^[a-z]{1,32}\/[a-z0-9.+-]{1,96}$/;
const unknownType = "application/octet-stream";

/** The declared type without parameters, else one by the name. Clients declare `application/octet-stream` for what they do not know. */
export function mediaTypeOf(filename: string, declared: string | null): string {
  const plain = declared?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (typePattern.test(plain) && plain !== unknownType) return plain;
  const ending = /\.([A-Za-z0-9]{1,8})$/.exec(filename)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(types, ending) ? (types[ending] ?? unknownType) : unknownType;
}
