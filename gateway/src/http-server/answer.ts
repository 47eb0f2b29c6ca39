import type { LiveBody } from "#core/index.ts";
import { FieldLines, type RequestHead } from "#http1/index.ts";

/** An answer, cheaper than the runtime's Response. */
export class ServerAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | ReadableStream<Uint8Array> | LiveBody | null;

  constructor(status: number, headers: Readonly<Record<string, string>>, body: ServerAnswer["body"]) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** Asks a caller that sent `Expect: 100-continue` for its body. */
export const continueBytes = Buffer.from("HTTP/1.1 100 Continue\r\n\r\n", "latin1");

/** How the answer's end is marked: by its length, by chunks, by the end of the connection; `none`: it has no body. */
export type AnswerFraming = number | "chunked" | "close" | "none";

export interface AnswerHead {
  readonly status: number;
  /** Header lines as returned by `linesOf`. */
  readonly lines: string[];
  /** The last lines, as returned by `commonLines`. */
  readonly common: string;
  readonly framing: AnswerFraming;
  /** The connection closes after this answer. */
  readonly last: boolean;
  readonly minor: RequestHead["minor"];
}

/** Completes the lines to the parts of an answer's head. */
export function answerHead({ status, lines, common, framing, last, minor }: AnswerHead): string[] {
  lines[0] = statusLines.get(status) ?? `HTTP/1.1 ${status} Status`;
  if (last) lines.push("\r\nconnection: close");
  else if (minor === 0) lines.push("\r\nconnection: keep-alive");
  if (typeof framing === "number") lines.push("\r\ncontent-length: ", String(framing));
  else if (framing === "chunked") lines.push("\r\ntransfer-encoding: chunked");
  lines.push(common);
  return lines;
}

/** The last lines of every answer, with the empty one. Browsers must not guess another type for an upstream's answer. */
export function commonLines(nowMs: number): string {
  return `\r\nx-content-type-options: nosniff\r\ndate: ${new Date(nowMs).toUTCString()}\r\n\r\n`;
}

const fieldLines = new FieldLines((name) => ownNames.has(name));

/** Header lines in parts, after a place for the first line; without the headers that the connection sets itself and invalid ones. */
export function linesOf(headers: ServerAnswer["headers"] | Headers): string[] {
  const lines: string[] = [""];
  if (headers instanceof Headers) for (const [name, value] of headers) fieldLines.add(lines, name, value);
  else for (const name in headers) fieldLines.add(lines, name, headers[name] ?? "");
  return lines;
}

/** Whether answers of this status never have a body (RFC 9110, 6.4.1). */
export function isBodyless(status: number): boolean {
  return status === 204 || status === 304 || status < 200;
}

/** Whether the caller waits for a 100 before it sends its body; null: the expectation is unknown. */
export function expectsContinue({ headers }: RequestHead): boolean | null {
  const expect = headers.first("expect");
  return expect === null ? false : expect.toLowerCase() === "100-continue" || null;
}

const ownNames: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "content-length",
  "transfer-encoding",
  "date",
  "x-content-type-options",
  "trailer",
  "proxy-connection",
]);

const statusLines: ReadonlyMap<number, string> = new Map(
  Object.entries({
    200: "OK",
    201: "Created",
    202: "Accepted",
    204: "No Content",
    206: "Partial Content",
    301: "Moved Permanently",
    302: "Found",
    303: "See Other",
    304: "Not Modified",
    307: "Temporary Redirect",
    308: "Permanent Redirect",
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    409: "Conflict",
    410: "Gone",
    411: "Length Required",
    412: "Precondition Failed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    416: "Range Not Satisfiable",
    417: "Expectation Failed",
    422: "Unprocessable Content",
    426: "Upgrade Required",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    499: "Client Closed Request",
    500: "Internal Server Error",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
  }).map(([status, phrase]) => [Number(status), `HTTP/1.1 ${status} ${phrase}`]),
);
