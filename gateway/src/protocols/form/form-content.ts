import type { FormContent, FormField, FormFile } from "#ports/index.ts";
import { MultipartScanner, type PartHead } from "./multipart-scanner.ts";

export function readFormContent(form: Uint8Array, boundary: string): FormContent {
  const fields: FormField[] = [];
  const files: FormFile[] = [];
  const scanner = new MultipartScanner(boundary);
  let head: PartHead | null = null;
  let pieces: Uint8Array[] = [];
  for (const event of scanner.push(form)) {
    if (event.kind === "part-start") {
      ({ head } = event);
      pieces = [];
    } else if (event.kind === "part-data") pieces.push(event.bytes);
    else if (event.kind === "part-end" && head !== null) {
      const bytes = Buffer.concat(pieces);
      if (isFile(head)) files.push(fileOf(head, bytes));
      else fields.push({ name: head.name, value: decoder.decode(bytes) });
    }
  }
  scanner.end();
  return { fields, files };
}

/** Some clients send a picture without a file name. */
function isFile({ filename, contentType }: PartHead): boolean {
  return filename !== null || /^(?:image\/|application\/octet-stream)/i.test(contentType ?? "");
}

function fileOf({ name, filename, contentType }: PartHead, bytes: Buffer): FormFile {
  const declaredType = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? null;
  const mediaType = declaredType === null || declaredType === anyType ? imageTypeOf(bytes) : declaredType;
  return { name, filename, mediaType, data: bytes.toString("base64") };
}

const anyType = "application/octet-stream";
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** The media type of a picture by its signature; null for others. */
function imageTypeOf(begin: Uint8Array): string | null {
  const text = Buffer.from(begin.buffer, begin.byteOffset, Math.min(begin.length, 16)).toString("latin1");
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return "image/webp";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  if (text.startsWith("BM")) return "image/bmp";
  if (text.slice(4, 8) === "ftyp" && /^(?:heic|heix|mif1|msf1)$/.test(text.slice(8, 12))) return "image/heic";
  return null;
}
