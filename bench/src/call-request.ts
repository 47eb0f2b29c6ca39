import { editForm } from "./edit-form.ts";

/** Shape of a benchmark request, which is sent as the bytes of one HTTP/1.1 request. */
export interface CallShape {
  readonly port: number;
  readonly key: string;
  /** Additional header lines. */
  readonly headers?: readonly string[];
  /** Left out: chat completions. */
  readonly caller?: Caller;
  /** Left out: the model of the chat upstream. */
  readonly model?: string;
  /** Delay of the upstream before it responds, in milliseconds. Left out: none. */
  readonly delayMs?: number;
  /** Size of the body. The text of the last message, or the image, is padded to reach it. */
  readonly bodyBytes: number;
  /** Stream of events to request. Left out: a response without streaming. */
  readonly stream?: StreamShape;
}

/** The dialect of a model call, or an image edit with a form. */
export type Caller = "chat" | "messages" | "responses" | "edit";

export interface StreamShape {
  readonly gapMs: number;
  readonly eventsMax: number;
  /** End of the stream on the upstream's monotonic clock, in milliseconds. */
  readonly endsAtMs?: number;
}

export const benchModel = "bench-model";
/** Served by an upstream with the Messages API. */
export const messagesModel = "bench-messages-model";
export const imageModel = "bench-image-model";
/** Served by an account that fails in many ways, with a healthy one as failover. */
export const faultyModel = "bench-faulty-model";
/** Its name at the failing account. */
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

/** The JSON body, in ASCII. */
export function callBody(caller: Exclude<Caller, "edit">, shape: Omit<CallShape, "port" | "key">): string {
  const { stream } = shape;
  // The stream fields come first, so that the upstream does not have to store a long body to find them.
  const begin = `{"model":"${modelOf(shape)}",${stream === undefined ? "" : `"stream":true,`}`;
  const [head, tail] = frames[caller](pace(stream) + delay(shape.delayMs));
  return begin + head + text(shape.bodyBytes - begin.length - head.length - tail.length) + tail;
}

/** The JSON around the text of the only message. `start`: the beginning of that text. */
const frames: Readonly<Record<Exclude<Caller, "edit">, (start: string) => readonly [head: string, tail: string]>> = {
  chat: (start) => [
    `"messages":[{"role":"system","content":"You are terse."},{"role":"user","content":"${start}`,
    `"}],"temperature":0.2}`,
  ],
  messages: (start) => [
    `"system":"You are terse.","messages":[{"role":"user","content":"${start}`,
    `"}],"max_tokens":4096,"temperature":0.2}`,
  ],
  responses: (start) => [
    `"instructions":"You are terse.","input":[{"role":"user","content":"${start}`,
    `"}],"store":false,"temperature":0.2}`,
  ],
};

/** The pace of a stream is encoded in the message text, because translations keep it. */
function pace(stream: StreamShape | undefined): string {
  if (stream === undefined) return "";
  const { gapMs, eventsMax, endsAtMs } = stream;
  return `gap_ms=${Math.round(gapMs)} events=${eventsMax} ends_at_ms=${endsAtMs ?? 0} `;
}

function delay(delayMs: number | undefined): string {
  return delayMs === undefined ? "" : `delay_ms=${delayMs} `;
}

// Text like that of agents, with escaped line breaks and quotes, so that scanners meet backslashes.
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
