import { argon2Sync, createDecipheriv, createHash } from "node:crypto";
import { Failure } from "#core/index.ts";

/**
 * Decrypts what Bifrost stores with its encryption key: AES-256-GCM with a key by Argon2id. Throws Failure for another key, and if there
 * is none.
 */
export function bifrostCipher(passphrase: string | null): (text: string) => string {
  let key: Buffer | null = null;
  return (text) => {
    if (text === "") return text;
    if (passphrase === null) throw refused("Bifrost's database has encrypted values.");
    key ??= keyOf(passphrase);
    const bytes = Buffer.from(text, "base64");
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12), { authTagLength: 16 });
      decipher.setAuthTag(bytes.subarray(-16));
      return decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8");
    } catch {
      throw refused("The encryption key does not decrypt Bifrost's database.");
    }
  };
}

function keyOf(message: string): Buffer {
  const nonce = createHash("sha256").update(`bifrost-salt-v2:${message}`).digest().subarray(0, 16);
  return argon2Sync("argon2id", { message, nonce, parallelism: 4, tagLength: 32, memory: 65_536, passes: 1 });
}

function refused(problem: string): Failure {
  return new Failure(
    "invalid_request",
    `${problem} Set BIFROST_ENCRYPTION_KEY to the \`encryption_key\` of its configuration.`,
  );
}
