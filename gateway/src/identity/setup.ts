import { timingSafeEqual } from "node:crypto";
import { bounds, Failure } from "#core/index.ts";
import type { ControlStore } from "#ports/index.ts";

export interface SetupOptions {
  readonly controlStore: Pick<ControlStore, "administratorExists" | "createFirstAdministrator">;
  /** 256 bits of chance as URL-safe text. */
  readonly randomToken: () => string;
  readonly hashPassword: (password: string) => Promise<string>;
}

export interface FirstAdministrator {
  readonly token: string;
  readonly email: string;
  readonly password: string;
}

export interface Setup {
  /** What the set-up link carries; null once there is an administrator. */
  token(): string | null;
  /** Throws `forbidden` for a wrong or used token, `invalid_request` for a password outside its bounds. */
  complete(administrator: FirstAdministrator): Promise<void>;
}

/**
 * The making of the first administrator. The token lives in this process only: it is made when the process starts
 * without an administrator, and gone when one exists, whoever made it.
 */
export async function createSetup(options: SetupOptions): Promise<Setup> {
  let token = (await options.controlStore.administratorExists()) ? null : options.randomToken();
  return {
    token: () => token,
    async complete(administrator) {
      // The token first: a guesser must not be able to make us hash.
      if (token === null || !equalInConstantTime(administrator.token, token)) throw refused();
      checkPassword(administrator.password);
      const hash = await options.hashPassword(administrator.password);
      const email = administrator.email.trim().toLowerCase();
      const created = await options.controlStore.createFirstAdministrator(email, hash);
      token = null;
      if (!created) throw refused();
    },
  };
}

function refused(): Failure {
  return new Failure(
    "forbidden",
    "This set-up link is not valid. It works once; the gateway prints a new one when it starts without an administrator.",
  );
}

function checkPassword(password: string): void {
  if (password.length >= bounds.passwordLengthMin && password.length <= bounds.passwordLengthMax) return;
  throw new Failure(
    "invalid_request",
    `A password has ${bounds.passwordLengthMin} to ${bounds.passwordLengthMax} characters.`,
    { param: "password" },
  );
}

/** The length of a token is no secret; its characters are. */
function equalInConstantTime(given: string, expected: string): boolean {
  const encoder = new TextEncoder();
  const left = encoder.encode(given);
  const right = encoder.encode(expected);
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}
