import { eventStreamFrame } from "./event-stream-frame.ts";

export interface DialectEvent {
  /** The text after `data: `, or the payload of a binary frame. */
  readonly data: string;
  /** The name after `event: `, or the type of a binary frame, in dialects that have one. */
  readonly event?: string;
  /** Output tokens in this event. */
  readonly tokens: number;
  /** `last`: the terminal event, including usage. */
  readonly role?: "content" | "usage" | "terminal" | "last" | "error";
}

/** Encodes the events of a stream. Text is returned as a string, so that small chunks can be joined cheaply. */
export interface Framing {
  readonly type: string;
  readonly binary: boolean;
  frame(event: DialectEvent, newline: string): string | Uint8Array;
  /** A line without meaning; null if the format has none. */
  comment(newline: string): string | null;
}

/** Server-sent events. */
export const sseFraming: Framing = {
  type: "text/event-stream; charset=utf-8",
  binary: false,
  frame: ({ event, data }, newline) =>
    event === undefined
      ? `data: ${data}${newline}${newline}`
      : `event: ${event}${newline}data: ${data}${newline}${newline}`,
  comment: (newline) => `: keep-alive${newline}${newline}`,
};

/** A JSON array that is sent element by element. The terminal event is the closing bracket. */
export function jsonArrayFraming(): Framing {
  let opened = false;
  return {
    type: "application/json; charset=UTF-8",
    binary: false,
    frame({ data, role }, newline) {
      if (role === "terminal") return opened ? data : `[${data}`;
      const before = opened ? `,${newline}` : "[";
      opened = true;
      return before + data;
    },
    comment: () => null,
  };
}

/** AWS event stream frames. `badChecksumAt`: the index of a frame with a wrong checksum. */
export function eventStreamFraming(badChecksumAt: number | null): Framing {
  let index = 0;
  return {
    type: "application/vnd.amazon.eventstream",
    binary: true,
    frame({ event = "chunk", data, role }) {
      const kind = role === "error" ? "exception" : "event";
      const frame = eventStreamFrame({ kind, type: event, payload: Buffer.from(data) });
      if (index === badChecksumAt) frame[frame.length - 1] = (frame[frame.length - 1] ?? 0) ^ 0xff;
      index += 1;
      return frame;
    },
    comment: () => null,
  };
}
