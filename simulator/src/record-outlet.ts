import { bounds } from "./bounds.ts";
import type { Outlet } from "./outlet.ts";

/** The body that was sent through an outlet. */
export interface RecordedBody {
  readonly sha256: string;
  /** The first bytes: as UTF-8, or for binary data one character per byte. Empty for media. */
  readonly text: string;
}

/** Wraps an outlet and records the body bytes written while it is open, without framing and headers. */
export function recordOutlet(outlet: Outlet): { readonly outlet: Outlet; recorded(): RecordedBody } {
  const hash = new Bun.CryptoHasher("sha256");
  const pieces: Uint8Array[] = [];
  let room: number = bounds.truthTextBytesMax;
  let encoding: "utf8" | "latin1" = "utf8";

  function record(bytes: Uint8Array): void {
    if (outlet.closed) return;
    hash.update(bytes);
    if (room <= 0) return;
    pieces.push(bytes.subarray(0, room));
    room -= bytes.length;
  }

  const recording: Outlet = {
    get closed() {
      return outlet.closed;
    },
    onGone: (act) => outlet.onGone(act),
    head(status, headers, length) {
      const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
      if (type.includes("eventstream")) encoding = "latin1";
      if (/^(?:video|image|audio)\//.test(type)) room = 0;
      outlet.head(status, headers, length);
    },
    write(bytes) {
      record(bytes);
      return outlet.write(bytes);
    },
    end: () => outlet.end(),
    whole(status, headers, body) {
      record(Buffer.from(body));
      return outlet.whole(status, headers, body);
    },
    raw(bytes) {
      record(bytes);
      outlet.raw(bytes);
    },
    cut: () => outlet.cut(),
    reset: () => outlet.reset(),
  };
  return {
    outlet: recording,
    recorded: () => ({ sha256: hash.digest("hex"), text: Buffer.concat(pieces).toString(encoding) }),
  };
}
