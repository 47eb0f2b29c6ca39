import { createDecipheriv, createHash } from "node:crypto";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { Failure } from "#core/index.ts";

/** Decrypts texts of LiteLLM's database. */
export interface LiteLlmCipher {
  /** A text that is not encrypted is returned as it is; null: it was encrypted with another salt key. */
  open(text: string): string | null;
  /** Throws Failure if encrypted texts were found and none could be decrypted. Call it at the end. */
  check(): void;
}

/**
 * LiteLLM encrypts with XSalsa20-Poly1305, or with AES-256-GCM behind `v2:gcm:`. The key is the SHA-256 of the salt key. null: no salt
 * key was given.
 */
export function liteLlmCipher(saltKey: string | null): LiteLlmCipher {
  const key = createHash("sha256")
    .update(saltKey ?? "")
    .digest();
  let opened = 0;
  let failed = 0;
  return {
    open(text) {
      const isGcm = text.startsWith(gcmMark);
      if (!isGcm && !isSealed(text)) return text;
      const bytes = Buffer.from(isGcm ? text.slice(gcmMark.length) : text, "base64url");
      try {
        if (saltKey === null) throw new Error("no salt key");
        const plain = isGcm ? openGcm(key, bytes) : openBox(key, bytes);
        opened++;
        return plain;
      } catch {
        failed++;
        return null;
      }
    },
    check() {
      if (failed === 0 || opened > 0) return;
      const problem =
        saltKey === null
          ? "LiteLLM's database has encrypted values."
          : "The salt key does not decrypt LiteLLM's database.";
      throw new Failure(
        "invalid_request",
        `${problem} Set LITELLM_SALT_KEY as LiteLLM has it; if it has none, set LITELLM_MASTER_KEY to its master key.`,
      );
    },
  };
}

const gcmMark = "v2:gcm:";

/** Padded base64 of a nonce, a tag and at least one byte. */
function isSealed(text: string): boolean {
  return text.length >= 56 && text.length % 4 === 0 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}

function openGcm(key: Buffer, bytes: Buffer): string {
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12), { authTagLength: 16 });
  decipher.setAuthTag(bytes.subarray(-16));
  return decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8");
}

/** A nonce of 24 bytes, then the box. */
function openBox(key: Buffer, bytes: Buffer): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(
    xsalsa20poly1305(key, bytes.subarray(0, 24)).decrypt(bytes.subarray(24)),
  );
}
