import { bounds } from "./bounds.ts";
import type { Outlet } from "./outlet.ts";

/** What left through an outlet as body, for the truth. */
export interface Tapped {
  readonly sha256: string;
  /** The first bytes: as UTF-8, or one character per byte where they are no text. Nothing of media. */
  readonly text: string;
}

/** The same outlet with an eye on the body bytes given to it while it is open; framing and heads are not counted. */
export function tapOutlet(outlet: Outlet): { readonly outlet: Outlet; tapped(): Tapped } {
  const hash = new Bun.CryptoHasher("sha256");
  const kept: Uint8Array[] = [];
  let room: number = bounds.truthTextBytesMax;
  let encoding: "utf8" | "latin1" = "utf8";

  function see(bytes: Uint8Array): void {
    if (outlet.closed) return;
    hash.update(bytes);
    if (room <= 0) return;
    kept.push(bytes.subarray(0, room));
    room -= bytes.length;
  }

  const tap: Outlet = {
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
      see(bytes);
      return outlet.write(bytes);
    },
    end: () => outlet.end(),
    whole(status, headers, body) {
      see(Buffer.from(body));
      return outlet.whole(status, headers, body);
    },
    raw(bytes) {
      see(bytes);
      outlet.raw(bytes);
    },
    cut: () => outlet.cut(),
    reset: () => outlet.reset(),
  };
  return {
    outlet: tap,
    tapped: () => ({ sha256: hash.digest("hex"), text: Buffer.concat(kept).toString(encoding) }),
  };
}
