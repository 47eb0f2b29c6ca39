import type { DialectId, Seal } from "#core/index.ts";

/**
 * A seal of one vendor carried through another dialect's field for such things (a signature, encrypted_content): the
 * mark, then base64url of [dialect, account, itemId, data]. The client keeps it as it would keep its own vendor's and
 * sends it back; nobody but its producer is ever shown what is inside.
 */
export const sealMark = "sluice1.";

export function sealText(seal: Seal): string {
  const row = [seal.dialect, seal.account, seal.itemId, seal.data];
  return sealMark + Buffer.from(JSON.stringify(row), "utf8").toString("base64url");
}

/**
 * The seal of what its producer did not seal. It says only that the thing is not from the vendor of the dialect that it
 * is told in: without it, that vendor would be sent it as its own, and refuse the conversation.
 */
export function emptySeal(account: string | null): Seal {
  return { dialect: "openai-chat", account, itemId: null, data: "" };
}

/** The seal in a text that `sealText` wrote; null for anything else. */
export function readSealText(text: string): Seal | null {
  if (!text.startsWith(sealMark)) return null;
  try {
    const row: unknown = JSON.parse(Buffer.from(text.slice(sealMark.length), "base64url").toString("utf8"));
    if (!Array.isArray(row) || row.length !== 4) return null;
    const [dialect, account, itemId, data] = row as readonly unknown[];
    if (typeof dialect !== "string" || typeof data !== "string") return null;
    return {
      dialect: dialect as DialectId,
      account: typeof account === "string" ? account : null,
      itemId: typeof itemId === "string" ? itemId : null,
      data,
    };
  } catch {
    return null;
  }
}

/** A seal as found in a field of `dialect`: ours unpacked, else the vendor's own, from an account we do not know. */
export function readSeal(text: string, dialect: DialectId, itemId: string | null = null): Seal {
  return readSealText(text) ?? { dialect, account: null, itemId, data: text };
}

/** Whether a seal may go to this upstream. One whose account is unknown goes to its own dialect only. */
export function canOpen(seal: Seal, dialect: DialectId, account: string): boolean {
  return seal.dialect === dialect && (seal.account === null || seal.account === account);
}
