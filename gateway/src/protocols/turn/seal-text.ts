import type { DialectId, Seal } from "#core/index.ts";

/**
 * Marks a seal carried in another dialect's field (a signature, encrypted_content): the mark, then base64url of [dialect, account,
 * itemId, data]. Clients send it back unread; only its producer sees the content.
 */
export const sealMark = "sluice1.";

export function sealText(seal: Seal): string {
  const row = [seal.dialect, seal.account, seal.itemId, seal.data];
  return sealMark + Buffer.from(JSON.stringify(row), "utf8").toString("base64url");
}

/** Marks unsealed content as another vendor's, since the vendor of the dialect would otherwise receive it as its own and refuse it. */
export function emptySeal(account: string | null): Seal {
  return { dialect: "openai-chat", account, itemId: null, data: "" };
}

/** Null for texts that `sealText` did not write. */
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

/** A seal found in a field of `dialect`: an unpacked one of ours, else the vendor's own from an unknown account. */
export function readSeal(text: string, dialect: DialectId, itemId: string | null = null): Seal {
  return readSealText(text) ?? { dialect, account: null, itemId, data: text };
}

/** Whether an upstream can read a seal. If the account is unknown, the dialect decides. */
export function canOpen(seal: Seal, dialect: DialectId, account: string): boolean {
  return seal.dialect === dialect && (seal.account === null || seal.account === account);
}
