import { type ApiKey, Failure, isSameText, type Principal } from "#core/index.ts";
import type { Clock, Vault } from "#ports/index.ts";
import type { Authenticator } from "./authenticator.ts";

interface UploadTokensOptions {
  readonly vault: Pick<Vault, "derive" | "deriveValid">;
  readonly clock: Pick<Clock, "now">;
  readonly keyById: (id: string) => Promise<ApiKey | null>;
  readonly authenticator: Pick<Authenticator, "admit">;
}

/**
 * Tokens in the addresses of resumable uploads. Google's Python SDK sends the pieces without its key. A token is valid for one upload, and
 * as long as the key that began it.
 */
export class UploadTokens {
  readonly #options: UploadTokensOptions;

  constructor(options: UploadTokensOptions) {
    this.#options = options;
  }

  issue(uploadId: string, keyId: string): string {
    return `${keyId}.${this.#options.vault.derive(purpose, `${uploadId} ${keyId}`)}`;
  }

  /** Throws Failure invalid_api_key, and like `Authenticator.authenticate`. */
  async authenticate(token: string, uploadId: string, address: string): Promise<Principal> {
    const { vault, clock, keyById, authenticator } = this.#options;
    const [keyId = "", proof = ""] = token.slice(0, tokenMax).split(".");
    const valid = vault.deriveValid(purpose, `${uploadId} ${keyId}`, clock.now());
    if (!valid.some((expected) => isSameText(proof, expected))) {
      throw new Failure("invalid_api_key", "The token in the address of the upload is invalid.");
    }
    return authenticator.admit(await keyById(keyId), address);
  }
}

const purpose = "file upload";
const tokenMax = 256;
