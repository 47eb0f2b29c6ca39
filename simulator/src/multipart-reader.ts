import { bounds } from "./bounds.ts";
import type { Upload, UploadPart } from "./request.ts";

/** The boundary of a multipart/form-data content type, or null for any other type or if it is missing. */
export function multipartBoundary(contentType: string | undefined): string | null {
  if (contentType === undefined || !/^multipart\/form-data\b/i.test(contentType)) return null;
  const found = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  return found?.[1] ?? found?.[2] ?? null;
}

/**
 * Reads multipart/form-data (RFC 7578) from pieces of any size as they arrive. Holds only a part's headers, the value of
 * a small text part, and otherwise no more than the length of the boundary line.
 */
export class MultipartReader {
  readonly #delimiter: Buffer;
  readonly #whole = new Bun.CryptoHasher("sha256");
  readonly #parts: UploadPart[] = [];
  /** Starts with a line end, because the first boundary has none before it. */
  #rest: Buffer = Buffer.from("\r\n");
  #state: "content" | "boundary" | "head" | "finished" = "content";
  #part: OpenPart | null = null;
  #bytes = 0;
  #broken: string | null = null;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  feed(bytes: Uint8Array): void {
    this.#whole.update(bytes);
    this.#bytes += bytes.length;
    if (this.#state === "finished") return;
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#step());
  }

  finish(): Upload {
    const broken = this.#broken ?? (this.#state === "finished" ? null : "the closing boundary is missing");
    return { bytes: this.#bytes, sha256: this.#whole.digest("hex"), parts: this.#parts, broken };
  }

  /** Returns false if more bytes are needed. */
  #step(): boolean {
    if (this.#state === "content") return this.#readContent();
    if (this.#state === "boundary") return this.#readBoundary();
    return this.#state === "head" && this.#readHead();
  }

  #readContent(): boolean {
    const at = this.#rest.indexOf(this.#delimiter);
    const ready = at < 0 ? Math.max(0, this.#rest.length - this.#delimiter.length + 1) : at;
    this.#part?.add(this.#rest.subarray(0, ready));
    if (at < 0) {
      this.#rest = this.#rest.subarray(ready);
      return false;
    }
    if (this.#part !== null) this.#parts.push(this.#part.close());
    this.#part = null;
    this.#rest = this.#rest.subarray(at + this.#delimiter.length);
    this.#state = "boundary";
    return true;
  }

  #readBoundary(): boolean {
    if (this.#rest.length < 2) return false;
    const ending = this.#rest.toString("latin1", 0, 2);
    if (ending === "--") return this.#stop(null);
    if (ending !== "\r\n") return this.#stop("a boundary line has no line end");
    // The line end stays in place, so that a part without headers ends its headers at once.
    this.#state = "head";
    return true;
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf("\r\n\r\n");
    if (end < 0)
      return this.#rest.length > bounds.partHeadBytesMax ? this.#stop("a part's headers are too long") : false;
    if (this.#parts.length >= bounds.partsMax) return this.#stop("there are too many parts");
    const head = this.#rest.toString("utf8", 0, end);
    const name = dispositionField(head, "name");
    if (name === null) return this.#stop("a part has no name");
    const type = /^content-type:\s*(.+?)\s*$/im.exec(head)?.[1] ?? null;
    this.#part = new OpenPart(name, dispositionField(head, "filename"), type);
    this.#rest = this.#rest.subarray(end + 4);
    this.#state = "content";
    return true;
  }

  #stop(broken: string | null): false {
    this.#broken = broken;
    this.#state = "finished";
    this.#rest = Buffer.alloc(0);
    return false;
  }
}

class OpenPart {
  readonly #name: string;
  readonly #filename: string | null;
  readonly #type: string | null;
  readonly #hash = new Bun.CryptoHasher("sha256");
  #size = 0;
  #value: Uint8Array[] | null;

  constructor(name: string, filename: string | null, type: string | null) {
    this.#name = name;
    this.#filename = filename;
    this.#type = type;
    this.#value = filename === null ? [] : null;
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#hash.update(bytes);
    this.#size += bytes.length;
    if (this.#size > bounds.partValueBytesMax) this.#value = null;
    else this.#value?.push(bytes);
  }

  close(): UploadPart {
    return {
      name: this.#name,
      filename: this.#filename,
      content_type: this.#type,
      size: this.#size,
      sha256: this.#hash.digest("hex"),
      ...(this.#value === null ? {} : { value: Buffer.concat(this.#value).toString("utf8") }),
    };
  }
}

/** A field of Content-Disposition as browsers and clients write it (WHATWG: only `"` and line ends are escaped). */
function dispositionField(head: string, field: string): string | null {
  const line = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? "";
  const quoted = new RegExp(`;\\s*${field}="((?:\\\\.|[^"\\\\])*)"`, "i").exec(line)?.[1];
  const bare = quoted ?? new RegExp(`;\\s*${field}=([^;"\\s]+)`, "i").exec(line)?.[1];
  return bare === undefined ? null : bare.replaceAll("%22", '"').replaceAll('\\"', '"');
}
