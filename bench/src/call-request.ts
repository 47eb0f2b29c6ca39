import { editForm } from "./edit-form.ts";

/** The requests of the bench, as the bytes of one HTTP/1.1 request. */
export interface CallShape {
  readonly port: number;
  readonly key: string;
  /** More lines of the head. */
  readonly headers?: readonly string[];
  /** Left out: chat completions. */
  readonly caller?: Caller;
  /** Left out: the one that a chat upstream serves. */
  readonly model?: string;
  /** How long the upstream waits before it answers at all, in milliseconds. Left out: not at all. */
  readonly delayMs?: number;
  /** Size of the body; the text of the last message, or the picture, fills it up. */
  readonly bodyBytes: number;
  /** Left out: an ordinary answer. Given: a stream of events. */
  readonly stream?: StreamShape;
}

/** Who asks: the dialect of a model call, or an edit of a picture with a form. */
export type Caller = "chat" | "messages" | "responses" | "edit";

export interface StreamShape {
  readonly gapMs: number;
  readonly eventsMax: number;
  /** The stream ends at this moment of the upstream's monotonic clock, in milliseconds. */
  readonly endsAtMs?: number;
}

export const benchModel = "bench-model";
/** Served by an upstream that speaks messages. */
export const messagesModel = "bench-messages-model";
export const imageModel = "bench-image-model";
/** Served by an account that fails in many ways, and by a good one behind it. */
export const faultyModel = "bench-faulty-model";
/** Its name at the account that fails. */
export const faultyUpstreamModel = "upstream-faulty-model";

export const paths: Readonly<Record<Caller, string>> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
  edit: "/v1/images/edits",
};

export function callRequest(shape: CallShape): Buffer {
  const caller = shape.caller ?? "chat";
  const { contentType, body } = caller === "edit" ? editForm(shape.bodyBytes, modelOf(shape)) : callJson(caller, shape);
  const head = [
    `POST ${paths[caller]} HTTP/1.1`,
    `host: 127.0.0.1:${shape.port}`,
    `authorization: Bearer ${shape.key}`,
    `content-type: ${contentType}`,
    ...(caller === "messages" ? ["anthropic-version: 2023-06-01"] : []),
    "accept: */*",
    "user-agent: sluice-bench",
    ...(shape.headers ?? []),
    `content-length: ${body.length}`,
  ].join("\r\n");
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), body]);
}

/** What is sent as JSON; all of it is ASCII. */
export function callBody(caller: Exclude<Caller, "edit">, shape: Omit<CallShape, "port" | "key">): string {
  const { stream } = shape;
  // What makes it a stream comes first, so that the upstream need not keep a long body to know.
  const begin = `{"model":"${modelOf(shape)}",${stream === undefined ? "" : `"stream":true,`}`;
  const [head, tail] = frames[caller](pace(stream) + delay(shape.delayMs));
  return begin + head + text(shape.bodyBytes - begin.length - head.length - tail.length) + tail;
}

/** What stands around the text of the only message; `said` is how that begins. */
const frames: Readonly<Record<Exclude<Caller, "edit">, (said: string) => readonly [head: string, tail: string]>> = {
  chat: (said) => [
    `"messages":[{"role":"system","content":"You are terse."},{"role":"user","content":"${said}`,
    `"}],"temperature":0.2}`,
  ],
  messages: (said) => [
    `"system":"You are terse.","messages":[{"role":"user","content":"${said}`,
    `"}],"max_tokens":4096,"temperature":0.2}`,
  ],
  responses: (said) => [
    `"instructions":"You are terse.","input":[{"role":"user","content":"${said}`,
    `"}],"store":false,"temperature":0.2}`,
  ],
};

/** How the upstream is told the pace of a stream: in the message, which outlives every translation. */
function pace(stream: StreamShape | undefined): string {
  if (stream === undefined) return "";
  const { gapMs, eventsMax, endsAtMs } = stream;
  return `gap_ms=${Math.round(gapMs)} events=${eventsMax} ends_at_ms=${endsAtMs ?? 0} `;
}

function delay(delayMs: number | undefined): string {
  return delayMs === undefined ? "" : `delay_ms=${delayMs} `;
}

// Text as agents send it: words, with escaped line ends and quotes, so that a scanner meets backslashes.
const sentence = 'The quick brown fox reads file_42.ts and says \\"carry on\\" twice.\\n';

function text(bytes: number): string {
  const length = Math.max(0, bytes);
  return sentence.repeat(Math.floor(length / sentence.length)) + "x".repeat(length % sentence.length);
}

function callJson(caller: Exclude<Caller, "edit">, shape: CallShape) {
  return { contentType: "application/json", body: Buffer.from(callBody(caller, shape), "latin1") };
}

function modelOf({ caller, model }: Pick<CallShape, "caller" | "model">): string {
  return model ?? (caller === "edit" ? imageModel : benchModel);
}
