import { timingSafeEqual } from "node:crypto";
import { bounds, Failure } from "#core/index.ts";
import { type FirstAdministratorOptions, makeFirstAdministrator } from "./first-administrator.ts";

export interface SetupOptions extends FirstAdministratorOptions {
  /** 256 bits of chance as URL-safe text. */
  readonly randomToken: () => string;
  /** Called when somebody has used the link. */
  readonly onCompleted?: () => void;
}

interface FirstAdministrator {
  readonly token: string;
  readonly email: string;
  readonly password: string;
  /** Where the call came from, for the audit row. */
  readonly ip: string | null;
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
  let token = (await options.people.administratorExists()) ? null : options.randomToken();
  let underWay = false;
  return {
    token: () => token,
    async complete({ token: given, email, password, ip }) {
      // The token first: a guesser must not be able to make us hash. Of two at once, one is enough.
      if (token === null || underWay || !equalInConstantTime(given, token)) throw refused();
      checkPassword(password);
      underWay = true;
      try {
        const made = await makeFirstAdministrator(options, { email, password }, ip);
        token = null;
        if (!made) throw refused();
        options.onCompleted?.();
      } finally {
        underWay = false;
      }
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
