/** The requests of the bench: chat completions of a given size, as the bytes of one HTTP/1.1 request. */
export interface ChatShape {
  readonly port: number;
  readonly key: string;
  /** Size of the JSON body; the text of the last message fills it up. */
  readonly bodyBytes: number;
  /** Left out: an ordinary answer. Given: a stream of events. */
  readonly stream?: StreamShape;
}

/** Read by the bench upstream; a gateway passes unknown fields on. */
export interface StreamShape {
  readonly gapMs: number;
  readonly eventsMax: number;
  /** The stream ends at this moment of the upstream's monotonic clock, in milliseconds. */
  readonly endsAtMs?: number;
}

export const benchModel = "bench-model";
export const chatPath = "/v1/chat/completions";

export function chatBody(bodyBytes: number, stream?: StreamShape): string {
  // What makes it a stream comes first, so that the upstream need not keep a long body to know.
  const streamed =
    stream === undefined
      ? ""
      : `"stream":true,"bench":{"gap_ms":${stream.gapMs},"events":${stream.eventsMax},"ends_at_ms":${stream.endsAtMs ?? 0}},`;
  const head =
    `{"model":"${benchModel}",${streamed}"messages":[{"role":"system","content":"You are terse."},` +
    `{"role":"user","content":"`;
  const tail = `"}],"temperature":0.2}`;
  return head + filler(Math.max(0, bodyBytes - head.length - tail.length)) + tail;
}

export function chatRequest(shape: ChatShape): Buffer {
  const body = chatBody(shape.bodyBytes, shape.stream);
  return Buffer.from(
    `POST ${chatPath} HTTP/1.1\r\nhost: 127.0.0.1:${shape.port}\r\nauthorization: Bearer ${shape.key}\r\n` +
      `content-type: application/json\r\naccept: */*\r\nuser-agent: sluice-bench\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`,
  );
}

// Text as agents send it: words, with escaped line ends and quotes, so that a scanner meets backslashes.
const sentence = 'The quick brown fox reads file_42.ts and says \\"carry on\\" twice.\\n';

function filler(bytes: number): string {
  const whole = sentence.repeat(Math.floor(bytes / sentence.length));
  return whole + "x".repeat(bytes - whole.length);
}
