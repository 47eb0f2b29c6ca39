import type { FormContent, FormField, FormFile } from "#ports/index.ts";
import type { PartHead } from "./multipart-head.ts";
import { MultipartScanner } from "./multipart-scanner.ts";

interface OpenPart {
  readonly head: PartHead;
  readonly isFile: boolean;
  /** Of a file: whole groups of three bytes, encoded as they came. Of a field: its bytes. */
  readonly encoded: string[];
  readonly raw: Uint8Array[];
  /** Of a file: the bytes that wait for a group to be full. */
  rest: Buffer;
  begin: Buffer;
}

/** A form as values: fields as text, files as base64. */
export function readFormContent(bytes: Uint8Array, boundary: string): FormContent {
  const reader = new FormContentReader(boundary);
  reader.push(bytes);
  return reader.end();
}

class FormContentReader {
  readonly #scanner: MultipartScanner;
  readonly #fields: FormField[] = [];
  readonly #files: FormFile[] = [];
  #part: OpenPart | null = null;

  constructor(boundary: string) {
    this.#scanner = new MultipartScanner(boundary);
  }

  push(chunk: Uint8Array): void {
    for (const event of this.#scanner.push(chunk)) {
      if (event.kind === "part-start") this.#part = openPart(event.head);
      else if (event.kind === "part-data" && this.#part !== null) add(this.#part, event.bytes);
      else if (event.kind === "part-end" && this.#part !== null) this.#close(this.#part);
    }
  }

  end(): FormContent {
    this.#scanner.end();
    return { fields: this.#fields, files: this.#files };
  }

  #close(part: OpenPart): void {
    const { name, filename, contentType } = part.head;
    if (!part.isFile) {
      this.#fields.push({ name, value: decoder.decode(Buffer.concat(part.raw)) });
      return;
    }
    const said = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? null;
    const mediaType = said === null || said === anyType ? imageTypeOf(part.begin) : said;
    part.encoded.push(part.rest.toString("base64"));
    this.#files.push({ name, filename, mediaType, data: part.encoded.join("") });
  }
}

const anyType = "application/octet-stream";
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const noBytes = Buffer.alloc(0);
/** Enough to tell the usual kinds of pictures apart. */
const beginBytes = 16;

/** Some clients send a picture without a file name; its type then shows what it is. */
function openPart(head: PartHead): OpenPart {
  const isFile = head.filename !== null || /^(?:image\/|application\/octet-stream)/i.test(head.contentType ?? "");
  return { head, isFile, encoded: [], raw: [], rest: noBytes, begin: noBytes };
}

function add(part: OpenPart, bytes: Uint8Array): void {
  if (!part.isFile) {
    part.raw.push(Buffer.from(bytes));
    return;
  }
  const all = Buffer.concat([part.rest, bytes]);
  if (part.begin.length < beginBytes) part.begin = Buffer.concat([part.begin, bytes.subarray(0, beginBytes)]);
  const whole = all.length - (all.length % 3);
  if (whole > 0) part.encoded.push(all.toString("base64", 0, whole));
  part.rest = Buffer.from(all.subarray(whole));
}

/** The media type of a picture by its first bytes (each format's own signature); null for others. */
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
