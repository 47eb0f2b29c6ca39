import { bounds, Failure, invalidRequest } from "#core/index.ts";

/** Concurrent hashes (64 MiB each), and how many may wait. */
export const passwordsAtOnceMax = 2;
export const passwordsWaitingMax = 32;

export interface PasswordFunctions {
  readonly hashPassword: (password: string) => Promise<string>;
  readonly passwordMatches: (password: string, hash: string) => Promise<boolean>;
}

/**
 * The hash functions with limited concurrency, since each takes 64 MiB and a core, and no sign-in is needed to cause one. Throws `rate_limit_exceeded`
 * if too many wait.
 */
export function boundedPasswords(functions: PasswordFunctions): PasswordFunctions {
  let running = 0;
  const waiting: (() => void)[] = [];
  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running < passwordsAtOnceMax) running += 1;
    else if (waiting.length < passwordsWaitingMax) await new Promise<void>((turn) => waiting.push(turn));
    else throw tooMany();
    try {
      return await work();
    } finally {
      // The next waiting call takes the place.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
  return {
    hashPassword: (password) => inTurn(() => functions.hashPassword(password)),
    passwordMatches: (password, hash) => inTurn(() => functions.passwordMatches(password, hash)),
  };
}

export function checkPassword(password: string, param: string): void {
  if (password.length >= bounds.passwordLengthMin && password.length <= bounds.passwordLengthMax) return;
  throw invalidRequest(
    param,
    `A password must have ${bounds.passwordLengthMin} to ${bounds.passwordLengthMax} characters.`,
  );
}

function tooMany(): Failure {
  return new Failure("rate_limit_exceeded", "Too many sign-ins at once. Try again in a moment.", {
    retryAfterMs: 2_000,
  });
}
