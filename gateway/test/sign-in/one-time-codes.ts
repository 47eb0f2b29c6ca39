import { createHmac } from "node:crypto";

/** An authenticator app. Created from the URI in a QR code, it computes the code of any moment (RFC 6238). */
export function authenticatorApp(uri: string): (atMs?: number) => string {
  const url = new URL(uri);
  const secret = fromBase32(url.searchParams.get("secret") ?? "");
  const periodMs = Number(url.searchParams.get("period")) * 1_000;
  return (atMs = Date.now()) => {
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(BigInt(Math.floor(atMs / periodMs)));
    const mac = createHmac("sha1", secret).update(counter).digest();
    const offset = (mac.at(-1) ?? 0) & 15;
    return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
  };
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"),
  );
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
